//! Programs as models write them, in every engine: the habits that are understood, and what is told of values and calls.

use cove_core::RunRequest;
use serde_json::{Value, json};

use super::Suite;

impl Suite {
    /// Sloppy names, fences, names of Node's, tries that may fail: the same value in every engine.
    pub fn habits_are_understood(&self) {
        let cases: &[(&str, Value)] = &[
            ("x = 5; for (i = 0; i < 3; i++) x += i; return x", json!(8)),
            ("```js\nconst a = 1\nreturn a\n```", json!(1)),
            ("function f() { return 1 } function f() { return 2 } return f()", json!(2)),
            ("var await = 3; return await", json!(3)),
            ("module.exports = { a: 1 }", json!({"a": 1})),
            ("module.exports = (input) => input.n + 1", json!(42)),
            ("return require('path').extname('a/b.txt')", json!(".txt")),
            (
                "return require('node:crypto').createHash('sha1').update('a').digest('hex')",
                json!("86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
            ),
            ("return Buffer.from('hé').toString('hex')", json!("68c3a9")),
            ("return [process.env.HOME ?? null, process.argv.length]", json!([null, 2])),
            (
                "const e = new (require('events'))(); let n = 0; e.on('x', (v) => { n += v }); e.emit('x', 4); return n",
                json!(4),
            ),
            ("try { require('fs') } catch (e) { return e.code }", json!("MODULE_NOT_FOUND")),
            ("try { await import('fs') } catch (e) { return e.code ?? e.name }", json!("ERR_IMPORT_NOT_ALLOWED")),
            ("return (await import('node:util')).format('%s!', 'hi')", json!("hi!")),
            ("alert('hello'); return [prompt('?'), confirm('?')]", json!([null, false])),
            (
                "delete globalThis.getCanvas; delete globalThis.input; return [typeof getCanvas, input.n]",
                json!(["function", 41]),
            ),
            ("return 'istanbul'.toLocaleUpperCase('tr')", json!("İSTANBUL")),
            ("return Promise.any([Promise.reject(1)]).catch((e) => e.message)", json!("All promises were rejected")),
        ];
        for (code, expected) in cases {
            let request = RunRequest { input: Some(json!({"n": 41})), ..self.request(*code) };
            let answer = self.run(request).answer();
            assert_eq!(&answer, expected, "{} engine: {code}", self.engine.name());
        }
    }

    /// The call that failed by its own name, its place, and what was meant.
    pub fn failed_calls_are_named(&self) {
        for (code, callee, hint) in [
            ("[1].forEch(x => x)", "[1].forEch", "`forEach`"),
            ("const a = {}; a.foo(new Date())", "a.foo", ""),
            ("const s = 'x'; s.toUppercase(String(1))", "s.toUppercase", "`toUpperCase`"),
            ("const list = { a: 1 }; list.map((x) => x)", "list.map", "method of an array"),
            ("const f = 1; f(parseInt('3'))", "f", ""),
            ("const cart = { addItem() {} }; cart.additem(1)", "cart.additem", "`addItem`"),
        ] {
            let report = self.run(self.request(code));
            let Some(fault) = report.fault() else { panic!("{code} came to an end") };
            assert_eq!(
                fault.message,
                format!("TypeError: {callee} is not a function"),
                "{} engine",
                self.engine.name()
            );
            let said = fault.hint.as_deref().unwrap_or_default();
            assert!(said.contains(hint), "{code}: {said}");
        }
    }

    /// What JSON loses is told, and so is code that gives nothing.
    pub fn lost_values_are_told(&self) {
        let warnings = |code: &str, last_value: bool| {
            let shot = self.run(RunRequest { last_value, ..self.request(code) });
            (shot.answer(), shot.warnings.join("\n"))
        };
        for (code, word) in [
            ("return new Map([['a', 1]])", "Object.fromEntries(map)"),
            ("return { tags: new Set([1]) }", "`tags` is a Set"),
            ("return [NaN]", "`[0]` is NaN"),
            ("return { f() {} }", "`f` is a function"),
            ("return new Uint8Array(2)", "Array.from"),
            ("const a = 1", "no `return`"),
        ] {
            let (_, said) = warnings(code, false);
            assert!(said.contains(word), "{} engine: {code}: {said:?}", self.engine.name());
        }
        assert_eq!(warnings("return { a: [1, 'x', null, new Date(0)] }", false).1, "");
        assert_eq!(warnings("console.log(1)", false).1, "");
        let (value, said) = warnings("const a = 20\na * 2", true);
        assert!(value == 40 && said.contains("last expression"), "{value} {said}");
        assert_eq!(warnings("const a = 20\na * 2", false).0, Value::Null);
    }
}
