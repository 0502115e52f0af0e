//! What a run means to its host: values, answers, tools, faults and their kinds, clock and chance.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use cove_core::{Clock, Fault, FaultKind, ImportPolicy, Limits, Position, Random, RunRequest, SessionFate};
use cove_world::{ToolDecl, World, WorldError};
use host::{Desk, Guest, setup, value};
use serde_json::{Value, json};

fn fault(guest: &mut Guest, code: &str) -> Fault {
    guest.cell(code).unwrap_err()
}

/// Cells keep their names; a failed one leaves what it did.
#[test]
fn state_persists_from_cell_to_cell() {
    let mut guest = Guest::new();
    guest.cell("const a = 1; let b = 2; var c = 3; function f() { return a + b + c } class K { x = 4 }").unwrap();
    assert_eq!(guest.cell("b = 5; f() + new K().x").unwrap(), 13);
    assert_eq!(fault(&mut guest, "a = 2").kind, FaultKind::Exception);
    assert_eq!(guest.cell("const a = 10; a").unwrap(), 10);
    assert_eq!(fault(&mut guest, "b = 6; throw new Error('x')").message, "Error: x");
    assert_eq!(guest.cell("b").unwrap(), 6);
    assert_eq!(guest.cell("const { p, q: [r] } = { p: 1, q: [2] }; p + r").unwrap(), 3);
    assert_eq!(guest.cell("await Promise.resolve(7)").unwrap(), 7);
    assert_eq!(fault(&mut guest, "while (true) {}").kind, FaultKind::MaxOperations);
    assert_eq!(guest.cell("[a, b, f()]").unwrap(), json!([10, 6, 19]));
}

