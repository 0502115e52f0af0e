// Runs programs for the tests: reads [{ kind, original, prepared, names }] from standard input, writes what each did.
import vm from "node:vm";

const runtime = `
let __cove_n = 1e7, __cove_over = false, __cove_answer;
const __cove_stop = () => { throw new Error("stopped") };
const __cove_catch = (e) => { if (__cove_over) throw e };
const __cove_map = { map: (xs, f) => xs.map(f) };
const __cove_import = async (name) => ({ default: name, ...__cove_map });
const __cove_decl = (...names) => { for (const name of names) {
  const had = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value: had?.value, writable: true, configurable: true, enumerable: true });
} };
const __cove_lock = (...names) => { for (const name of names) {
  const value = globalThis[name];
  Object.defineProperty(globalThis, name, { value, writable: false, configurable: true, enumerable: true });
} };
const __cove_fn = (fn, name) => Object.defineProperty(fn, "name", { value: name, configurable: true });
`;

const show = (value) => {
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object" && value !== null && "message" in value && "stack" in value) return `${value.name}: ${value.message}`;
  return JSON.stringify(value, (_, inner) => (typeof inner === "function" ? `function ${inner.name}` : inner)) ?? "undefined";
};

const world = (over) => {
  const lines = [];
  const context = vm.createContext({
    log: (...values) => void lines.push(values.map(show).join(" ")),
    setTimeout,
  });
  new vm.Script(runtime).runInContext(context);
  // After the answer nothing counts: `over` makes `log` deaf and every `catch` blind.
  if (over) {
    new vm.Script(`globalThis.final_answer = (value) => {
      if (!__cove_over) { __cove_over = true; log("answer", value); }
      throw new Error("the run is over");
    }; { const say = log; globalThis.log = (...values) => __cove_over && values[0] !== "answer" ? say("LATE", ...values) : say(...values) }`).runInContext(context);
  }
  return { context, lines };
};

const run = async (code, { context, lines }, input) => {
  try {
    const made = new vm.Script(code, { filename: "program.js" }).runInContext(context, { timeout: 10000 });
    lines.push("value " + show(await made.call(undefined, input)));
  } catch (error) {
    lines.push("threw " + (error?.name === "SyntaxError" ? `SyntaxError: ${error.message}\n${error.stack}` : show(error)));
  }
};

const look = (context, names) => names.map((name) => {
  try { return `${show(name)} ${show(vm.runInContext(name, context))}` } catch (error) { return `${show(name)} ${show(error.name)}` }
});

const jobs = {
  // Both forms of a program do the same.
  async both({ original, prepared, names, cell, sloppy }) {
    const a = world(), b = world();
    const snap = names.map((name) => `try { log("${name}", ${name}) } catch (e) { log("${name}", e.name) }`).join(";");
    const ending = cell ? `\n;${snap}` : "\n";
    await run(`(async function(input){${sloppy ? "" : '"use strict";'}${original}${ending}})`, a, 3);
    await run(prepared, b, 3);
    if (cell) {
      b.lines.pop();
      a.lines.pop();
      b.lines.push(...look(b.context, names));
    }
    return [a.lines, b.lines];
  },
  // What a program does.
  async one({ prepared }) {
    const a = world();
    await run(prepared, a, 3);
    return a.lines;
  },
  // Cells after one another in one world.
  async cells({ prepared }) {
    const a = world();
    for (const code of prepared) await run(code, a);
    return a.lines;
  },
  // A program that gives its answer.
  async answer({ prepared }) {
    const a = world(true);
    await run(prepared, a);
    return a.lines;
  },
  // A script given to eval.
  async script({ prepared }) {
    const a = world();
    try { a.lines.push("value " + show(new vm.Script(prepared).runInContext(a.context))) } catch (e) { a.lines.push(`threw ${e}`) }
    return a.lines;
  },
  // A module.
  async module({ prepared }) {
    const a = world();
    try {
      const exports = vm.runInContext("({})", a.context);
      await new vm.Script(prepared).runInContext(a.context)(exports);
      for (const key of Object.keys(exports).sort()) a.lines.push(`${key} ${show(exports[key])}`);
    } catch (e) { a.lines.push(`threw ${e}`) }
    return a.lines;
  },
  // Whether a text is JavaScript at all.
  async compile({ prepared }) {
    try { new vm.Script(prepared); return [] } catch (error) { return [error.stack] }
  },
};

let text = "";
for await (const chunk of process.stdin) text += chunk;
const results = [];
for (const job of JSON.parse(text)) results.push(await jobs[job.kind](job));
process.stdout.write(JSON.stringify(results));
