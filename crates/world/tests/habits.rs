//! Programs as models write them: sloppy names, Markdown, Node's own names, tries that may fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    clippy::result_large_err,
    clippy::needless_pass_by_value
)]

mod host;

use cove_core::{FaultKind, ImportPolicy, RunRequest};
use host::{Guest, setup};
use serde_json::{Value, json};

fn check(code: &str, expected: Value) {
    assert_eq!(Guest::new().body(code).unwrap_or_else(|fault| panic!("{code}: {fault:?}")), expected, "{code}");
}

/// Names that are assigned and never declared are variables of the run; what is there already stays what it is.
#[test]
fn undeclared_names_become_variables() {
    check("x = 5; return x + 1", json!(6));
    check("for (i = 0; i < 3; i++) {} return i", json!(3));
    check("for (k in { a: 1 }) {} for (v of [7]) {} return [k, v]", json!(["a", 7]));
    check("[a, { b }] = [1, { b: 2 }]; return a + b", json!(3));
    check("function f() { total = 1; return g() } function g() { return total + 1 } return f()", json!(2));
    check("a = b = 2; return [a, b, typeof globalThis.c]", json!([2, 2, "undefined"]));
    check("globalThis.n = 1; n = 2; return globalThis.n", json!(2));
    check("Promise = 5; return Promise", json!(5));
    // A name that is only counted up was never set: that is a mistake in sloppy code, too.
    let fault = Guest::new().body("let total = 0; totl += 5; return total").unwrap_err();
    assert_eq!(fault.message, "ReferenceError: totl is not defined");
    // In a cell names persist, so a mistake would, too.
    assert_eq!(Guest::new().cell("x = 5").unwrap_err().kind, FaultKind::Exception);
    assert!(Guest::new().body("Array.prototype.x = 1").is_err());
}

/// What is legal in a function is legal here.
#[test]
fn legal_code_runs() {
    check("function f() { return 1 } function f() { return 2 } return f()", json!(2));
    check("function f() { return 1 } var f; return f()", json!(1));
    check("var f = 3; function f() {} return f", json!(3));
    check("var await = 4; return await", json!(4));
    check("function f() { const await = 5; return await } return f() + input", Value::Null);
    assert_eq!(Guest::new().cell("function f() { return 1 } function f() { return 2 } f()").unwrap(), 2);
    for code in
        ["let f; function f() {}", "const a = 1; var a = 2", "class A {} function A() {}", "let await = 1; await 5"]
    {
        assert_eq!(Guest::new().body(code).unwrap_err().kind, FaultKind::Syntax, "{code}");
    }
}

/// Differences that nobody would have been told of.
#[test]
fn silent_differences_are_gone() {
    check(
        "return ['istanbul'.toLocaleUpperCase('tr'), 'ISI İ'.toLocaleLowerCase('tr-TR'), 'ii'.toLocaleUpperCase()]",
        json!(["İSTANBUL", "ısı i", "II"]),
    );
    check(
        "return Promise.any([Promise.reject(1), Promise.reject(2)]).catch((e) => [e.name, e.message, e.errors])",
        json!(["AggregateError", "All promises were rejected", [1, 2]]),
    );
    check(
        "return [await Promise.any([Promise.reject(1), 5, 6]), Promise.any.name, Promise.any.length]",
        json!([5, "any", 1]),
    );
    check("return Promise.any([]).catch((e) => e.errors.length)", json!(0));
    let fault = Guest::new().body("return Math.max(...Array(100000).fill(1))").unwrap_err();
    assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains("reduce")), "{fault:?}");
}

/// A fence around the code is taken off, and lines stay where they were.
#[test]
fn markdown_fences_are_taken_off() {
    check("```js\nconst n: number = 3\nreturn n\n```", json!(3));
    assert_eq!(Guest::new().cell("```typescript\nlet a = 1\na + 1\n```\n").unwrap(), 2);
    let fault = Guest::new().body("```javascript\nreturn missing\n```").unwrap_err();
    assert_eq!(fault.position.unwrap().line, 2);
}

