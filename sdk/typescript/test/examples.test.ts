/** The adapters work, and what the README and the documentation show works: each example of TypeScript is compiled and run. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxTools as langchainTools } from "../examples/langchain.js";
import { sandboxTools as vercelTools } from "../examples/vercel-ai.js";
import { ROOT, serve } from "./server.js";

const { cove, server } = await serve();
const sandbox = await cove.sandbox();

test("tools for the Vercel AI SDK", async () => {
    const tools = vercelTools(sandbox);
    const call = { toolCallId: "1", messages: [] };
    assert.deepEqual(await tools.run_javascript.execute?.({ code: "return input * 2", input: 21 }, call), { value: 42, logs: "" });
    await tools.write_file.execute?.({ path: "a.txt", content: "ahoy" }, call);
    assert.deepEqual(await tools.read_file.execute?.({ path: "a.txt" }, call), { content: "ahoy" });
    assert.deepEqual(await tools.execute_shell.execute?.({ command: "cat a.txt" }, call), { output: "ahoy", exit_code: 0 });
    assert.match(JSON.stringify(await tools.execute_python.execute?.({ code: "1 / 0", timeout: 30 }, call)), /ZeroDivisionError/);
});

test("tools for LangChain", async () => {
    const [javascript, python, shell] = langchainTools(sandbox);
    assert.equal(await javascript?.invoke({ code: "return input * 2", input: 21 }), "42");
    assert.match(String(await python?.invoke({ code: "print('ahoy')" })), /ahoy/);
    assert.match(String(await shell?.invoke({ command: "echo ahoy" })), /ahoy\n\n?\(exit code 0\)/);
});

const here = join(ROOT, "sdk", "typescript");
const pages = [join(here, "README.md"), join(ROOT, "docs", "sdk-typescript.md")];
const folder = mkdtempSync(join(here, "build", "pages-"));
after(() => rmSync(folder, { recursive: true }));
const examples = pages.flatMap((page, at) =>
    [...readFileSync(page, "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code], number) => ({ name: `page${at}-${number}`, code: code ?? "" })),
);

test("examples of the pages compile", () => {
    const paths = { "@cove/sdk": [join(here, "src/index.ts")], "@cove/sdk/node": [join(here, "src/node.ts")] };
    for (const { name, code } of examples) writeFileSync(join(folder, `${name}.ts`), code);
    const compilerOptions = { rootDir: here, outDir: join(folder, "out"), declaration: false, paths };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: join(here, "tsconfig.json"), compilerOptions, include: ["*.ts"] }));
    const done = spawnSync(join(here, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout);
    assert.ok(examples.length > 0);
});

for (const { name, code } of examples) {
    test(`example ${name} runs`, () => {
        const compiled = join(folder, "out", folder.slice(here.length + 1), `${name}.js`);
        // The package's own name leads to the same sources, compiled beside it.
        const text = readFileSync(compiled, "utf8")
            .replaceAll('"@cove/sdk/node"', JSON.stringify(join(folder, "out/src/node.js")))
            .replaceAll('"@cove/sdk"', JSON.stringify(join(folder, "out/src/index.js")));
        writeFileSync(compiled, text);
        const env = { ...process.env, COVE_URL: server.url, COVE_KEY: server.key };
        const done = spawnSync(process.execPath, [compiled], { encoding: "utf8", env, cwd: folder, timeout: 240_000 });
        assert.equal(done.status, 0, `${code}\n---\n${done.stdout}${done.stderr}`);
        for (const [, wanted] of code.matchAll(/\/\/ prints (.*)/g)) assert.ok(done.stdout.includes(wanted ?? ""), `${wanted} in:\n${done.stdout}`);
    });
}