/// CF-05, CF-06: static imports are refused even when listed; dynamic ones by the list.
#[test]
fn imports_by_the_list() {
    let mut setup = setup();
    setup.imports = ImportPolicy {
        authorized: vec!["greet".into(), "maths.*".into(), "a".into(), "b".into(), "broken".into(), "ghost".into()],
        modules: [
            ("greet", "export const hello = (n) => `hello ${n}`; export default 42;"),
            ("maths.add", "module.exports = { add: (a, b) => a + b }; globalThis.loads = (globalThis.loads ?? 0) + 1;"),
            ("a", "import { b } from 'b'; export const a = 1; export const sum = () => a + b;"),
            ("b", "import * as other from 'a'; export const b = 2; export const seen = () => other.a;"),
            ("broken", "export const x = ;"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into(),
    };
    let mut guest = Guest::with(&setup);
    assert_eq!(fault(&mut guest, "import x from 'greet'").kind, FaultKind::Refused);
    assert_eq!(
        guest.cell("const m = await import('greet'); [m.hello('you'), m.default]").unwrap(),
        json!(["hello you", 42])
    );
    assert_eq!(
        guest
            .cell(
                "const { add } = await import('maths.add'); (await import('maths.add')).default.add(add(1, 2), loads)"
            )
            .unwrap(),
        4
    );
    assert_eq!(guest.cell("(await import('a')).sum() + (await import('b')).seen()").unwrap(), 4);
    let refused = fault(&mut guest, "await import('fs')");
    assert_eq!(refused.kind, FaultKind::ImportNotAllowed);
    let refused = fault(&mut guest, "const name = 'f' + 's'; await import(name)");
    assert_eq!(refused.kind, FaultKind::ImportNotAllowed);
    assert!(refused.message.starts_with("Import not allowed: fs") && refused.message.contains("greet"), "{refused:?}");
    assert_eq!(guest.cell("await import('f' + 's').catch((e) => e.code)").unwrap(), "ERR_IMPORT_NOT_ALLOWED");
    assert!(fault(&mut guest, "await import('broken')").message.starts_with("SyntaxError: broken: "));
    assert!(fault(&mut guest, "await import('ghost')").message.contains("no text was given"));
    assert_eq!(guest.cell("1").unwrap(), 1);
}

/// CF-07: a tool that throws.
#[test]
fn tools_answer_and_fail() {
    let mut guest = Guest::new();
    guest.desk.tool("add", |args| Ok(json!(args[0].as_f64().unwrap() + args[1].as_f64().unwrap())));
    guest.desk.tool("echo", |args| Ok(Value::from(args.to_vec())));
    guest.desk.tool("fail", |_| Err("no luck".into()));
    guest.desk.tool("wait", |args| Ok(args[0].clone()));
    guest.tools(&[("add", false), ("echo", false), ("fail", false), ("wait", true)]);
    assert_eq!(guest.cell("await add(1, 2)").unwrap(), 3.0);
    assert_eq!(guest.cell("wait(5) + 1").unwrap(), 6);
    assert_eq!(guest.cell("const [bytes, { inner }] = await echo(new Uint8Array([1, 2]), { inner: new Uint8Array(3) }); [bytes instanceof Uint8Array, [...bytes], inner.length]").unwrap(), json!([true, [1, 2], 3]));
    assert_eq!(guest.desk.calls.last().unwrap().1[0], json!({"$bytes": "AQI="}));
    let failed = fault(&mut guest, "const x = 1;\nawait fail()");
    assert_eq!((failed.kind, failed.message.as_str()), (FaultKind::Tool, "Tool execution failed: no luck"));
    assert_eq!(failed.position.unwrap().line, 2);
    assert_eq!(
        guest.cell("try { await fail() } catch (e) { [e.code, e.message, e instanceof Error] }").unwrap(),
        json!(["ERR_TOOL_PROXY_FAIL", "Tool execution failed: no luck", true])
    );
    // The same error object, thrown again later, is still a tool's; a copy of its looks is not.
    assert_eq!(
        fault(&mut guest, "let kept; try { await fail() } catch (e) { kept = e } throw kept").kind,
        FaultKind::Tool
    );
    assert_eq!(
        fault(&mut guest, "throw Object.assign(new Error(kept.message), { code: kept.code })").kind,
        FaultKind::Exception
    );
    assert_eq!(guest.cell("typeof add").unwrap(), "function");
    assert_eq!(fault(&mut guest, "add = 1").kind, FaultKind::Refused);
    assert_eq!(fault(&mut guest, "let add = 1").kind, FaultKind::Refused);
}

/// A thousand calls at once, answered in the opposite order; sync calls in between keep what comes for others.
#[test]
fn a_thousand_calls_at_once() {
    let mut guest = Guest::new();
    guest.desk.tool("id", |args| Ok(args[0].clone()));
    guest.desk.tool("now", |args| Ok(args[0].clone()));
    guest.desk.backwards = true;
    guest.tools(&[("id", false), ("now", true)]);
    let sum = guest.cell("const all = Array.from({ length: 1000 }, (_, i) => id(i)); (await Promise.all(all)).reduce((a, b) => a + b)").unwrap();
    assert_eq!(sum, 499_500);
    guest.desk.backwards = false;
    assert_eq!(
        guest.cell("const p = id('first'); const s = now('second'); [await p, s]").unwrap(),
        json!(["first", "second"])
    );
}

/// What is still on its way when a run ends does not reach the next one.
#[test]
fn the_end_of_a_run_is_the_end_of_its_calls() {
    let mut guest = Guest::new();
    guest.desk.tool("id", |args| Ok(args[0].clone()));
    guest.tools(&[("id", false)]);
    guest.cell("var late = []; id(1).then((v) => late.push(v)); setTimeout(() => late.push('timer'), 1); setInterval(() => late.push('interval'), 1); 0").unwrap();
    assert_eq!(guest.cell("await new Promise((r) => setTimeout(r, 20)); late").unwrap(), json!([]));
    guest.cell("setTimeout(() => {}, 1); try { final_answer(1) } finally { id(2) }").unwrap();
    assert_eq!(guest.desk.calls.len(), 1);
    let mut guest = Guest::new();
    guest.desk.deaf = true;
    guest.tools(&[("id", false)]);
    let report = guest.report("await id(1)", true, Some(10));
    assert_eq!((report.result.unwrap_err().kind, report.fate), (FaultKind::EngineLost, SessionFate::Lost));
}

/// CF-08, CF-09, and where the finger points.
#[test]
fn faults_have_kinds_and_places() {
    let check = |code: &str, kind: FaultKind, message: &str, line: u32, column: u32| {
        let fault = Guest::new().body(code).unwrap_err();
        assert_eq!(
            (fault.kind, fault.message.as_str(), fault.position),
            (kind, message, Some(Position { line, column })),
            "{code}\n{fault:?}"
        );
        let frame = fault.frame.unwrap();
        assert!(frame.contains(&format!("{line}:{column}")) && frame.contains('^'), "{frame}");
    };
    use FaultKind::{Exception, Syntax};
    check("throw new Error('x')", Exception, "Error: x", 1, 11);
    check("\n\n  null.foo", Exception, "TypeError: cannot read property 'foo' of null", 3, 3);
    check("const s = 'ü€😀';\nconst t = 'ü€😀'; missing", Exception, "ReferenceError: missing is not defined", 2, 18);
    check("const s = 'ü€😀'; missing", Exception, "ReferenceError: missing is not defined", 1, 18);
    let call = |code: &str, callee: &str, column: u32| {
        check(&format!("\n{code}"), Exception, &format!("TypeError: {callee} is not a function"), 2, column);
        check(code, Exception, &format!("TypeError: {callee} is not a function"), 1, column);
    };
    call("const o = {}; o.nope()", "o.nope", 17);
    call("[1].forEch(x => x)", "[1].forEch", 5);
    call("const a = {}; a.foo(new Date())", "a.foo", 17);
    call("'abc'.foo(parseInt('3'))", "'abc'.foo", 7);
    call("const s = 'x', n = 1; s.foo(Math.max(n, parseInt(n)))", "s.foo", 25);
    call("const s = 'x', n = 1; s.at(Math.maks(n, parseInt(n)))", "Math.maks", 33);
    call(
        "const bytes = new Uint8Array(3); crypto.subtle.encapsulate('raw', bytes, { name: 'HMAC' }, false, [])",
        "crypto.subtle.encapsulate",
        48,
    );
    call("const o = { a() { return {} } }, x = 1; return o.a(x).b(x + 1)", "o.a(x).b", 55);
    call("const f = 1; return [1, 2].map((n) => f(n, String(n)))", "f", 39);
    call("const o = {}; console.log(o.sum(1, 2).toFixed(2))", "o.sum", 29);
    call("const o = {}; await Promise.all([1].map((x) => o.load(x)))", "o.load", 50);
    call("const o = {}; return `${o.show(String(1))}`", "o.show", 27);
    call("const o = { k: 'm' }; return o[o.k](String(2))", "o[o.k]", 32);
    call("const list = { items: 1 }; for (const x of list.items.entries()) {}", "list.items.entries", 55);
    check("\nconst K = {}; new K.Thing(String(1))", Exception, "TypeError: K.Thing is not a constructor", 2, 21);
    check("\nreturn [1].map(3)", Exception, "TypeError: an argument of [1].map is not a function", 2, 12);
    assert_eq!(
        Guest::new().body("try { [1].forEch(String(1)) } catch (e) { return e.message }").unwrap(),
        "[1].forEch is not a function"
    );
    assert_eq!(
        Guest::new().body("return (async () => { 'a'.toUppercase(String(1)) })().catch((e) => `${e}`)").unwrap(),
        "TypeError: 'a'.toUppercase is not a function"
    );
    let hint = Guest::new().body("[1].forEch(x => x)").unwrap_err().hint;
    assert_eq!(hint.as_deref(), Some("Did you mean `forEach`?"));
    check(
        "const f = (n: number) => { throw new RangeError('r') };\nfor (let i = 0; i < 3; i++) f(i)",
        Exception,
        "RangeError: r",
        1,
        38,
    );
    check("class Mine extends Error {}\nthrow new Mine('m')", Exception, "Mine: m", 2, 11);
    check(
        "const cause = new TypeError('b');\nthrow new Error('a', { cause })",
        Exception,
        "Error: a (cause: TypeError: b)",
        2,
        11,
    );
    check(
        "const one = new Error('one');\nthrow new AggregateError([one, 2], 'both')",
        Exception,
        "AggregateError: both [Error: one; Uncaught 2]",
        2,
        27,
    );
    check("[1].map((x) => {\n  return x.y.z })", Exception, "TypeError: cannot read property 'z' of undefined", 2, 10);
    check("let a = ;", Syntax, &Guest::new().body("let a = ;").unwrap_err().message, 1, 9);
    check("await Promise.reject(new Error('late'))", Exception, "Error: late", 1, 26);
    check(
        "async function f() {\n  await null;\n  throw new Error('deep')\n}\nawait f()",
        Exception,
        "Error: deep",
        3,
        13,
    );
    for (code, message) in [
        ("throw 'x'", "Uncaught \"x\""),
        ("throw { a: 1 }", "Uncaught { a: 1 }"),
        ("throw null", "Uncaught null"),
        ("return Promise.reject(undefined)", "Uncaught undefined"),
    ] {
        let fault = Guest::new().body(code).unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (Exception, message));
    }
}

/// A function that an earlier cell defined fails in that cell's own text.
#[test]
fn an_old_cells_function_points_into_its_own_text() {
    let mut guest = Guest::new();
    guest.cell("const first = 1;\nfunction risky(v) {\n  return v.deep.er\n}").unwrap();
    guest.cell("2").unwrap();
    let fault = fault(&mut guest, "// one\n// two\nrisky({})");
    assert_eq!(fault.position, Some(Position { line: 3, column: 10 }));
    assert!(fault.frame.unwrap().contains("return v.deep.er"));
}

/// Missing things are answered with what is there.
#[test]
fn hints_name_what_is_there() {
    for (code, word) in [
        ("require('fs')", "import"),
        ("process.env", "variables"),
        ("document.title", "browser"),
        ("Buffer.from('x')", "Uint8Array"),
        ("localStorage.a", "browser"),
    ] {
        // A function body is given some of these; a cell is not.
        let fault = Guest::new().cell(code).unwrap_err();
        assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains(word)), "{code}: {fault:?}");
    }
}