/// Names of Node's: what is harmless is there, the rest says what to use.
#[test]
fn node_names() {
    check("return require('path').join('/a', '..', 'b.txt')", json!("/b.txt"));
    check(
        "const { basename, extname } = require('node:path'); return basename('/x/y.tar.gz', extname('y.tar.gz'))",
        json!("y.tar"),
    );
    check(
        "const util = require('util'); return util.inspect({ a: [1, new Map([[1, 2]])] }) + util.format(' %s %d', 'x', 4)",
        json!("{ a: [ 1, Map(1) { 1 => 2 } ] } x 4"),
    );
    check(
        "return require('crypto').createHash('sha256').update('abc').digest('hex')",
        json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    );
    check(
        "const crypto = require('crypto'); return crypto.createHash('md5').update('').digest('hex') + crypto.createHmac('sha1', 'k').update('d').digest('base64')",
        json!("d41d8cd98f00b204e9800998ecf8427e".to_owned() + "K5DkHnwMyOL3XAKRDDiZzEaLoxY="),
    );
    check(
        "const EventEmitter = require('events'); const e = new EventEmitter(); let n = 0; e.on('x', (v) => { n += v }); e.once('x', () => { n += 10 }); e.emit('x', 1); e.emit('x', 1); return n",
        json!(12),
    );
    check(
        "import path, { basename as base } from 'node:path'\nimport * as util from 'util'\nimport 'events'\nimport type { X } from 'y'\n\
         return [path.join('a', 'b'), base('/x/y'), typeof util.inspect]",
        json!(["a/b", "y", "function"]),
    );
    assert_eq!(Guest::new().body("import x from 'lodash'").unwrap_err().kind, FaultKind::Refused);
    check("const { EOL, platform } = require('os'); return [EOL, platform()]", json!(["\n", "linux"]));
    check(
        "const { StringDecoder } = require('string_decoder'); const d = new StringDecoder('utf8'); \
         return d.write(Buffer.from([0xe2, 0x82])) + d.end(Buffer.from([0xac]))",
        json!("€"),
    );
    check("return require('util').promisify(setTimeout)(1, 'waited')", json!("waited"));
    check(
        "const u = require('util'); return [u.inspect([1, [2, [3, [4, [5]]]]], { depth: null }), u.inspect(Buffer.from('hi'))]",
        json!(["[\n  1,\n  [\n    2,\n    [ 3, [ 4, [ 5 ] ] ]\n  ]\n]", "<Buffer 68 69>"]),
    );
    check(
        "const c = require('crypto'); const key = await new Promise((done) => c.pbkdf2('p', 's', 1000, 16, 'sha256', (e, k) => done(e ?? k))); return key.toString('hex')",
        json!("07f5f5e23e40846c35c4c7bbc8244ee2"),
    );
    check(
        "const b = Buffer.from('hi', 'utf16le'); return [b.length, b.toString('utf16le'), Buffer.from([1, 2, 3]).readUIntBE(0, 3)]",
        json!([4, "hi", 66051]),
    );
    check(
        "const { ReadableStream: R } = require('node:stream/web'); const got = []; for await (const x of R.from([1, 2])) got.push(x); return got",
        json!([1, 2]),
    );
    check("const { URL: U } = require('url'); return new U('https://a.b/c').pathname", json!("/c"));
    check(
        "const assert = require('assert'); assert.deepStrictEqual({ a: [1] }, { a: [1] }); try { assert.strictEqual(1, 2) } catch (e) { return e.code }",
        json!("ERR_ASSERTION"),
    );
    check("return Buffer.from('héllo').toString('base64') + Buffer.from('686921', 'hex')", json!("aMOpbGxvhi!"));
    check(
        "return [Buffer.concat([Buffer.from('a'), Buffer.alloc(2, 'b')]).toString(), Buffer.byteLength('€'), Buffer.from([1]) instanceof Uint8Array]",
        json!(["abb", 3, true]),
    );
    check(
        "return [process.env.HOME ?? 'none', process.argv.length, typeof process.exit, process.platform]",
        json!(["none", 2, "function", "linux"]),
    );
    check("module.exports = { a: 1 }", json!({"a": 1}));
    check("exports.a = 2; exports.b = 3", json!({"a": 2, "b": 3}));
    check("module.exports = (input) => [input ?? 'nothing']", json!(["nothing"]));
    check("const main = () => 7; let r; if (require.main === module) r = main(); return r", json!(7));
    check("module.exports = { a: 1 }; return 5", json!(5));
    check("const p = await import('node:path'); return [p.default.sep, p.basename('/a/b')]", json!(["/", "b"]));
    check("alert('x'); return [prompt('name?'), confirm('sure?')]", json!([null, false]));
    check("const require = (x) => x; return require('fs')", json!("fs"));
    // A name that is only asked for is not there, as in any sandbox.
    check("return typeof require + typeof process", json!("undefinedundefined"));
    check("return typeof module !== 'undefined' && module.exports ? 1 : 2", json!(1));
    let told = |code: &str, word: &str| {
        let fault = Guest::new().body(code).unwrap_err();
        assert!(fault.message.contains(word), "{code}: {}", fault.message);
        assert_eq!(fault.position.map(|place| place.line), Some(1), "{code}: {fault:?}");
    };
    told("const fs = require('fs'); return 1", "file tools");
    told("require('lodash')", "given to this session");
    told("require('child_process')", "no processes");
    told("require('zlib').gzipSync('x')", "CompressionStream");
    told("process.exit(1)", "return");
    check("try { require('fs') } catch (e) { return e.code }", json!("MODULE_NOT_FOUND"));
    // Cells have none of it.
    assert_eq!(Guest::new().cell("typeof require + typeof Buffer").unwrap(), "undefinedundefined");
}

