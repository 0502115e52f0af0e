// What the list of tools costs a model: it is in its window before the first word.
//
// Usage: node sizes.mjs COVE
// Run by crates/cli/tests/it/mcp.rs. SPECIFICATION.md and docs/mcp.md have the figures.
import assert from "node:assert/strict";

import { Server, tokens } from "./wire.mjs";

const cove = process.argv[2];

/** [arguments, most tokens]: what is listed unless somebody asks for more, and everything. */
const promised = [
    [[], 3_000],
    [["--tools", "all"], 6_000],
];

for (const [args, most] of promised) {
    const listed = async (more) => {
        const server = await Server.start(cove, ["--profile", "python-default", ...args, ...more]);
        const { result } = await server.ask("tools/list");
        await server.close();
        return result;
    };
    const { tools } = await listed([]);
    assert.ok(tools.every((tool) => !tool.outputSchema));
    const size = tokens(JSON.stringify({ tools }));
    const withSchemas = tokens(JSON.stringify(await listed(["--answers", "both"])));
    console.log(`${tools.length} tools: ${size} tokens, at most ${most}; ${withSchemas} with output schemas`);
    const costs = tools.map((tool) => `${tokens(JSON.stringify(tool))} ${tool.name}`);
    assert.ok(size <= most, `${size} tokens:\n${costs.join("\n")}`);
}
console.log("sizes: as promised");