/// final_answer at the level of the report.
#[test]
fn answers_are_marked() {
    let mut guest = Guest::new();
    for code in [
        "final_answer({ a: 1 }); throw 1",
        "await (async () => { await null; final_answer({ a: 1 }) })()",
        "[1].forEach(() => final_answer({ a: 1 }))",
        "try { final_answer({ a: 1 }) } catch { }",
        "Promise.resolve().then(() => final_answer({ a: 1 })); await new Promise(() => {})",
        "let o = { a: 1 }; try { final_answer(o) } finally { o.a = 2 }",
    ] {
        let ended = guest.report(code, true, Some(1000)).result.unwrap();
        assert_eq!((ended.value, ended.is_final_answer), (json!({"a": 1}), true), "{code}");
    }
    assert!(guest.desk.calls.is_empty());
    let ended = guest.report(
        "console.log('before'); try { final_answer() } finally { console.log('after'); var ran = true }",
        true,
        Some(1000),
    );
    assert_eq!(ended.result.unwrap().value, Value::Null);
    assert_eq!(guest.desk.text(), "before");
    assert_eq!(guest.cell("ran").unwrap(), true);
    assert!(!guest.report("1", true, Some(10)).result.unwrap().is_final_answer);
}

/// The counter: exactly so many, refilled for every run, and no limit where none is set.
#[test]
fn steps_are_counted() {
    let mut guest = Guest::new();
    let report = guest.report("for (let i = 0; i < 100; i++) {}", true, Some(100));
    assert_eq!((report.result.is_ok(), report.usage.operations), (true, 100));
    let report = guest.report("for (let i = 0; i < 101; i++) {}", true, Some(100));
    assert_eq!(
        (report.result.unwrap_err().kind, report.usage.operations, report.fate),
        (FaultKind::MaxOperations, 100, SessionFate::Usable)
    );
    let report = guest.report("let n = 0; for (const x of [1, 2, 3]) n++; while (n < 10) n++; do { n-- } while (n > 0); for (const k in { a: 1 }) n++; for await (const x of [1]) n++; n", true, Some(100));
    assert_eq!((report.result.unwrap().value, report.usage.operations), (json!(2), 3 + 7 + 10 + 1 + 1));
    let report = guest.report("let n = 0; for (let i = 0; i < 200000; i++) n++; return n", false, None);
    assert_eq!(report.result.unwrap().value, 200_000);
    // Array methods are not counted: a hundred thousand elements stay cheap.
    let report = guest.report("Array.from({ length: 100000 }, (_, i) => i).map((x) => x + 1).length", true, Some(10));
    assert_eq!(report.result.unwrap().value, 100_000);
}

