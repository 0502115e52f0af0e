//! Sessions: cells that keep their state, tools, logs, answers, pictures, policies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cove_core::{
    Clock, Effects, FaultKind, ImportPolicy, Limits, LogLevel, LogLine, Random, RunRequest, Session, SessionFate,
    SessionOptions, ToolError, ToolSpec,
};
use serde_json::{Value, json};
use world::{body, cell, failed, finished, is, tools, world};

async fn value(session: &mut Box<dyn Session>, code: &str) -> Value {
    finished(session.run(&cell(code)).await, code).value
}

#[tokio::test]
async fn cells_keep_their_state_and_survive_failures() {
    let world = world(1);
    let mut session = world.open(SessionOptions::executor()).await;
    for (code, expected) in [
        ("let a = 1; const b = [1, 2]; function f(x) { return x + a } class C { m() { return 7 } }", None),
        ("a += 1; f(40)", Some(json!(42))),
        ("b.push(3); [b.length, new C().m(), await Promise.resolve(5)]", Some(json!([3, 7, 5]))),
        ("var name = {first: 'x'}; let status = 3; name.first + status", Some(json!("x3"))),
        ("name.first + status", Some(json!("x3"))),
        ("const { p, q: [r] } = { p: 1, q: [2] }; p + r", Some(json!(3))),
        ("let a = 'again'; a", Some(json!("again"))),
        ("if (a) { 'yes' } else { 'no' }", Some(json!("yes"))),
        ("eval('1 + 1') + new Function('x', 'return x')(40)", Some(json!(42))),
        ("const t: number = 3; t", Some(json!(3))),
        ("document.body.innerHTML = '<p>hi</p>'; document.body.textContent", Some(json!("hi"))),
        ("document.querySelector('p').textContent", Some(json!("hi"))),
    ] {
        let got = value(&mut session, code).await;
        if let Some(expected) = expected {
            assert_eq!(got, expected, "{code}");
        }
    }
    for (code, kind, message) in [
        ("b = 1", FaultKind::Exception, "TypeError"),
        ("throw new Error('x')", FaultKind::Exception, "Error: x"),
        ("while (true) {}", FaultKind::MaxOperations, "Max operations exceeded (50000)"),
        ("try { for (;;) {} } catch (e) { 'caught' }", FaultKind::MaxOperations, "50000"),
        ("for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }", FaultKind::MaxOperations, "50000"),
        ("for (;;) await 0", FaultKind::MaxOperations, "50000"),
        ("new Promise(() => { for (;;) {} }).catch(() => 1)", FaultKind::MaxOperations, "50000"),
        ("eval('for (;;) {}')", FaultKind::MaxOperations, "50000"),
        ("new Function('for (;;) {}')()", FaultKind::MaxOperations, "50000"),
        ("(async () => {}).constructor('for (;;) {}')()", FaultKind::MaxOperations, "50000"),
        ("({ toJSON() { for (;;) {} } })", FaultKind::MaxOperations, "50000"),
        ("({ get x() { for (;;) {} } })", FaultKind::MaxOperations, "50000"),
        ("eval('__co' + 've_n = 1e9')", FaultKind::Exception, "reserved"),
        ("await import('fs')", FaultKind::ImportNotAllowed, "Import not allowed: fs"),
        ("await import('f' + 's')", FaultKind::ImportNotAllowed, "Import not allowed: fs"),
        ("let let = 1", FaultKind::Syntax, ""),
    ] {
        let report = session.run(&cell(code)).await;
        assert_eq!(report.fate, SessionFate::Usable, "{code}: {report:?}");
        is(&failed(report, code), kind, message);
    }
    let report = session.run(&cell("let n = 0; for (let i = 0; i < 1000; i++) n += i; n")).await;
    assert_eq!(report.usage.operations, 1000);
    assert_eq!(finished(report, "loop").value, 499_500);
    assert_eq!(value(&mut session, "[a, b]").await, json!(["again", [1, 2, 3]]));
    // An inline script is code that nobody has seen.
    let inline = "const s = document.createElement('script'); s.append('globalThis.inlined = 1'); document.body.append(s); typeof inlined";
    assert_eq!(value(&mut session, inline).await, "undefined");
    let fault = failed(session.run(&cell("// one\n\n  nothing.here")).await, "position");
    assert_eq!(fault.position.map(|at| (at.line, at.column)), Some((3, 3)));
    session.close().await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn tools_answer_in_order_or_fail_by_name() {
    let world = world(1);
    let mut session = world.open(SessionOptions::one_shot()).await;
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let hear = heard.clone();
    let list = tools(vec![
        ToolSpec::new("add", |call| async move {
            let sum: i64 = call.args.iter().filter_map(Value::as_i64).sum();
            Ok(sum.into())
        }),
        ToolSpec::new("slow", |call| async move {
            tokio::time::sleep(Duration::from_millis(call.args[0].as_u64().unwrap())).await;
            Ok(call.args[0].clone())
        }),
        ToolSpec::new("echo", |call| async move { Ok(call.args.into_iter().next().unwrap_or_default()) }),
        ToolSpec::new("now", |call| async move { Ok(json!({ "got": call.args })) }).sync(),
        ToolSpec::new("fail", |_| async move {
            Err(ToolError { message: "no such file".into(), code: Some("not_found".into()) })
        }),
        ToolSpec::new("failNow", |_| async move { Err(ToolError::new("not now")) }).sync(),
        ToolSpec::new("panics", |_| async move { panic!("a tool's own mistake") }),
        ToolSpec::new("never", |_| async move { std::future::pending().await }),
        ToolSpec::new("hear", move |call| {
            hear.lock().unwrap().push(call.args[0].clone());
            async move { Ok(Value::Null) }
        }),
    ]);
    session.send_tools(list).await.unwrap();
    session.send_variables(json!({"config": {"deep": [1, {"x": 2}]}}).as_object().unwrap().clone()).await.unwrap();
    for (code, expected) in [
        ("return await add(1, 2)", json!(3)),
        ("return await Promise.all([slow(60), slow(1), add(5)])", json!([60, 1, 5])),
        ("return await Promise.race([slow(300), slow(2)])", json!(2)),
        ("return now(1, 'ä😀', {a: [true]})", json!({"got": [1, "ä😀", {"a": [true]}]})),
        ("return [...(await echo(new Uint8Array([1, 2, 255])))]", json!([1, 2, 255])),
        (
            "const r = await echo({b: new Uint8Array(3), c: [1]}); return [r.b instanceof Uint8Array, r.b.length, r.c]",
            json!([true, 3, [1]]),
        ),
        ("return now(new Uint8Array([7])).got[0][0]", json!(7)),
        (
            "try { await fail() } catch (e) { return [e.message, e.code, e.toolCode] }",
            json!(["Tool execution failed: no such file", "ERR_TOOL_PROXY_FAIL", "not_found"]),
        ),
        ("try { failNow() } catch (e) { return e.message }", json!("Tool execution failed: not now")),
        ("try { await panics() } catch (e) { return e.message }", json!("Tool execution failed: the tool broke")),
        ("try { await echo(1n) } catch (e) { return e.name }", json!("TypeError")),
        (
            "try { config.deep[1].x = 3 } catch (e) { return [e.name, config.deep[1].x, Object.isFrozen(config)] }",
            json!(["TypeError", 2, true]),
        ),
    ] {
        let report = session.run(&body(code)).await;
        assert_eq!(report.effects, if report.usage.tool_calls == 0 { Effects::None } else { report.effects });
        assert_eq!(finished(report, code).value, expected, "{code}");
    }
    let report = session.run(&body("await fail()")).await;
    assert_eq!((report.effects, report.usage.tool_calls), (Effects::Committed, 1));
    is(&failed(report, "fail"), FaultKind::Tool, "Tool execution failed: no such file");
    is(&failed(session.run(&body("add = 1")).await, "assign"), FaultKind::Refused, "add");
    is(&failed(session.run(&body("globalThis['a' + 'dd'] = 1")).await, "assign"), FaultKind::Exception, "TypeError");
    // A call that nobody waits for is cancelled with its run; its effects are unknown.
    let report = session.run(&body("never(); return 1")).await;
    assert_eq!((report.effects, report.fate), (Effects::Unknown, SessionFate::Usable));
    // What a finished run has left behind cannot call.
    finished(
        session
            .run(&body("setTimeout(() => hear('late'), 30); Promise.resolve().then(() => hear('soon')); return 1"))
            .await,
        "late",
    );
    // A timer that is due after the late one would have been.
    let next = "await new Promise((end) => setTimeout(end, 60)); await hear('next'); return 2";
    assert_eq!(finished(session.run(&body(next)).await, "next").value, 2);
    assert!(!heard.lock().unwrap().contains(&json!("late")), "{heard:?}");
    for (code, expected) in [
        ("JSON.parse = Promise.prototype.then = Array.prototype.map = null; return await add(20, 22)", json!(42)),
        ("XMLHttpRequest = null; JSON.stringify = null; return now(1).got", json!([1])),
    ] {
        assert_eq!(finished(session.run(&body(code)).await, code).value, expected, "{code}");
    }
    let report = session.run(&RunRequest { timeout_ms: 200, ..body("await never()") }).await;
    assert_eq!((report.effects, report.fate), (Effects::Unknown, SessionFate::Lost));
    is(&failed(report, "never"), FaultKind::Timeout, "Agent execution timed out after 200ms");
    let report = session.run(&body("return 1")).await;
    assert_eq!(report.fate, SessionFate::Lost);
    is(&failed(report, "after"), FaultKind::EngineLost, "gone");
    assert!(session.send_tools(tools(vec![])).await.is_err());
    world.end().await;
}

#[tokio::test]
async fn final_answer_ends_a_run_for_good() {
    let world = world(1);
    let mut session = world.open(SessionOptions::executor()).await;
    session.send_tools(tools(vec![ToolSpec::new("touch", |_| async { Ok(Value::Null) })])).await.unwrap();
    for (code, expected) in [
        ("final_answer(1); 2", json!(1)),
        ("try { final_answer('a') } catch (e) { 'swallowed' }", json!("a")),
        ("try { final_answer('f') } finally { globalThis.ran = true }", json!("f")),
        ("const r = []; try { final_answer(r) } finally { r.push(1); try { final_answer(2) } catch {} }", json!([])),
        ("[1].map(() => final_answer({a: 1}))", json!({"a": 1})),
        ("await Promise.resolve().then(() => final_answer(3)).catch(() => 4)", json!(3)),
        ("final_answer(undefined)", json!(null)),
        ("final_answer(); await new Promise(() => {})", json!(null)),
        ("try { final_answer(5) } catch {} for (;;) {}", json!(5)),
        (
            "const keep = final_answer; new Promise(() => keep(6)).catch(() => {}); await new Promise(() => {})",
            json!(6),
        ),
    ] {
        let report = session.run(&cell(code)).await;
        assert_eq!(report.fate, SessionFate::Usable, "{code}");
        let done = finished(report, code);
        assert_eq!((done.value, done.is_final_answer), (expected, true), "{code}");
    }
    assert_eq!(value(&mut session, "ran").await, true);
    let report =
        session.run(&cell("try { final_answer(1) } catch {}\nfinally { touch(); console.log('after') }")).await;
    assert_eq!((report.effects, report.logs.len()), (Effects::None, 0));
    is(
        &failed(session.run(&cell("const c = {}; c.c = c; final_answer(c)")).await, "cycle"),
        FaultKind::NotSerializable,
        "circular",
    );
    is(&failed(session.run(&cell("final_answer = 1")).await, "assign"), FaultKind::Exception, "");
    assert_eq!(value(&mut session, "1 + 1").await, 2);
    world.end().await;
}

#[tokio::test]
async fn console_lines_are_kept_in_order_and_within_bounds() {
    let world = world(1);
    let sunk: Arc<Mutex<Vec<LogLine>>> = Arc::default();
    let sink = sunk.clone();
    let options = SessionOptions {
        log_levels: vec![LogLevel::Log, LogLevel::Warn, LogLevel::Error],
        log_sink: Some(Arc::new(move |line: &LogLine| sink.lock().unwrap().push(line.clone()))),
        ..SessionOptions::one_shot()
    };
    let mut session = world.open(options).await;
    let code = "console.log('a', 1, {b: [1, 'x']}); console.info('dropped'); console.warn('%s-%d', 'w', 2);
        console.error(new TypeError('bad')); console.log(new Map([['k', new Set([1])]]), [1, , 3], null, undefined, -0, 10n);
        console.group('g'); console.log('in'); console.groupEnd(); console.log(); console.log('two\\nlines');
        const o = {}; o.self = o; console.log(o, () => 1, class K {}, Symbol('s')); return 1";
    let report = session.run(&body(code)).await;
    let lines: Vec<&str> = report.logs.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        lines,
        [
            "a 1 { b: [ 1, 'x' ] }",
            "w-2",
            "[TypeError: bad]",
            "Map(1) { 'k' => Set(1) { 1 } } [ 1, <1 empty item>, 3 ] null undefined -0 10n",
            "g",
            "  in",
            "",
            "two\nlines",
            "<ref *1> { self: [Circular *1] } [Function (anonymous)] [class K] Symbol(s)",
        ]
    );
    assert_eq!(report.logs[1].level, LogLevel::Warn);
    assert_eq!(*sunk.lock().unwrap(), report.logs);
    // Kept also when the run fails, or is killed while it still runs.
    let report = session.run(&body("console.log('before'); throw 1")).await;
    assert_eq!(report.logs[0].text, "before");
    let report = world.report_within("console.log('before'); for (;;) {}", 300).await;
    assert_eq!((report.logs[0].text.as_str(), report.fate), ("before", SessionFate::Lost));
    let report = session.run(&body("for (let i = 0; i < 10_000; i++) console.log('line', i); return 'done'")).await;
    assert!(!report.logs_truncated && report.logs.len() == 10_000 && report.logs[9_999].text == "line 9999");
    let report =
        session.run(&body("for (let i = 0; i < 200_000; i++) console.log('x'.repeat(100)); return 'done'")).await;
    let bytes: usize = report.logs.iter().map(|line| line.text.len() + 1).sum();
    assert!(report.logs_truncated && bytes <= 262_144 && bytes > 262_000, "{bytes}");
    let report = session.run(&body("console.log('y'.repeat(50e6)); return 'done'")).await;
    assert!(report.logs_truncated && report.logs.is_empty());
    world.end().await;
}

