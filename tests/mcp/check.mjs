// The official TypeScript SDK as a client of `cove mcp`: over standard streams and over HTTP.
//
// Usage: node check.mjs COVE stdio|http
// Run by crates/cli/tests/it/mcp.rs. The SDK itself checks every structured answer against the tool's output schema.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import Ajv2020 from "ajv/dist/2020.js";

const [cove, part] = process.argv.slice(2);
const KEY = "sk-test-mcp-key-of-16";
const ajv = new Ajv2020.default({ strict: false });

function states(root) {
    const parents = new Map();
    for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const [state, parent] = readFileSync(`/proc/${name}/stat`, "utf8").split(")").pop().trim().split(" ");
            parents.set(Number(name), [state, Number(parent)]);
        } catch {
            // It ended meanwhile.
        }
    }
    const family = new Set([root]);
    for (let grew = true; grew; ) {
        grew = false;
        for (const [pid, [, parent]] of parents) {
            if (family.has(parent) && !family.has(pid)) {
                family.add(pid);
                grew = true;
            }
        }
    }
    family.delete(root);
    return [...family].map((pid) => parents.get(pid)[0]);
}

async function until(what, holds, inARow = 8) {
    const end = Date.now() + 60_000;
    for (let seen = 0; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 30))) {
        seen = holds() ? seen + 1 : 0;
        if (seen >= inARow) return;
    }
    assert.fail(`waited in vain until ${what}`);
}

async function check(transport, pid) {
    const client = new Client({ name: "cove-tests", version: "1" });
    await client.connect(transport);
    assert.equal(client.getServerVersion().name, "cove");
    const { tools } = await client.listTools();
    for (const tool of tools) {
        ajv.compile(tool.inputSchema);
        ajv.compile(tool.outputSchema);
    }
    const call = async (name, args, options) => {
        const result = await client.callTool({ name, arguments: args }, undefined, options);
        return { ...result, text: result.content[0].text };
    };
    const made = await call("create_sandbox", { profile: "python-default" });
    const sandbox_id = made.structuredContent.id;

    const lines = [];
    const ran = await call(
        "run_javascript",
        { sandbox_id, code: "console.log('one'); return input.map(n => n * n)", input: [1, 2, 3] },
        { onprogress: (progress) => lines.push(progress.message) },
    );
    assert.deepEqual(ran.structuredContent.result, [1, 4, 9]);
    assert.match(lines.join("\n"), /one/);

    const drawn = await call("run_javascript", { sandbox_id, code: "getCanvas(20, 10).getContext('2d').fillRect(0, 0, 5, 5)" });
    const image = drawn.content.find((block) => block.type === "image");
    assert.equal(image.mimeType, "image/png");
    const bytes = Buffer.from(image.data, "base64");
    assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    const link = drawn.content.find((block) => block.type === "resource_link");
    const resource = await client.readResource({ uri: link.uri });
    assert.equal(resource.contents[0].blob, image.data);

    const lost = await call("run_javascript", { sandbox_id, code: "return { ports: new Map([['Oslo', 1]]) }" });
    assert.match(JSON.stringify(lost.content), /`ports` is a Map[^]*Object\.fromEntries\(map\)/);
    assert.equal(lost.structuredContent.warnings.length, 1);

    const failed = await call("run_javascript", { sandbox_id, code: "throw new Error('no')" });
    assert.ok(failed.isError);
    assert.match(failed.text, /Error: no[^]*Next step:/);

    await call("write", { sandbox_id, path: "a.txt", content: "from the client\n" });
    assert.match((await call("execute_shell", { sandbox_id, command: "cat a.txt" })).text, /from the client/);
    assert.match((await call("execute_python", { sandbox_id, code: "open('a.txt').read()" })).text, /from the client/);

    const busy = () => states(pid()).includes("R");
    await until("the server is at rest", () => !busy());
    const stop = new AbortController();
    const runaway = call("run_javascript", { sandbox_id, code: "for (;;);", timeout_ms: 200000 }, { signal: stop.signal });
    await until("the runaway runs", busy, 3);
    stop.abort("enough");
    await assert.rejects(runaway);
    await until("the runaway has ended", () => !busy());

    await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /no_such_tool/);
    await call("delete_sandbox", { sandbox_id });
    await client.close();
    return tools.length;
}

async function overStdio() {
    const transport = new StdioClientTransport({ command: cove, args: ["mcp", "--answers", "both"], env: { ...process.env } });
    return check(transport, () => transport.pid);
}

async function overHttp() {
    const server = spawn(cove, ["mcp", "--http", "127.0.0.1:0", "--answers", "both"], {
        env: { ...process.env, BAY_API_KEY: KEY },
        stdio: ["ignore", "ignore", "pipe"],
    });
    try {
        let url;
        for await (const line of createInterface({ input: server.stderr })) {
            url = /http:\/\/[0-9.:]+\/mcp/.exec(line)?.[0];
            if (url) break;
        }
        const open = (headers) => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
        for (const headers of [{}, { authorization: "Bearer wrong" }]) {
            const stranger = new Client({ name: "cove-tests", version: "1" });
            await assert.rejects(stranger.connect(open(headers)), /401|[Uu]nauthorized/);
        }
        return await check(open({ authorization: `Bearer ${KEY}` }), () => server.pid);
    } finally {
        server.kill("SIGTERM");
        await once(server, "exit");
    }
}

const count = await { stdio: overStdio, http: overHttp }[part]();
console.log(`${part}: ${count} tools`);
