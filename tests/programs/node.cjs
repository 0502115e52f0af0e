// What programs do in Node: the measure of both engines.
//
// A program is the body of an async function of `input`, as `cove run` takes it; TypeScript goes through its own compiler.
// Run by itself this reads [[code, input, isTypeScript]] from standard input and writes [{ value | thrown, console }].
"use strict";
process.env.TZ = "UTC";
const { Console } = require("node:console");
const { Writable } = require("node:stream");
const { webcrypto } = require("node:crypto");

globalThis.crypto ??= webcrypto;
globalThis.File ??= require("node:buffer").File;

/** JavaScript of a TypeScript text. */
function compiled(code) {
    const ts = require("../../sdk/typescript/node_modules/typescript");
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    return ts.transpileModule(code, { compilerOptions }).outputText.replace(/^export \{\};$/gm, "");
}

/** Runs a program; what it leaves in the global object is taken away. */
async function run(code, input, isTypeScript) {
    const parts = [];
    const sink = new Writable({ write: (chunk, _, done) => (parts.push(chunk.toString()), done()) });
    const own = new Console({ stdout: sink, stderr: sink });
    const given = process.argv;
    process.argv = given.slice(0, 2);
    const before = new Set(Object.getOwnPropertyNames(globalThis));
    let end;
    try {
        const text = `return async function (input) {${isTypeScript ? compiled(code) : code}\n}`;
        const made = new Function("require", "module", "exports", "console", text)(require, module, {}, own);
        end = { value: (await made(input ?? undefined)) ?? null };
        JSON.stringify(end);
    } catch (error) {
        end = { thrown: String(error) };
    }
    process.argv = given;
    for (const name of Object.getOwnPropertyNames(globalThis)) if (!before.has(name)) delete globalThis[name];
    return { ...end, console: parts.join("").replace(/\n$/, "") };
}

/** The programs of a table, each with what it does. */
function programs(table) {
    return table.split("\n---\n").map((block) => {
        const [, title, code] = /^does: (.+)\n([^]*)$/.exec(block.trim());
        return { title, code };
    });
}

module.exports = { run, programs };

if (require.main?.id === module.id || process.argv[1] === undefined) {
    (async () => {
        const answers = [];
        for (const job of JSON.parse(require("node:fs").readFileSync(0, "utf8"))) answers.push(await run(...job));
        process.stdout.write(JSON.stringify(answers), () => process.exit(0));
    })();
}