#[tokio::test]
async fn canvases_become_pictures() {
    let world = world(2);
    let size = |png: &[u8]| {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        (u32::from_be_bytes(png[16..20].try_into().unwrap()), u32::from_be_bytes(png[20..24].try_into().unwrap()))
    };
    for (code, expected) in [
        ("return 1", vec![]),
        ("return typeof getCanvas", vec![]),
        ("getCanvas().getContext('2d').fillRect(0, 0, 9, 9)", vec![(None, 800, 600)]),
        ("getCanvas(0, 0); return getCanvas(5, 5) === getCanvas()", vec![(None, 800, 600)]),
        ("getCanvas(320); getCanvas(10, 20)", vec![(None, 320, 600)]),
        (
            "getCanvas(30, 40); getCanvas('b.png', 5, 6); getCanvas('a.png')",
            vec![(None, 30, 40), (Some("b.png"), 5, 6), (Some("a.png"), 800, 600)],
        ),
        (
            "const c = getCanvas(10, 10); c.width = 77; document.open(); document.write('x'); document.close(); getCanvas = null; delete window.getCanvas",
            vec![(None, 77, 10)],
        ),
        (
            "HTMLCanvasElement.prototype.toDataURL = () => 'data:,'; document.createElement = null; getCanvas(3, 3)",
            vec![(None, 3, 3)],
        ),
        ("getCanvas(4, 4); final_answer(1)", vec![(None, 4, 4)]),
    ] {
        let done = finished(world.report(code).await, code);
        assert_eq!(done.canvas_error, None, "{code}");
        let got: Vec<_> = done.pictures.iter().map(|p| (p.name.as_deref(), p.width, p.height)).collect();
        assert_eq!(got, expected, "{code}");
        for picture in &done.pictures {
            assert_eq!(size(&picture.png), (picture.width, picture.height), "{code}");
        }
    }
    for (code, part) in [
        ("getCanvas(20000, 20000); return 'kept'", "20000x20000"),
        ("getCanvas('big.png', 40000, 40000); return 'kept'", "\"big.png\""),
    ] {
        let done = finished(world.report(code).await, code);
        assert_eq!((done.value, done.pictures.len()), (json!("kept"), 0), "{code}");
        assert!(
            done.canvas_error.as_ref().is_some_and(|error| error.message.contains(part)),
            "{code}: {:?}",
            done.canvas_error
        );
    }
    assert!(world.report("getCanvas(); throw 1").await.result.is_err());
    is(&world.fault("getCanvas('../x.png')").await, FaultKind::Exception, "plain file name");
    is(
        &world.fault("for (let i = 0; i < 20; i++) getCanvas(`p${i}.png`, 2, 2)").await,
        FaultKind::Exception,
        "16 pictures",
    );
    // In a session a canvas lives on; a run exports those that it asked for.
    let mut session = world.open(SessionOptions::executor()).await;
    assert_eq!(finished(session.run(&cell("const c = getCanvas(8, 8); 1")).await, "1").pictures.len(), 1);
    assert_eq!(finished(session.run(&cell("c.width")).await, "2").pictures.len(), 0);
    assert_eq!(finished(session.run(&cell("getCanvas() === c")).await, "3").pictures.len(), 1);
    world.end().await;
}

