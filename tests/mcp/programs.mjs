// Programs as models write them: `run_javascript` with an engine beside Node. Values and console lines are the same.
//
// Usage: node programs.mjs COVE auto|embedded
// Run by crates/cli/tests/it/mcp.rs. The programs that differ are exactly those that docs/differences.md lists.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";

import reference from "../programs/node.cjs";
import { Server } from "./wire.mjs";

const [cove, engine] = process.argv.slice(2);
const TABLES = new URL("../../crates/world/tests/tables/programs/", import.meta.url);
const PAGE = new URL("../../docs/differences.md", import.meta.url);

/** How many of a hundred are as in Node. */
const LEAST = { auto: 98, embedded: 93 };
const LEAST_PROGRAMS = 400;

/** Console lines without the marks around what may have been fetched. */
const lines = (text) => text.replace(/^<\/?untrusted-content \w+>\n?/gm, "").trimEnd();
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Titles of the programs that the page says differ in this engine. */
function listed() {
    const rows = readFileSync(PAGE, "utf8").split("\n").filter((line) => line.startsWith("| *"));
    const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
    return new Set(cells.filter((row) => row[2] === "both" || row[2] === engine).map((row) => row[1].replaceAll("*", "")));
}

async function differences(server) {
    const wrong = new Map();
    let count = 0;
    for (const name of readdirSync(TABLES).sort()) {
        for (const { title, code } of reference.programs(readFileSync(new URL(name, TABLES), "utf8"))) {
            count += 1;
            const node = await reference.run(code, null, name.endsWith("typescript.txt"));
            assert.ok(!("thrown" in node), `Node itself fails: ${title}: ${node.thrown}`);
            const { result } = await server.call("run_javascript", { code, engine });
            const { logs = "", ...rest } = result.structuredContent ?? {};
            const here = result.isError ? { thrown: result.content[0].text } : { value: rest.result };
            if (!same(here.value, JSON.parse(JSON.stringify(node.value))) || lines(logs) !== lines(node.console)) {
                wrong.set(title, `${title} (${name}, ${rest.engine?.name})\n  node: ${JSON.stringify(node)}\n  here: ${JSON.stringify({ ...here, console: logs })}`);
            }
        }
    }
    return { wrong, count };
}

const server = await Server.start(cove, []);
const { wrong, count } = await differences(server);
await server.close();
const known = listed();
const fresh = [...wrong].filter(([title]) => !known.has(title)).map(([, told]) => told);
const over = [...known].filter((title) => !wrong.has(title));
assert.ok(fresh.length === 0, `${fresh.length} programs differ, and docs/differences.md does not say so:\n${fresh.join("\n")}`);
assert.ok(over.length === 0, `docs/differences.md lists what no longer differs:\n${over.join("\n")}`);
const share = (100 * (count - wrong.size)) / count;
assert.ok(count >= LEAST_PROGRAMS && share >= LEAST[engine], `${count - wrong.size} of ${count} programs are as in Node`);
console.log(`${engine}: ${count - wrong.size} of ${count} programs as in Node`);
