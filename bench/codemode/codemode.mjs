// See run. Prints a table: for each task tokens, turns and wall time, direct and with code; losses stand there like the rest.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Server, tokens } from "../../tests/mcp/wire.mjs";
import { files, tasks } from "./tasks.mjs";

const cove = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));
const bin = (name) => join(here, "../../tests/mcp/node_modules/.bin", name);
const folder = mkdtempSync(join(tmpdir(), "cove-codemode-"));
const work = join(folder, "work");
mkdirSync(work);
for (const [name, content] of Object.entries(files)) writeFileSync(join(work, name), content);
const servers = (memory) => ({
    everything: { command: bin("mcp-server-everything") },
    files: { command: bin("mcp-server-filesystem"), args: [work] },
    memory: { command: bin("mcp-server-memory"), env: { MEMORY_FILE_PATH: join(folder, memory) } },
});
const json = (value) => tokens(JSON.stringify(value));
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
/** What is held, and by how much it was missed. */
const missed = [];
const goal = (what, value, most, unit) => {
    const held = value <= most;
    if (!held) missed.push(what);
    console.log(`goal: ${what} ≤ ${most} ${unit}: ${value.toFixed(unit === "tokens" ? 0 : 3)} ${unit}, ${held ? "reached" : "MISSED"}`);
};
const rules = { approvals: [{ tool: "*", do: "allow" }] };

async function wrapped(mcpServers) {
    const file = join(folder, "servers.json");
    writeFileSync(file, JSON.stringify({ mcpServers, ...rules }));
    const server = await Server.start(cove, ["--wrap", file, "--profile", "javascript", "--answers", "content"]);
    return { server, list: (await server.ask("tools/list")).result };
}

try {
    const direct = {};
    let listed = 0;
    for (const [name, { command, args = [], env = {} }] of Object.entries(servers("direct.jsonl"))) {
        direct[name] = await Server.start(command, args, env, {}, []);
        listed += json((await direct[name].ask("tools/list")).result);
    }
    const code = await wrapped(servers("code.jsonl"));
    const codeListed = json(code.list);
    // Engine and servers are warm for both.
    await code.server.call("run_code", { code: "await everything.echo({message: 'x'})" });
    console.log(`lists of tools: ${listed} tokens direct, ${codeListed} with code\n`);
    console.log("task                                  tokens          turns          ms");
    console.log("                                   direct   code   direct code   direct   code");
    const sum = { direct: 0, code: 0 };
    for (const task of tasks(work)) {
        let spent = 0;
        let begun = performance.now();
        for (const turn of task.direct) {
            const answers = await Promise.all(turn.map(([server, name, args]) => direct[server].call(name, args)));
            spent += json(turn.map(([, name, args]) => ({ name, arguments: args })));
            for (const { result } of answers) {
                if (!result || result.isError) throw new Error(`${task.name}: ${JSON.stringify(answers)}`);
                spent += json(result.content);
            }
        }
        const directMs = performance.now() - begun;
        begun = performance.now();
        const { result } = await code.server.call("run_code", { code: task.code });
        const codeMs = performance.now() - begun;
        if (!result || result.isError) throw new Error(`${task.name}: ${JSON.stringify(result)}`);
        const codeSpent = json([{ name: "run_code", arguments: { code: task.code } }]) + json(result.content);
        sum.direct += spent;
        sum.code += codeSpent;
        const cells = [[spent, 8], [codeSpent, 7], [task.direct.length, 9], [1, 5], [directMs.toFixed(0), 9], [codeMs.toFixed(0), 7]];
        console.log(task.name.padEnd(33) + cells.map(([value, width]) => String(value).padStart(width)).join(""));
    }
    console.log(`\nall tasks: ${sum.direct} tokens direct, ${sum.code} with code; with the lists once: ${sum.direct + listed} and ${sum.code + codeListed}`);

    // One call after the other, and the same ones by code: the difference is what wrapping costs.
    const CALLS = 300;
    const rounds = { direct: [], code: [] };
    for (let round = 0; round < 5; round++) {
        let begun = performance.now();
        for (let n = 0; n < CALLS; n++) await direct.everything.call("echo", { message: "x" });
        rounds.direct.push((performance.now() - begun) / CALLS);
        begun = performance.now();
        const { result } = await code.server.call("run_code", { code: `for (let n = 0; n < ${CALLS}; n++) await everything.echo({message: 'x'}); 0`, timeout_ms: 60_000 });
        if (result.isError) throw new Error(JSON.stringify(result));
        rounds.code.push((performance.now() - begun) / CALLS);
    }
    console.log(`a call: ${median(rounds.direct).toFixed(3)} ms direct, ${median(rounds.code).toFixed(3)} ms by code (median of 5 rounds of ${CALLS})`);
    const extra = median(rounds.code) - median(rounds.direct);
    await Promise.all([...Object.values(direct), code.server].map((server) => server.close()));

    const many = await wrapped({ many: { command: process.execPath, args: [join(here, "../../tests/mcp/servers/many.mjs"), "10000"] } });
    const times = [];
    for (const query of ["delete shipment", "customer", "list calendar events department 7", "shipmnet", "export a report", "get payment"]) {
        for (let n = 0; n < 20; n++) {
            const begun = performance.now();
            await many.server.call("search_tools", { query });
            times.push(performance.now() - begun);
        }
    }
    console.log(`a search in 10,000 tools: ${median(times).toFixed(1)} ms (median), ${Math.max(...times).toFixed(1)} ms (longest of ${times.length}); their list: ${json(many.list)} tokens`);
    await many.server.close();
    console.log("");
    goal("a wrapped call costs more than a direct one by", extra, 1, "ms");
    goal("a search in 10,000 tools (median)", median(times), 20, "ms");
    goal("the list of 10,000 tools", json(many.list), 1_500, "tokens");
    goal("all tasks with code, in tokens of the direct way, lists included", sum.code + codeListed, sum.direct + listed, "tokens");
} finally {
    rmSync(folder, { recursive: true, force: true });
}
if (missed.length > 0) {
    console.error(`bench/codemode: missed: ${missed.join("; ")}`);
    process.exit(1);
}
