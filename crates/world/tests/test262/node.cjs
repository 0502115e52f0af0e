// The measure of the language's tests: Node, with the text as it was written and as it was prepared.
//
// Reads { harness: [text], jobs: [{ harness, original, prepared }] } from standard input and writes [[outcome, outcome]]. An
// outcome is "pass", "refused" (it does not compile) or "threw NAME". `prepared` is null where it was refused already.
"use strict";
const vm = require("node:vm");

/** How long a text may compute, and how long its promise may take. */
const MS = 5000;

const runtime = new vm.Script(`
let __cove_n = 1e7;
const __cove_stop = () => { throw new Error("stopped") };
const __cove_catch = () => {};
const __cove_import = async (name) => { throw new Error("no module " + name) };
`);

function world(harness) {
    const context = vm.createContext({ setTimeout, console: { log() {} } });
    runtime.runInContext(context);
    harness.runInContext(context);
    return context;
}

async function run(code, harness) {
    let script;
    try {
        script = new vm.Script(code);
    } catch {
        return "refused";
    }
    let timer;
    try {
        const made = script.runInContext(world(harness), { timeout: MS });
        const late = new Promise((_, no) => (timer = setTimeout(no, MS, new Error("late"))));
        await Promise.race([made.call(undefined), late]);
        return "pass";
    } catch (error) {
        return `threw ${error?.constructor?.name ?? typeof error}`;
    } finally {
        clearTimeout(timer);
    }
}

process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
(async () => {
    const { harness, jobs } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const scripts = harness.map((text) => new vm.Script(text));
    const answers = [];
    for (const { harness: index, original, prepared } of jobs) {
        const wrapped = `(async function(input){"use strict";${original}\n})`;
        const [before, after] = [await run(wrapped, scripts[index]), prepared === null ? "refused" : await run(prepared, scripts[index])];
        answers.push([before, after]);
    }
    process.stdout.write(JSON.stringify(answers), () => process.exit(0));
})();