/// What the user declares is not what the given modules use.
#[test]
fn names_of_the_user_do_not_reach_the_given_modules() {
    check("const { URL, URLSearchParams } = require('url'); return new URL('https://a.b/c').pathname", json!("/c"));
    check("const { Buffer } = require('buffer'); return Buffer.from('hi').toString('hex')", json!("6869"));
    check("const { setTimeout } = require('timers/promises'); return await setTimeout(1, 'done')", json!("done"));
    check("const { performance } = require('perf_hooks'); return typeof performance.now()", json!("number"));
    check(
        "const { TextEncoder, inspect } = require('util'); return inspect(new TextEncoder().encode('a').length)",
        json!("1"),
    );
    check("var URL = require('url').URL; return new URL('https://a.b/c').pathname", json!("/c"));
    check("const console = { log: () => 1 }; const { format } = require('util'); return format('%s', 1)", json!("1"));
    check("class Error {} ; try { require('fs') } catch (e) { return e.code }", json!("MODULE_NOT_FOUND"));
    check(
        "const Object = { own: 1 }; return require('querystring').stringify({ a: [1, 'b c'] })",
        json!("a=1&a=b%20c"),
    );
    check("return require('querystring').parse('a=1&b=x+y&a=2')", json!({"a": ["1", "2"], "b": "x y"}));
}

/// Functions that are used outside of the block that declares them.
#[test]
fn functions_in_blocks() {
    check("if (true) { function f() { return 1 } } return f()", json!(1));
    check("{ function f() { return 1 } } { function f() { return 2 } } return f()", json!(2));
    check("const seen = typeof f; { function f() {} } return [seen, typeof f]", json!(["undefined", "function"]));
    check("switch (1) { case 1: function g() { return 3 } } return g()", json!(3));
    check("function outer() { if (true) { function inner() { return 4 } } return inner() } return outer()", json!(4));
    check("{ function f() { return 1 } } { let f = 2; return f }", json!(2));
    check("return new.target === undefined", json!(true));
    let fault = Guest::new().body("if (false) { function f() {} }\nreturn f()").unwrap_err();
    assert_eq!(fault.message, "TypeError: f is not a function");
}