/// Jobs of a run that was stopped are thrown away: they do not wake up in the next one.
#[test]
fn a_stopped_runs_jobs_are_gone() {
    let mut guest = Guest::new();
    guest.cell("var woke = []").unwrap();
    for code in [
        "(async () => { await null; await null; woke.push('async') })(); Promise.resolve().then(() => 0).then(() => woke.push('then')); while (true) {}",
        "Promise.resolve().then(() => { while (true) {} }); for (let i = 0; i < 100; i++) Promise.resolve().then(() => 0).then(() => 0).then(() => woke.push(i)); await new Promise(() => {})",
        "setTimeout(() => woke.push('timer'), 1); while (true) {}",
        "(async function* () { try { yield 1 } finally { woke.push('finally') } })().next(); while (true) {}",
    ] {
        assert_eq!(fault(&mut guest, code).kind, FaultKind::MaxOperations, "{code}");
        assert_eq!(
            guest.cell("await null; await new Promise((r) => setTimeout(r, 5)); woke").unwrap(),
            json!([]),
            "{code}"
        );
    }
}

#[test]
fn memory_ends_the_world_and_is_told_by_kind() {
    let mut setup = setup();
    setup.limits = Limits { memory_bytes: 8 << 20, ..Limits::EXECUTOR };
    for code in [
        "const a = []; for (;;) a.push({ a: [1, 2, 3] })",
        "const a = []; try { for (;;) a.push(new Array(10000).fill(0)) } catch (e) { 'caught' }",
        "new ArrayBuffer(1 << 28)",
        "'x'.repeat(1 << 28)",
        "await Promise.all(Array.from({ length: 1e6 }, async () => { await null; return new Array(100).fill(1) }))",
        "JSON.parse('[' + '[],'.repeat(1e6) + '[]]')",
        "new Map(Array.from({ length: 1e6 }, (_, i) => [i, i]))",
    ] {
        let mut guest = Guest::with(&setup);
        let report = guest.report(code, true, Some(1 << 40));
        let fault = report.result.unwrap_err();
        assert_eq!(
            (fault.kind, fault.message.as_str(), report.fate),
            (FaultKind::Memory, "Memory limit exceeded (8388608)", SessionFate::Lost),
            "{code}"
        );
    }
}