#[tokio::test]
async fn time_chance_and_modules_are_the_sessions() {
    let world = world(1);
    let policy = ImportPolicy {
        authorized: vec!["lib".into(), "cjs".into(), "gone".into()],
        modules: [
            ("lib", "import { two } from 'lib/inner'; export const four = two * 2; export default function hi() { return 'hi' }"),
            ("lib/inner", "export const two = 2"),
            ("cjs", "module.exports = { answer: () => 42 }"),
            ("secret", "export const s = 1"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into(),
    };
    let replay = || SessionOptions {
        clock: Clock::Fixed(1_000),
        random: Random::Seeded(u64::MAX),
        imports: policy.clone(),
        ..SessionOptions::executor()
    };
    let mut one = world.open(replay()).await;
    let mut two = world.open(replay()).await;
    let draw = "[Math.random(), Math.random(), crypto.randomUUID()]";
    assert_eq!(value(&mut one, draw).await, value(&mut two, draw).await);
    assert_ne!(value(&mut one, "Math.random()").await, value(&mut one, "Math.random()").await);
    let dates = "[Date.now(), new Date().getTime(), +new Date(5), new Date() instanceof Date, typeof Date()]";
    assert_eq!(value(&mut one, dates).await, json!([1000, 1000, 5, true, "string"]));
    assert_eq!(
        value(&mut one, "const m = await import('lib'); [m.four, m.default(), (await import('lib')) === m]").await,
        json!([4, "hi", true])
    );
    assert_eq!(
        value(&mut one, "const { default: c, answer } = await import('cjs'); [c.answer(), answer()]").await,
        json!([42, 42])
    );
    let secret = failed(one.run(&cell("await import('secret')")).await, "secret");
    is(&secret, FaultKind::ImportNotAllowed, "secret");
    let gone = failed(one.run(&cell("await import('gone')")).await, "gone");
    is(&gone, FaultKind::Exception, "Cannot find module gone");
    assert_eq!((&secret.details["module"], &gone.details["module"]), (&json!("secret"), &json!("gone")));
    assert_eq!(
        value(&mut one, "try { await import('se' + 'cret') } catch (e) { e.code }").await,
        "ERR_IMPORT_NOT_ALLOWED"
    );
    let mut none = world.open(SessionOptions { limits: Limits::EXECUTOR, ..SessionOptions::executor() }).await;
    for code in ["Date.now()", "new Date()", "Math.random()", "crypto.randomUUID()", "performance.now()"] {
        is(&failed(none.run(&cell(code)).await, code), FaultKind::Exception, "TypeError");
    }
    assert_eq!(value(&mut none, "new Date(0).toISOString()").await, "1970-01-01T00:00:00.000Z");
    world.end().await;
}
