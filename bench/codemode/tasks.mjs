// Ten tasks of several steps. `direct` is what an agent calls one after the other (each list of calls is one turn of the model);
// `code` is what an agent writes that has `run_code`. Both are scripted: what is compared is the way, not a model.

const people = Array.from({ length: 12 }, (_, n) => `person-${n}`);
const entity = (name, kind, observations = []) => ({ name, entityType: kind, observations });
const text = (n) => `title: report ${n}\n${"a line of the report, as long as lines are\n".repeat(40)}total: ${n * 17}\n`;

/** Files that the tasks find. */
export const files = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`report-${n}.txt`, text(n)]));

export const tasks = (folder) => {
    const path = (name) => `${folder}/${name}`;
    const names = Object.keys(files);
    return [
        {
            name: "add two numbers",
            direct: [[["everything", "get-sum", { a: 2, b: 3 }]]],
            code: "await everything['get-sum']({a: 2, b: 3})",
        },
        {
            name: "read one short file",
            direct: [[["files", "read_text_file", { path: path("report-1.txt"), head: 1 }]]],
            code: `(await files.read_text_file({path: '${path("report-1.txt")}', head: 1})).content`,
        },
        {
            name: "total of twelve reports",
            direct: [[["files", "list_directory", { path: folder }]], names.map((name) => ["files", "read_text_file", { path: path(name) }])],
            code: `const list = (await files.list_directory({path: '${folder}'})).content.match(/report-\\d+\\.txt/g);
const texts = await Promise.all(list.map((name) => files.read_text_file({path: '${folder}/' + name})));
texts.reduce((sum, {content}) => sum + Number(content.match(/total: (\\d+)/)[1]), 0)`,
        },
        {
            name: "note twelve people in the graph",
            direct: [[["memory", "create_entities", { entities: people.map((name) => entity(name, "person")) }]]],
            code: `const made = await memory.create_entities({entities: Array.from({length: 12}, (_, n) => ({name: 'person-' + n, entityType: 'person', observations: []}))});
made.entities.length`,
        },
        {
            name: "relate each to the next",
            direct: [[["memory", "read_graph", {}]], [["memory", "create_relations", { relations: people.slice(1).map((to, n) => ({ from: people[n], to, relationType: "knows" })) }]]],
            code: `const {entities} = await memory.read_graph({});
const names = entities.map((one) => one.name);
await memory.create_relations({relations: names.slice(1).map((to, n) => ({from: names[n], to, relationType: 'knows'}))});
names.length - 1`,
        },
        {
            name: "title of each report into the graph",
            direct: [
                names.map((name) => ["files", "read_text_file", { path: path(name) }]),
                [["memory", "create_entities", { entities: names.map((name, n) => entity(name, "report", [`report ${n}`])) }]],
            ],
            code: `const titles = await Promise.all(Array.from({length: 12}, async (_, n) => {
    const {content} = await files.read_text_file({path: '${folder}/report-' + n + '.txt'});
    return {name: 'report-' + n + '.txt', entityType: 'report', observations: [content.split('\\n')[0]]};
}));
await memory.create_entities({entities: titles});
titles.length`,
        },
        {
            name: "the largest file, renamed",
            direct: [
                [["files", "list_directory_with_sizes", { path: folder, sortBy: "size" }]],
                [["files", "move_file", { source: path("report-11.txt"), destination: path("largest.txt") }]],
                [["files", "move_file", { source: path("largest.txt"), destination: path("report-11.txt") }]],
            ],
            code: `await files.list_directory_with_sizes({path: '${folder}', sortBy: 'size'});
await files.move_file({source: '${path("report-11.txt")}', destination: '${path("largest.txt")}'});
await files.move_file({source: '${path("largest.txt")}', destination: '${path("report-11.txt")}'});
'renamed'`,
        },
        {
            name: "twenty sums, one after the other",
            direct: Array.from({ length: 20 }, (_, n) => [["everything", "get-sum", { a: n, b: n }]]),
            code: "const sums = []; for (let n = 0; n < 20; n++) sums.push(await everything['get-sum']({a: n, b: n})); sums.length",
        },
        {
            name: "a line that is in no report",
            direct: [names.map((name) => ["files", "read_text_file", { path: path(name) }])],
            code: `const found = [];
for (let n = 0; n < 12; n++) if ((await files.read_text_file({path: '${folder}/report-' + n + '.txt'})).content.includes('zebra')) found.push(n);
found`,
        },
        {
            name: "a summary file of the graph",
            direct: [[["memory", "read_graph", {}]], [["files", "write_file", { path: path("summary.md"), content: people.map((name) => `- ${name}\n`).join("") }]]],
            code: `const graph = await memory.read_graph({});
await files.write_file({path: '${path("summary.md")}', content: graph.entities.filter((one) => one.entityType === 'person').map((one) => '- ' + one.name + '\\n').join('')});
'written'`,
        },
    ];
};