/// Cycles are garbage like any other: they do not use up the memory of a session that holds much.
#[test]
fn cycles_are_collected_before_memory_runs_out() {
    for (limit, live) in [(4, 20_000), (16, 600_000), (64, 1_700_000)] {
        let mut setup = setup();
        setup.limits = Limits { memory_bytes: limit << 20, ..Limits::EXECUTOR };
        let mut guest = Guest::with(&setup);
        guest.report(&format!("var live = new Array({live}).fill(1.5)"), true, Some(10)).result.unwrap();
        let code = "let n = 0; for (let i = 0; i < 30000; i++) { const a = { n, list: [1, 2, 3] }; a.self = a; a.f = () => a; n++ } n";
        let report = guest.report(code, true, Some(1 << 20));
        assert_eq!(report.result.map(|ended| ended.value), Ok(json!(30_000)), "{limit} MiB");
    }
}

#[test]
fn clock_and_chance_as_the_session_has_them() {
    let run = |clock, random, seed: u8, code: &str| {
        let mut setup = setup();
        (setup.clock, setup.random, setup.seed) = (clock, random, [seed; 32]);
        Guest::with(&setup).body(code)
    };
    for code in [
        "Date.now()",
        "new Date()",
        "Date()",
        "performance.now()",
        "Math.random()",
        "crypto.randomUUID()",
        "crypto.getRandomValues(new Uint8Array(1))",
    ] {
        let fault = run(Clock::None, Random::None, 1, &format!("return {code}")).unwrap_err();
        assert!(
            fault.message.starts_with("TypeError: ") && fault.message.contains("not available"),
            "{code}: {}",
            fault.message
        );
    }
    assert_eq!(run(Clock::None, Random::None, 1, "return new Date(5).getTime() + Date.UTC(1970, 0, 1)").unwrap(), 5);
    let fixed = run(
        Clock::Fixed(86_400_000),
        Random::None,
        1,
        "await new Promise((r) => setTimeout(r, 3)); return [Date.now(), new Date().toISOString(), performance.now()]",
    );
    assert_eq!(fixed.unwrap(), json!([86_400_000, "1970-01-02T00:00:00.000Z", 0]));
    let numbers = "return [Math.random(), Math.random(), crypto.randomUUID()]";
    let seeded = |number, seed| run(Clock::None, Random::Seeded(number), seed, numbers).unwrap();
    assert_eq!(seeded(7, 1), seeded(7, 2));
    assert_ne!(seeded(7, 1), seeded(8, 1));
    let real = |seed| run(Clock::Real, Random::Real, seed, numbers).unwrap();
    assert_ne!(real(1), real(2));
}

