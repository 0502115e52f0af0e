// `cove mcp --wrap`: real servers behind one tool that runs code.
//
// Usage: node wrap.mjs COVE PART     (servers, many, approvals, trouble)
// Run by crates/cli/tests/it/mcp.rs.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Server, tokens } from "./wire.mjs";

const [cove, part] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const python = join(here, "../../.tools/venv-clients/bin/python");
const folder = mkdtempSync(join(tmpdir(), "cove-wrap-"));
const bin = (name) => join(here, "node_modules/.bin", name);

const real = {
    everything: { command: bin("mcp-server-everything") },
    files: { command: bin("mcp-server-filesystem"), args: [folder] },
    memory: { command: bin("mcp-server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
    notes: { command: python, args: [join(here, "servers/notes.py")], env: { NOTES_LOG: join(folder, "log") } },
};
const many = (count) => ({ many: { command: process.execPath, args: [join(here, "servers/many.mjs"), String(count)] } });

/** A server in front of these. */
async function wrapped(mcpServers, more = {}, args = [], capabilities = {}) {
    const file = join(folder, "servers.json");
    writeFileSync(file, JSON.stringify({ mcpServers, ...more }));
    return Server.start(cove, ["--wrap", file, "--profile", "javascript", "--answers", "both", ...args], {}, capabilities);
}

/** Runs code; what it gave, or the whole answer of a failure. */
async function run(server, code, more = {}) {
    const { result, error } = await server.call("run_code", { code, ...more });
    assert.ok(result, JSON.stringify(error));
    return result;
}
const value = async (server, code, more) => {
    const result = await run(server, code, more);
    assert.ok(!result.isError, JSON.stringify(result.content));
    return result.structuredContent.result;
};
const failure = async (server, code, more) => {
    const result = await run(server, code, more);
    assert.ok(result.isError, JSON.stringify(result));
    return result.content.map((block) => block.text).join("\n");
};

const parts = {
    async servers() {
        const server = await wrapped(real, { approvals: [{ tool: "files.write_*", do: "allow", when: { path: `${folder}/**` } }] });
        const { tools } = (await server.ask("tools/list")).result;
        assert.deepEqual(tools.map((tool) => tool.name), ["run_code", "search_tools", "describe_tools"]);
        const about = tools[0].description;
        for (const name of ["everything", "files", "memory", "notes"]) assert.match(about, new RegExp(`^${name}`, "m"), about);

        // Every way to write a name that models use.
        for (const call of [
            "notes.put(A)", "tools.notes.put(A)", "codemode.notes.put(A)", "callTool('notes.put', A)", "tools['notes']['put'](A)",
            "notes['put'](A)", "callTool('mcp__notes__put', A)", "tools.notes_put(A)",
        ]) {
            assert.deepEqual(await value(server, `await ${call.replace("A", "{name: 'a', text: 'b'}")}`), { name: "a", text: "b" }, call);
        }
        assert.equal(await value(server, "await notes.count()"), 1);
        assert.equal(await value(server, "return await notes.count()"), 1, "with `return`, too");

        // State stays, calls go on at once, and one call reaches several servers.
        const several = await value(server, `
            const names = ['x', 'y', 'z'];
            await Promise.all(names.map((name) => notes.put({name, text: name})));
            await files.write_file({path: ${JSON.stringify(join(folder, "a.txt"))}, content: 'hello'});
            const graph = await memory.create_entities({entities: [{name: 'cove', entityType: 'project', observations: ['small']}]});
            ({count: await notes.count(), graph})`);
        assert.equal(several.count, 4);
        assert.equal(readFileSync(join(folder, "a.txt"), "utf8"), "hello");
        assert.equal(await value(server, "names.length"), 3);

        // What was made is told, with what a retry means.
        const told = await run(server, "await notes.put({name: 'q', text: ''}); await notes.count()");
        assert.deepEqual(told.structuredContent.calls.map(({ tool, end, retry_safe }) => [tool, end, retry_safe]), [
            ["notes.put", "done", false],
            ["notes.count", "done", true],
        ]);
        assert.equal(told.structuredContent.retry_safe, false);

        // Pictures are handles; who returns one sees it.
        const picture = await run(server, `
            const all = await everything['get-tiny-image']({});
            const image = all.find((one) => one.type === 'image');
            const {mimeType, data} = await openHandle(image);
            ({image, mimeType, bytes: data.length})`);
        assert.equal(picture.structuredContent.result.mimeType, "image/png");
        assert.ok(picture.content.some((block) => block.type === "image"));

        // A failure names the server, the tool, the arguments and the cause; it can be caught.
        const missing = await failure(server, "await files.read_text_file({path: '/nowhere/x'})");
        assert.match(missing, /files\.read_text_file\(\{"path":"\/nowhere\/x"\}\) (failed|was refused): .*(denied|outside)/is);
        assert.match(await value(server, "try { await files.read_text_file({path: '/nowhere/x'}) } catch (e) { e.toolCode }"), /\ntool_failed\n/);

        // A wrong name gets the nearest ones, a wrong argument a frame and the signature before anything has run.
        assert.match(await failure(server, "await notes.cuont()"), /no tool "notes\.cuont".*notes\.count\(args\?: \{\}\): Promise<number>/s);
        const wrong = await failure(server, "await notes.put({name: 'never', text: 'a'});\nawait notes.put({nmae: 'x', text: 'y'})");
        assert.match(wrong, /`nmae` is not an argument of notes\.put.*2 \| await notes\.put\(\{nmae/s);
        assert.match(wrong, /notes\.put\(args: \{ name: string; text: string \}\)/);
        assert.equal(await value(server, "await notes.count()"), 5, "nothing of it was run");

        // What needs a person is refused at once where nobody can be asked.
        assert.match(await failure(server, "await notes.remove({name: 'a'})"), /was not made: a person must allow it, and this client cannot ask one/);

        // Types, from schemas and learnt.
        const [search] = (await server.call("search_tools", { query: "keep a note" })).result.structuredContent.tools;
        assert.match(search, /\/\*\* Keep a note under a name\. \*\/\nnotes\.put\(/);
        const described = (await server.call("describe_tools", { names: ["notes.put", "files.nothing"] })).result;
        assert.match(described.content[0].text, /notes\.put\(args: \{ name: string; text: string \}\)/);
        assert.match(await value(server, "(await search_tools('remove note', 1))[0]"), /notes\.remove/);

        // Logs, and a long result, which is bounded and kept.
        const long = await run(server, "console.log('begun'); 'x'.repeat(100_000)");
        assert.equal(long.structuredContent.logs, "begun");
        assert.ok(JSON.stringify(long).length < 100_000);
        await server.close();
    },

    async many() {
        const server = await wrapped(many(10_000));
        const { tools } = (await server.ask("tools/list")).result;
        for (const tool of tools) delete tool.outputSchema;
        const size = tokens(JSON.stringify({ tools }));
        console.log(`10,000 tools: ${size} tokens`);
        assert.ok(size <= 1_500, `${size} tokens`);
        assert.match(tools[0].description, /many \(\d+ of 10000 shown\):/);
        const found = (await server.call("search_tools", { query: "delete shipment department 42", limit: 3 })).result;
        assert.match(found.structuredContent.tools[0], /many\.delete_shipment_\d+/);
        for (const call of ["many.get_invoice_2(A)", "tools.many.get_invoice_2(A)", "codemode.many.get_invoice_2(A)", "callTool('many.get_invoice_2', A)", "tools['many']['get-invoice-2'](A)"]) {
            assert.deepEqual(await value(server, `await ${call.replace("A", "{id: '7'}")}`), { name: "get_invoice_2", id: "7" }, call);
        }
        await server.close();
    },

    async trouble() {
        // One that fails when it is started first, and one that misses a variable.
        const late = `if [ -e "$1" ]; then exec "$2" "$3"; fi; touch "$1"; echo 'not yet' >&2; exit 1`;
        const server = await wrapped({
            late: { command: "sh", args: ["-c", late, "sh", join(folder, "late"), python, join(here, "servers/notes.py")] },
            keyless: { command: python, args: [join(here, "servers/notes.py")], env: { KEY: "${COVE_TEST_NOT_SET}" } },
            ...real,
            notes: { ...real.notes, timeout_ms: 1_500 },
            broken: { command: "/nowhere/at/all" },
            silent: { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(1)"] },
            old: { type: "sse", url: "http://127.0.0.1:9/sse" },
        });
        const about = (await server.ask("tools/list")).result.tools[0].description;
        for (const word of [/keyless is not available: .*COVE_TEST_NOT_SET is not set/, /broken is not available: .*cannot be started/, /silent is not available: .*no key/, /old is not available: .*SSE/]) assert.match(about, word);
        assert.match(await failure(server, "await broken.thing({})"), /the server broken is not available/);
        assert.equal(await value(server, "await notes.count()"), 0, "the others work");
        // The one that is tried again; the client is told that there are other tools now.
        for (;;) {
            const news = new Promise((resolve) => {
                server.onTold = ({ method }) => method === "notifications/tools/list_changed" && resolve();
            });
            if (/^late:/m.test((await server.ask("tools/list")).result.tools[0].description)) break;
            await news;
        }
        assert.equal(await value(server, "await late.count()"), 0);

        // One that dies is started again; the call under way is not made twice, and said to be unknown.
        await value(server, "await notes.put({name: 'a', text: ''})");
        const died = await run(server, "await notes.die()");
        assert.match(died.content[0].text, /notes\.die\(\{\}\) has no answer: .*it may have been done/s);
        assert.deepEqual(died.structuredContent.calls.map(({ end }) => end), ["unknown"]);
        assert.equal(await value(server, "await notes.count()"), 0, "a new one");

        // One that hangs is given up.
        const begun = Date.now();
        assert.match(await failure(server, "await notes.sleep({seconds: 60})"), /no answer within 1\.5 s/);
        assert.ok(Date.now() - begun < 15_000);
        assert.equal(await value(server, "await notes.count()"), 0);
        await server.close();
    },

    async approvals() {
        const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "");
        const rules = { approvals: [{ tool: "notes.put", do: "deny", when: { name: "secret*" } }] };
        let asked = [];
        const server = await wrapped(real, rules, [], { elicitation: {} });
        const answers = [];
        server.onAsked = ({ method, params }) => {
            assert.equal(method, "elicitation/create");
            asked.push(params.message);
            return answers.shift();
        };
        // A rule refuses, and nobody is asked.
        assert.match(await failure(server, "await notes.put({name: 'secret-1', text: ''})"), /was not made: a rule of `approvals` refuses it/);
        assert.equal(asked.length, 0);
        // Approved: made, once, although the person took longer than the code may.
        answers.push(new Promise((resolve) => setTimeout(resolve, 3_000, { action: "accept", content: {} })));
        const code = "const gone = await notes.remove({name: 'a'});\ngone";
        assert.equal(await value(server, code, { timeout_ms: 1_000 }), false);
        assert.match(asked[0], /notes\.remove with \{"name":"a"\}.*may destroy.*\n1 \| const gone = await notes\.remove/s);
        assert.equal(log(), "remove a\n");
        // Denied: an error that code can catch.
        answers.push({ action: "decline" });
        assert.match(await value(server, "try { await notes.remove({name: 'b'}) } catch (e) { e.message }"), /a person has denied it/);
        // For this session: asked once.
        answers.push({ action: "accept", content: { remember: true } });
        await value(server, "for (const name of ['c', 'd', 'e']) await notes.remove({name})");
        assert.equal(asked.length, 3);
        assert.equal(log(), "remove a\nremove c\nremove d\nremove e\n");
        // Killed while one waits: the call was not made, and nobody makes it later.
        answers.push(new Promise(() => {}));
        const asking = new Promise((resolve) => (server.onAsked = resolve));
        void run(server, "await notes.remove({name: 'f'})", { session: "other" }).catch(() => {});
        await asking;
        const ended = once(server.process, "exit");
        server.process.kill("SIGKILL");
        await ended;
        const next = await wrapped(real, rules);
        assert.equal(await value(next, "await notes.count()"), 0);
        assert.equal(log(), "remove a\nremove c\nremove d\nremove e\n");
        await next.close();
    },
};

try {
    await parts[part]();
    console.log(`wrap ${part}: as it should be`);
} finally {
    rmSync(folder, { recursive: true, force: true });
}