/// Words and places of errors that the engine tells late or not at all.
#[test]
fn errors_are_told_where_they_are() {
    check(
        "return await Promise.resolve(1).then((v) => v.foo()).catch((e) => e.message)",
        json!("v.foo is not a function"),
    );
    check("return await Promise.resolve({}).then((v) => v.a.b()).then(null, (e) => e.name)", json!("TypeError"));
    let place = |code: &str| {
        let fault = Guest::new().body(code).unwrap_err();
        fault.position.map(|at| (at.line, at.column))
    };
    assert_eq!(place("const a = 1\na = 2\nreturn a"), Some((2, 1)));
    assert_eq!(place("const f = () => {\n  const n = 1\n  n++\n  return n\n}\nf()"), Some((3, 3)));
    assert_eq!(place("let a = 1\na = 2\nconst o = Object.freeze({ a })\no.a = 3\nreturn o"), Some((4, 1)));
    assert_eq!(place("const o = {}\nfor (const x of o) {}"), Some((2, 17)));
    assert_eq!(place("const o = {}\nreturn [1, ...o]"), Some((2, 15)));
    let fault = Guest::new().body("Array.prototype[Symbol.iterator] = 1").unwrap_err();
    let frozen = "built-ins are frozen in this engine; to change Array.prototype, use engine \"browser\"";
    assert_eq!(fault.message, format!("TypeError: 'Symbol.iterator' is read-only: {frozen}"));
    assert!(fault.needs_browser, "{fault:?}");
    let fault = Guest::new().body("Array.prototype.last = 1").unwrap_err();
    assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains("function of your own")), "{fault:?}");
}

/// Who tells of a failure need not read its sentence: the fault has the cause as a field, also of an error that guest code
/// has thrown because of it. The sentence alone says nothing.
#[test]
fn causes_are_fields() {
    let fault = |code: &str| Guest::new().body(code).unwrap_err();
    let detail = |code: &str, name: &str| fault(code).details.get(name).cloned();
    assert_eq!(detail("await import('fs')", "module"), Some(json!("fs")));
    assert_eq!(detail("require('child_process')", "module"), Some(json!("child_process")));
    let closed = "await fetch('https://example.com/')";
    assert_eq!(detail(closed, "network"), Some(json!("closed")));
    assert_eq!(
        detail(&format!("try {{ {closed} }} catch (cause) {{ throw new Error('no data', {{ cause }}) }}"), "network"),
        Some(json!("closed"))
    );
    assert!(fault(closed).hint.is_some_and(|hint| hint.contains("network policy")));
    for code in [
        "return new Intl.DateTimeFormat('he', { calendar: 'hebrew' }).format(0)",
        "await crypto.subtle.generateKey('RSA-OAEP', true, [])",
    ] {
        assert!(fault(code).needs_browser, "{code}: {:?}", fault(code));
    }
    for said in [
        "Import not allowed: fs. Authorised modules: none",
        "Cannot find module fs",
        "fetch is closed in this session",
        "use engine \\\"browser\\\"",
    ] {
        let fault = fault(&format!("throw new TypeError(\"{said}\")"));
        assert!(fault.details.is_empty() && !fault.needs_browser, "{fault:?}");
    }
}