#[test]
fn variables_are_frozen_and_can_be_sent_again() {
    let mut guest = Guest::new();
    let send = |guest: &mut Guest, value: Value| guest.world.set_variables(value.as_object().unwrap());
    send(&mut guest, json!({"data": {"list": [1, {"deep": true}]}, "n": 1})).unwrap();
    assert_eq!(guest.cell("[data.list[1].deep, n, Object.isFrozen(data.list[1])]").unwrap(), json!([true, 1, true]));
    assert_eq!(fault(&mut guest, "data.list.push(2)").kind, FaultKind::Exception);
    send(&mut guest, json!({"data": 5})).unwrap();
    assert_eq!(guest.cell("data").unwrap(), 5);
    assert_eq!(guest.cell("let data = 6; data").unwrap(), 6);
    for name in ["let", "a-b", "__cove_n", "final_answer", ""] {
        assert!(matches!(send(&mut guest, json!({ name: 1 })), Err(WorldError::Name { .. })), "{name}");
    }
    guest.tools(&[("tool", false)]);
    assert!(send(&mut guest, json!({"tool": 1})).is_err());
    assert!(guest.world.set_tools(&[ToolDecl { name: "x y".into(), sync: false }]).is_err());
}

#[test]
fn input_is_a_variable_and_a_global() {
    let mut guest = Guest::new();
    assert_eq!(guest.with_input("return [input.a, globalThis.input.a]", json!({"a": 1})).unwrap(), json!([1, 1]));
    assert_eq!(guest.body("return [typeof input, 'input' in globalThis]").unwrap(), json!(["undefined", true]));
    assert_eq!(guest.with_input("input.push(3); return input", json!([1, 2])).unwrap(), json!([1, 2, 3]));
    assert_eq!(guest.with_input("return input", json!(null)).unwrap(), Value::Null);
}

