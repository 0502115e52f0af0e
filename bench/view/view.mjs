// A page that draws all of itself in every frame, and one in which somebody works; each watched by nobody, by one who keeps up,
// and by one who is slow.

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const [url, key, server] = ["COVE_URL", "COVE_KEY", "COVE_PID"].map((name) => process.env[name]);
const ms = 1000 * Number(process.argv[2] ?? 10);
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const SPIN =
    "<title>Spin</title><canvas id=c width=1200 height=560></canvas><script>const p=c.getContext('2d');let n=0;(function f(){p.fillStyle='hsl('+n+++',70%,60%)';p.fillRect(0,0,1200,560);p.fillStyle='#fff';for(let i=0;i<40;i++)p.fillText('boat '+(n+i),20+(i%8)*140,40+i*13);requestAnimationFrame(f)})()</script>";

/** Four letters a second into a field, a step of the wheel every two seconds, and a small sign that turns. */
const WORK = `<title>Work</title><style>body{font:17px/1.5 sans-serif;margin:20px}input{position:sticky;top:10px;width:400px;font:inherit}
    i{position:fixed;right:20px;top:20px;width:20px;height:20px;border:3px solid #ccc;border-top-color:#07c;border-radius:50%}</style><i></i><input id=field>
    <script>for(let n=0;n<300;n++){const p=document.createElement('p');p.textContent='Line '+n+' of a page that somebody reads and works in.';document.body.append(p)}
    let n=0;setInterval(()=>{field.value=field.value.length>30?'':field.value+'abcd'[n++%4]},250);
    setInterval(()=>scrollBy({top:n%100<50?120:-120,behavior:'smooth'}),2000);
    document.querySelector('i').animate([{rotate:'0deg'},{rotate:'360deg'}],{duration:1000,iterations:Infinity})</script>`;

async function call(method, path, body) {
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
}

/** Processor time of the server and all below it, in milliseconds: Cove's own programs, and the browser. */
function spent() {
    const all = new Map();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const text = readFileSync(`/proc/${pid}/stat`, "latin1");
            const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
            const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
            all.set(pid, { parent: fields[1], ms: (Number(fields[11]) + Number(fields[12])) * 10, browser: /chrom|headless|agent-browser/i.test(name) });
        } catch {
            // It has ended.
        }
    }
    const below = (pid) => pid === server || (all.has(pid) && below(all.get(pid).parent));
    const sum = { cove: 0, browser: 0 };
    for (const [pid, one] of all) if (below(pid)) sum[one.browser ? "browser" : "cove"] += one.ms;
    return sum;
}

/** A WebSocket, as far as it is needed: Node 20 has none of its own. `heard` gets each binary message. */
async function watch(path, heard) {
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": randomBytes(16).toString("base64") };
    const socket = await new Promise((opened, failed) => {
        const asked = request(url + path, { headers: { ...headers, ...upgrade } });
        asked.on("upgrade", (_, socket) => opened(socket));
        asked.on("response", (response) => failed(new Error(`${path}: ${response.statusCode}`)));
        asked.on("error", failed);
        asked.end();
    });
    let rest = Buffer.alloc(0);
    socket.on("data", (bytes) => {
        rest = Buffer.concat([rest, bytes]);
        for (;;) {
            const short = rest[1] & 127;
            const head = short === 127 ? 10 : short === 126 ? 4 : 2;
            if (rest.length < head) return;
            const length = short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short;
            if (rest.length < head + length) return;
            if ((rest[0] & 15) === 2) heard(rest.subarray(head, head + length));
            rest = rest.subarray(head + length);
        }
    });
    socket.on("error", () => undefined);
    const say = (text) => socket.writable && socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | Buffer.byteLength(text), 0, 0, 0, 0]), Buffer.from(text)]));
    return { say, close: () => socket.destroy() };
}

async function measure(name, pause) {
    let pictures = 0;
    let bytes = 0;
    let watcher;
    if (pause !== undefined) {
        watcher = await watch(`/v1/sandboxes/${id}/browser/view`, async (picture) => {
            pictures += 1;
            bytes += picture.length;
            const seq = picture.readUInt32BE(0);
            if (pause > 0) await sleep(pause);
            watcher.say(JSON.stringify({ type: "ack", seq }));
        });
        await sleep(1_500);
    }
    [pictures, bytes] = [0, 0];
    const [before, began] = [spent(), performance.now()];
    await sleep(ms);
    const [after, took] = [spent(), performance.now() - began];
    watcher?.close();
    const share = (kind) => (100 * (after[kind] - before[kind])) / took;
    console.log(
        `  ${name.padEnd(14)} ${((pictures * 1000) / took).toFixed(1).padStart(5)} pictures/s  ${(bytes / Math.max(pictures, 1) / 1024).toFixed(0).padStart(3)} KB each  ` +
            `cove ${share("cove").toFixed(1).padStart(5)} %  browser ${share("browser").toFixed(1).padStart(5)} % of one processor`,
    );
    await sleep(500);
    return { rate: (pictures * 1000) / took, share: share("cove") + share("browser") };
}

/** The goals: so many pictures a second, and at most so much of one processor for looking. */
const [LEAST_RATE, MOST_SHARE] = [10, 25];
let missed = 0;

/** What looking costs: with somebody who looks, less what the page costs by itself. */
function judge(nobody, again, looks) {
    const share = looks.share - (nobody.share + again.share) / 2;
    const goals = [
        [looks.rate >= LEAST_RATE, `${looks.rate.toFixed(1)} pictures/s (at least ${LEAST_RATE})`],
        [share <= MOST_SHARE, `one looks minus nobody looks: ${share.toFixed(1)} % of one processor (at most ${MOST_SHARE})`],
    ];
    for (const [held, text] of goals) console.log(`  ${held ? "goal held  " : "goal missed"}  ${text}`);
    missed += goals.filter(([held]) => !held).length;
}

const { id } = await call("POST", "/v1/sandboxes", { profile: "browser-python", ttl: 600 });
for (const [what, page] of [["a page that never rests", SPIN], ["a page in which somebody works", WORK]]) {
    const opened = await call("POST", `/v1/sandboxes/${id}/browser/exec`, { cmd: `open "data:text/html,${encodeURIComponent(page)}"`, timeout: 60 });
    if (!opened.success) throw new Error(opened.error);
    console.log(what);
    await sleep(2_000);
    const nobody = await measure("nobody looks");
    const looks = await measure("one looks", 0);
    await measure("a slow one", 1_000);
    judge(nobody, await measure("nobody, again"), looks);
}
await call("DELETE", `/v1/sandboxes/${id}`);
process.exitCode = missed > 0 ? 1 : 0;