/// What is set in `console` and `Math` is set in this run's own; other built-ins stay frozen.
#[test]
fn consoles_of_ones_own() {
    let mut guest = Guest::new();
    let code = "const lines = [], log = console.log; console.log = (...all) => lines.push(all.join(' ')); console.log('a', 1); \
                console.log = log; console.log('said'); Math.random = () => 0.5; return [lines, Math.random(), Math.max(1, 2)]";
    assert_eq!(guest.body(code).unwrap(), json!([["a 1"], 0.5, 2]));
    assert_eq!(guest.desk.text(), "said");
    check(
        "console.warn = console.error = () => {}; console.warn(1); return Object.keys(console).length > 10",
        json!(true),
    );
    check("const console = { log: () => 1 }; console.log = () => 2; return console.log()", json!(2));
    let fault = Guest::new().body("function mock() {\n  Date.now = () => 5\n}\nmock()").unwrap_err();
    assert!(fault.message.contains("to change Date, use engine"), "{fault:?}");
    let fault = Guest::new().body("const o = Object.freeze({})\no.x = 1").unwrap_err();
    assert_eq!(fault.message, "TypeError: object is not extensible");
}

/// Generator functions from text, and a text with a character of number zero.
#[test]
fn odd_texts() {
    check("const G = (function* () {}).constructor; return [...new G('a', 'yield a; yield a * 2')(4)]", json!([4, 8]));
    check(
        "const G = (async function* () {}).constructor; const got = []; for await (const x of G('yield await 1')()) got.push(x); return got",
        json!([1]),
    );
    check(
        "const G = (function* () {}).constructor; const out = []; for (const b of ['}, function () {', '}[x] = {', '} } + { *m() {', '})({']) { try { new G(b); out.push(b) } catch (e) { out.push(e.name) } } return out",
        json!(["SyntaxError", "SyntaxError", "SyntaxError", "SyntaxError"]),
    );
    check("return ['a\0b'.length, `\0`.charCodeAt(0)]", json!([3, 0]));
    check(
        "return eval('99; do { -99; try { 39 } catch (e) { -1 } finally { 42; break; -2 }; } while (false);')",
        json!(42),
    );
}

/// An import that is not allowed can be caught; one that nobody catches keeps its code.
#[test]
fn an_import_that_may_fail() {
    check("try { await import('fs') } catch (e) { return e.code }", json!("ERR_IMPORT_NOT_ALLOWED"));
    let fault = Guest::new().body("const x = 1\nawait import('fs')").unwrap_err();
    assert_eq!((fault.kind, fault.position.map(|place| place.line)), (FaultKind::ImportNotAllowed, Some(2)));
    assert_eq!(fault.details.get("module"), Some(&json!("fs")));
    let mut setup = setup();
    setup.imports = ImportPolicy {
        authorized: vec!["lodash".into(), "path".into()],
        modules: [
            ("lodash".to_owned(), "module.exports = { chunk: () => 'own' }".to_owned()),
            ("path".to_owned(), "export const sep = 'mine'".to_owned()),
        ]
        .into(),
    };
    let mut guest = Guest::with(&setup);
    assert_eq!(guest.body("return require('lodash').chunk()").unwrap(), "own");
    assert_eq!(guest.body("return (await import('path')).sep + require('path').sep").unwrap(), "minemine");
}

/// `input` and `getCanvas` are the body's own.
#[test]
fn parameters_are_the_bodys_own() {
    check(
        "delete globalThis.getCanvas; delete globalThis.input; return [typeof getCanvas, typeof input]",
        json!(["function", "undefined"]),
    );
    check("let input = 5; return input", json!(5));
    check("const getCanvas = 6; return getCanvas", json!(6));
    check("function input() { return 7 } return input()", json!(7));
}

/// A run that was refused memory says so in its figures.
#[test]
fn the_figures_of_a_run_without_memory() {
    let mut guest = Guest::new();
    let report = guest.report("const kept = []; while (true) kept.push(new Array(10000).fill(1.5))", false, None);
    let limit = setup().limits.memory_bytes;
    assert!(report.usage.memory_bytes >= limit, "{} of {limit}", report.usage.memory_bytes);
    let mut guest = Guest::new();
    let before = guest.report("return 1", false, None).usage.memory_bytes;
    let after = guest.report("let big = new Uint8Array(9 << 20); big = null; return 1", false, None).usage.memory_bytes;
    assert!(after > before + (8 << 20), "{before} {after}");
}