#[test]
fn results_are_json_safe() {
    assert_eq!(
        value("return [undefined, () => 1, NaN, new Date(0), { toJSON: () => 't' }]"),
        json!([null, null, null, "1970-01-01T00:00:00.000Z", "t"])
    );
    let mut guest = Guest::new();
    let long = guest.body("return 'ü'.repeat(200000)").unwrap_err();
    assert_eq!(
        (long.kind, long.details["maxJsonLength"].clone(), long.details["jsonLength"].clone()),
        (FaultKind::ResultTooLarge, json!(200_000), json!(200_002))
    );
    assert!(guest.body("return 'ü'.repeat(199998)").is_ok());
    for code in ["const a = {}; a.a = a; return a", "return 1n", "return { toJSON() { throw new Error('no') } }"] {
        assert_eq!(guest.body(code).unwrap_err().kind, FaultKind::NotSerializable, "{code}");
    }
}

/// Two worlds beside each other know nothing of each other, and a dropped one leaves nothing behind.
#[test]
fn worlds_are_separate() {
    let mut one = Guest::new();
    let mut two = Guest::new();
    one.cell("globalThis.secret = 1").unwrap();
    assert_eq!(two.cell("typeof secret").unwrap(), "undefined");
    drop(one);
    assert_eq!(two.cell("1 + 1").unwrap(), 2);
}

/// What was loaded before the fork works as another thread's, too: the stack is measured where code runs.
#[test]
fn deep_recursion_is_an_exception_also_on_a_deep_stack() {
    fn down(depth: u32, world: &mut World) -> Fault {
        let room = [depth as u8; 512];
        if depth > 0 {
            let fault = down(depth - 1, world);
            assert_eq!(room[0], depth as u8);
            return fault;
        }
        world.run(&RunRequest::new("(function f() { f() })()"), &mut Desk::default()).result.unwrap_err()
    }
    let mut world = World::new().unwrap();
    world.configure(&setup()).unwrap();
    assert_eq!(down(200, &mut world).message, "RangeError: Maximum call stack size exceeded");
    assert_eq!(down(0, &mut world).kind, FaultKind::Exception);
}

/// `fetch` is a call of the reserved tool where the session has a network.
#[test]
fn fetch_goes_through_the_host() {
    let mut setup = setup();
    setup.network = true;
    let mut guest = Guest::with(&setup);
    guest.desk.tool("__cove_fetch", |args| {
        assert_eq!(args[0]["method"], "POST");
        Ok(json!({"status": 200, "statusText": "OK", "url": args[0]["url"], "headers": [["content-type", "application/json"]], "body": {"$bytes": "eyJhIjoxfQ=="}}))
    });
    let code = "const r = await fetch('https://h.example/x', { method: 'post', body: 'hi' }); return [r.ok, r.status, r.headers.get('Content-Type'), await r.json(), r.url]";
    assert_eq!(guest.body(code).unwrap(), json!([true, 200, "application/json", {"a": 1}, "https://h.example/x"]));
    assert_eq!(guest.desk.calls[0].1[0]["body"], json!({"$bytes": "aGk="}));
    let aborted = "const c = new AbortController(); c.abort(); return await fetch('https://h.example/', { signal: c.signal }).catch((e) => e.name)";
    assert_eq!(guest.body(aborted).unwrap(), "AbortError");
    assert_eq!(guest.desk.calls.len(), 1);
    // A failure of the host's is a network's error, not a tool's.
    guest.desk.tool("__cove_fetch", |_| Err("h.example:443 cannot be reached".into()));
    let fault = guest.body("await fetch('https://h.example/')").unwrap_err();
    assert_eq!(fault.kind, FaultKind::Exception);
    assert_eq!(fault.message, "TypeError: fetch failed: h.example:443 cannot be reached");
}
