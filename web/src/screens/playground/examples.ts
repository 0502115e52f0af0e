// The gallery.

import type { Word } from "../../words.js";

export interface Example {
    title: Word;
    code: string;
    input?: string;
}

export const examples: Example[] = [
    {
        title: "exChart",
        input: '{"months": ["Jan", "Feb", "Mar", "Apr", "May", "Jun"], "sales": [12, 19, 9, 27, 23, 34]}',
        code: `// A bar chart on a canvas; the picture appears beside the result.
const { months, sales } = input;
const canvas = getCanvas(520, 300);
const g = canvas.getContext("2d");
g.fillStyle = "#ffffff";
g.fillRect(0, 0, 520, 300);
const most = Math.max(...sales);
sales.forEach((value, at) => {
    const height = (value / most) * 220;
    const x = 40 + at * 78;
    g.fillStyle = value === most ? "#e8590c" : "#1098ad";
    g.fillRect(x, 260 - height, 50, height);
    g.fillStyle = "#343a40";
    g.font = "15px sans-serif";
    g.textAlign = "center";
    g.fillText(months[at], x + 25, 282);
    g.fillText(String(value), x + 25, 252 - height);
});
const total = sales.reduce((a, b) => a + b, 0);
return { best: months[sales.indexOf(most)], total };
`,
    },
    {
        title: "exFractal",
        code: `// The Mandelbrot set, pixel by pixel.
const [width, height] = [360, 240];
const canvas = getCanvas(width, height);
const g = canvas.getContext("2d");
const picture = g.createImageData(width, height);
for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
        const [a, b] = [(x / width) * 3.2 - 2.3, (y / height) * 2.2 - 1.1];
        let [u, v, n] = [0, 0, 0];
        while (u * u + v * v < 4 && n < 40) [u, v, n] = [u * u - v * v + a, 2 * u * v + b, n + 1];
        const at = 4 * (y * width + x);
        const shade = n === 40 ? 0 : n / 40;
        picture.data.set([255 * shade ** 0.5, 200 * shade, 80 + 175 * shade ** 2, 255], at);
    }
}
g.putImageData(picture, 0, 0);
return { width, height };
`,
    },
    {
        title: "exCsv",
        input: '{"csv": "city,country,people\\nShanghai,China,24870895\\nBerlin,Germany,3685265\\nLima,Peru,10092000\\nLagos,Nigeria,15388000"}',
        code: `// Reads a table, sorts it, and adds it up.
const [head, ...rows] = input.csv.trim().split("\\n").map((line) => line.split(","));
const cities = rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at]])));
cities.sort((a, b) => b.people - a.people);
console.log(\`\${cities.length} cities, the largest is \${cities[0].city}\`);
return { cities, people: cities.reduce((sum, city) => sum + Number(city.people), 0) };
`,
    },
    {
        title: "exTypes",
        code: `// TypeScript: types are taken off before the code runs; lines stay the same.
interface Point { x: number; y: number }
enum Side { Left = "left", Right = "right" }

function side<T extends Point>(point: T): Side {
    return point.x < 0 ? Side.Left : Side.Right;
}

const points: Point[] = [{ x: -3, y: 4 }, { x: 5, y: 12 }];
return points.map((point) => ({ ...point, side: side(point), distance: Math.hypot(point.x, point.y) }));
`,
    },
    {
        title: "exFiles",
        code: `// The sandbox's files, by the same tools that agents use.
const fs = require("fs/promises");
await fs.writeFile("notes.txt", "first line\\nsecond line\\n");
const text = await fs.readFile("notes.txt", "utf8");
return { lines: text.trim().split("\\n"), files: await fs.readdir(".") };
`,
    },
    {
        title: "exTools",
        code: `// A tool: the code waits, behind its walls, until you have answered.
const name = await ask_user("What is your name?");
const times = Number(await ask_user(\`How many greetings, \${name}?\`));
return Array.from({ length: times }, (_, n) => \`\${n + 1}. Hello, \${name}!\`);
`,
    },
    {
        title: "exAnswer",
        code: `// \`final_answer\` ends the run, wherever it is called.
for (let n = 2; ; n++) {
    const divisors = [];
    for (let d = 1; d < n; d++) if (n % d === 0) divisors.push(d);
    if (n > 30 && divisors.reduce((a, b) => a + b, 0) === n) {
        console.log("perfect:", n, "=", divisors.join(" + "));
        final_answer({ perfect: n, divisors });
    }
}
`,
    },
    {
        title: "exError",
        code: `// An error is marked where it happened.
const order = { items: [{ name: "rope", price: 12 }] };
const names = order.items.map((item) => item.name.toUpperCase());
const total = order.discount.percent * 2;
return { names, total };
`,
    },
];