/// What JSON has no form for is told, with what to write, and shown.
#[test]
fn values_that_vanish_are_told() {
    let warnings = |code: &str| Guest::new().report(code, false, None).warnings;
    let told = |code: &str, words: &[&str]| {
        let said = warnings(code).join("\n");
        assert!(!said.is_empty() && words.iter().all(|word| said.contains(word)), "{code}: {said}");
    };
    told("return new Map([['a', 1]])", &["The value is a Map", "Object.fromEntries(map)", "Map(1) { 'a' => 1 }"]);
    told("return { tags: new Set([1]), n: NaN }", &["`tags` is a Set", "[...set]", "`n` is NaN"]);
    told("return [/x/g]", &["`[0]` is a RegExp", "String(regexp)"]);
    told("return new Float64Array(2)", &["a Float64Array", "Array.from"]);
    told("return { list: [{ f() {} }] }", &["`list[0].f` is a function", "nothing"]);
    told("return () => 1", &["a function", "null"]);
    told("return new Date('x')", &["an invalid Date"]);
    told("return Infinity", &["Infinity"]);
    told("/(a)/.exec('a'); return RegExp.$1", &["`RegExp.$1` is undefined in this engine", "`exec`"]);
    told("return { p: Promise.resolve(1) }", &["await"]);
    for silent in [
        "return { a: [1, 'x', null, true, new Date(0)], b: undefined }",
        "return { toJSON() { return 1 }, m: new Map() }",
        "return 1.5",
        "const RegExp = { $1: 1 }; return RegExp.$1",
        "return 'NaN'",
        "return { get x() { throw 1 } } && 1",
        "return new Proxy({}, {})",
    ] {
        assert_eq!(warnings(silent), Vec::<String>::new(), "{silent}");
    }
    assert!(Guest::new().report("const f = () => 1", true, None).warnings.is_empty());
    assert_eq!(Guest::new().report("new Set([1])", true, None).warnings.len(), 1);
    // A BigInt is an error already; it says what to write.
    let fault = Guest::new().body("return { n: 10n }").unwrap_err();
    assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains("String(x)")), "{fault:?}");
}

/// Where it is asked for, the last expression is the value of code without a `return`.
#[test]
fn the_last_expression_where_it_is_asked_for() {
    let run = |code: &str, last_value: bool| {
        let mut guest = Guest::new();
        let report = guest.world.run(&RunRequest { last_value, ..RunRequest::new(code) }, &mut guest.desk);
        (report.result.unwrap().value, report.warnings.len())
    };
    assert_eq!(run("const a = 1\na + 1", true), (json!(2), 1));
    assert_eq!(run("const a = 1\na + 1", false), (Value::Null, 0));
    assert_eq!(run("if (true) { 5 } else { 6 }", true), (json!(5), 1));
    assert_eq!(run("if (input) return 1\n2", true), (Value::Null, 0));
    assert_eq!(run("console.log(1)", true), (Value::Null, 0));
    assert_eq!(run("const f = () => { return 1 }\nf()", true), (json!(1), 1));
    let place = |code: &str| {
        let mut guest = Guest::new();
        let report = guest.world.run(&RunRequest { last_value: true, ..RunRequest::new(code) }, &mut guest.desk);
        report.result.unwrap_err().position.map(|at| (at.line, at.column))
    };
    assert_eq!((place("null.x"), place("1\nnull.x")), (Some((1, 1)), Some((2, 1))));
    assert_eq!(run("await Promise.resolve({ a: [1] })", true), (json!({"a": [1]}), 1));
}
