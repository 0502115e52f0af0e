// What a model reads when a call fails: some 170 real failures, each against the real server.
//
// Usage: node failures.mjs COVE [write]
// Run by crates/cli/tests/it/mcp.rs. The replies are held to be exactly those of `failures/replies.md`; `write` writes that
// file anew, to be read one by one before it is committed: is each next step true for a model that reads it?
// Words of Python, bash and curl in it are those of the versions that `scripts/setup` finds in Debian 12.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { servers } from "./failures/cases.mjs";
import { Server, tokens } from "./wire.mjs";

const [cove, mode] = process.argv.slice(2);
const GOLDEN = new URL("failures/replies.md", import.meta.url);

/** A failure costs a model at most so much. */
const MOST_TOKENS = 120;
const LEAST_CASES = 120;

/** What is not the same in each run: ids, the numbers of marks, versions. */
function lasting(text) {
    return text
        .replace(/\b(sandbox|exec|cargo|sess)-(?!0{12})[0-9a-f]{12}\b/g, "$1-0123456789ab")
        .replace(/\b[0-9a-f]{16}\b/g, "0123456789abcdef")
        .replace(/<cell \d+>/g, "<cell 1>")
        .replace(/it holds \d+ of/g, "it holds 12288 of")
        .replace(/python3\.\d+/g, "python3")
        .replace(/^ +[~^]+\n/gm, "");
}

function shown(args) {
    const text = JSON.stringify(args);
    return text.length > 160 ? `${text.slice(0, 80)}… (${text.length} characters)` : text;
}

/** One entry of the table; what breaks a promise is noted in `broken`. */
async function entry(server, [name, tool, args], broken) {
    const { result, error } = await server.call(tool, args);
    const text = lasting(error ? error.message : result.content[0].text);
    const count = tokens(text);
    const wrong = (what) => broken.push(`${tool}, ${name}: ${what}\n${text}`);
    if (result && !result.isError) wrong("no failure");
    if (result && !/\nNext step: \S.*[.?]$/.test(text)) wrong("no next step at the end");
    if (count > MOST_TOKENS) wrong(`${count} tokens`);
    return `### ${name}\n\n\`${tool}\` ${shown(args)}: ${count} tokens\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`;
}

async function replies(broken) {
    const pages = [];
    let cases = 0;
    for (const { args, env, config, files, groups } of servers) {
        const folder = mkdtempSync(join(tmpdir(), "cove-failures-"));
        const more = config ? ["--config", join(folder, "config.yaml")] : [];
        if (config) writeFileSync(more[1], config);
        const server = await Server.start(cove, [...args, ...more], env);
        for (const [path, content] of Object.entries(files ?? {})) {
            const { result } = await server.call("write", { path, content });
            assert.equal(result?.isError, false, JSON.stringify(result));
        }
        for (const [group, list] of Object.entries(groups)) {
            pages.push(`## ${group}\n`);
            for (const one of list) pages.push(await entry(server, one, broken));
            cases += list.length;
        }
        await server.close();
        rmSync(folder, { recursive: true });
    }
    assert.ok(cases >= LEAST_CASES, `${cases} cases`);
    const head = `# What a model reads when a call fails\n\n${cases} failures, by \`tests/mcp/failures.mjs\`.\n`;
    return { cases, page: [head, ...pages].join("\n") };
}

const begin = Date.now();
const broken = [];
const { cases, page } = await replies(broken);
if (mode === "write") writeFileSync(GOLDEN, page);
assert.ok(broken.length === 0, broken.join("\n\n"));
const entries = (text) => text.split(/^(?=#)/m);
const [now, written] = [entries(page), entries(readFileSync(GOLDEN, "utf8"))];
const others = now.filter((one) => !written.includes(one));
const gone = written.filter((one) => !now.includes(one));
assert.ok(page === written.join(""), `other than written:\n${others.join("")}\nwritten:\n${gone.join("")}`);
console.log(`failures: ${cases} as they are written, in ${((Date.now() - begin) / 1_000).toFixed(1)} s`);
