//! What the engine survives: hostile pages, dying processes, and what must not reach the run beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use std::time::{Duration, Instant};

use cove_chrome::ChromeOptions;
use cove_core::{Effects, Engine, EngineError, FaultKind, Limits, RunRequest, SessionFate, SessionOptions, ToolSpec};
use cove_testkit::processes::{alive, below, kill, status_bytes};
use cove_testkit::until;
use serde_json::{Value, json};
use world::{World, body, failed, finished, is, patient, renderers, tools, world, world_with};

/// Code that does its worst and still gives its value.
#[tokio::test]
async fn odd_pages_give_their_value() {
    let world = world(2);
    for (code, expected) in [
        ("Promise = null; return 1", json!(1)),
        ("delete globalThis.Promise; return await 2", json!(2)),
        ("Promise.prototype.then = () => { throw 1 }; return await (async () => 3)()", json!(3)),
        ("Promise.prototype.then = null; return 4", json!(4)),
        ("JSON = null; return {a: 1}", json!({"a": 1})),
        ("JSON.stringify = () => 'forged'; return [5]", json!([5])),
        ("Object.prototype.toJSON = () => 'mine'; return {a: 1}", json!("mine")),
        ("Array.prototype.toJSON = function () { return this.length }; return [1, 2]", json!(2)),
        ("Object.prototype.then = function (r) { r('hijacked') }; return 6", json!(6)),
        (
            "Array.prototype.map = Array.prototype.push = Array.prototype[Symbol.iterator] = null; return [7]",
            json!([7]),
        ),
        (
            "Object.defineProperty(Object.prototype, 'value', {set() { throw 1 }, get() { throw 1 }}); return 8",
            json!(8),
        ),
        ("Object.defineProperty(Array.prototype, '0', {set() { throw 1 }}); return 9", json!(9)),
        ("Function.prototype.call = Function.prototype.apply = Reflect.apply = null; return 10", json!(10)),
        (
            "String.prototype.slice = Map.prototype.get = Set.prototype.has = null; console.log({a: 1}); return 11",
            json!(11),
        ),
        (
            "window.onerror = () => { throw 1 }; setTimeout(() => { throw 2 }); await new Promise(r => setTimeout(r, 20)); return 12",
            json!(12),
        ),
        ("setTimeout = clearTimeout = console.log = null; return 13", json!(13)),
        ("alert(1); return [confirm('?'), prompt('?')]", json!([false, null])),
        ("for (let i = 0; i < 30; i++) alert(i); return 14", json!(14)),
        ("window.close(); await new Promise(r => setTimeout(r, 50)); return 15", json!(15)),
        ("location.href = 'https://example.com/'; await new Promise(r => setTimeout(r, 100)); return 16", json!(16)),
        ("location = 'about:blank'; await new Promise(r => setTimeout(r, 100)); return 17", json!(17)),
        ("location.reload(); await new Promise(r => setTimeout(r, 100)); return 18", json!(18)),
        (
            "location = URL.createObjectURL(new Blob(['x'], {type: 'text/html'})); await new Promise(r => setTimeout(r, 100)); return 19",
            json!(19),
        ),
        (
            "const f = document.createElement('form'); f.action = '/x'; f.method = 'post'; document.body.append(f); f.submit(); await new Promise(r => setTimeout(r, 100)); return 20",
            json!(20),
        ),
        ("document.open(); document.write('<p>x</p>'); document.close(); return document.body.textContent", json!("x")),
        (
            "history.pushState({}, '', '/elsewhere'); location.hash = 'h'; return location.href",
            json!("https://cove.invalid/elsewhere#h"),
        ),
        ("return [window.open('about:blank'), window.open('https://example.com')]", json!([null, null])),
        (
            "const a = document.createElement('a'); a.href = 'about:blank'; a.target = '_blank'; a.click(); return 21",
            json!(21),
        ),
        (
            "const a = document.createElement('a'); a.download = 'evil.txt'; a.href = 'data:text/plain,evil'; a.click(); await new Promise(r => setTimeout(r, 50)); return 22",
            json!(22),
        ),
        (
            "for (let i = 0; i < 4; i++) new Worker(URL.createObjectURL(new Blob(['for (;;) {}']))); return 23",
            json!(23),
        ),
        ("Promise.reject(new Error('unhandled')); setTimeout(() => Promise.reject(1)); return 24", json!(24)),
        ("setTimeout(() => { for (;;) {} }); return 25", json!(25)),
        ("setInterval(() => { for (;;) {} }); return 26", json!(26)),
        (
            "const i = document.createElement('iframe'); document.body.append(i); return Object.keys(i.contentWindow).filter(k => k.startsWith('__c')).length",
            json!(0),
        ),
        ("print(); window.stop(); navigator.sendBeacon?.('/x', 'y'); return 27", json!(27)),
        ("addEventListener('beforeunload', e => { e.preventDefault(); return 'stay' }); return 28", json!(28)),
        (
            "Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = 0; try { null.x } catch (e) { return 29 }",
            json!(29),
        ),
        ("Object.freeze(globalThis.document); Object.freeze(Object.prototype); return 30", json!(30)),
    ] {
        assert_eq!(world.value(code).await, expected, "{code}");
    }
    let closing = "const i = document.createElement('iframe'); document.body.append(i); Reflect.apply(i.contentWindow.close, window, []); await new Promise(r => setTimeout(r, 5000)); return 'open'";
    if let Err(fault) = world.report(closing).await.result {
        is(&fault, FaultKind::Exception, "the page closed itself");
    }
    // What is thrown cannot break the kernel either.
    for code in [
        "throw {get message() { throw 1 }, get name() { throw 1 }}",
        "const e = new Error('x'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', {get() { throw 1 }}); throw e",
        "throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 1 }, ownKeys() { throw 1 }})",
        "Error.prepareStackTrace = () => { throw 1 }; throw new Error('x')",
        "Object.defineProperty(Error, Symbol.hasInstance, {value() { throw 1 }}); throw new Error('x')",
        "throw null",
    ] {
        assert_eq!(world.fault(code).await.kind, FaultKind::Exception, "{code}");
    }
    world.still_works("all of it").await;
    assert!(!contains(world.folder.path(), "evil.txt"), "a download was written");
    world.end().await;
}

fn contains(folder: &std::path::Path, name: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name() == name || contains(&entry.path(), name))
}

/// Code that does not end by itself is ended in time, and the run beside it does not notice.
#[tokio::test]
async fn runaways_are_ended_and_others_run_on() {
    let world = world(2);
    world.engine.start().await.unwrap();
    let mut beside = world.open(SessionOptions::one_shot()).await;
    for code in [
        "while (true) {}",
        "for (;;) await 0",
        "const f = () => Promise.resolve().then(f); await f()",
        "await new Promise(() => {})",
        "await new Promise(() => setTimeout(() => { while (true) {} }))",
        "return {toJSON() { while (true) {} }}",
        "return {get a() { while (true) {} }}",
        "return new Proxy({}, {ownKeys() { while (true) {} }})",
        "/(a+)+b/.test('a'.repeat(40))",
        "for (let i = 0; i < 4; i++) new Worker(URL.createObjectURL(new Blob(['for (;;) {}']))); for (;;) {}",
        "for (;;) alert('again')",
        "for (;;) try { for (;;) {} } finally { continue }",
        "throw {get name() { for (;;) {} }, get message() { for (;;) {} }, [Symbol.toStringTag]: 1, get constructor() { for (;;) {} }, toString() { for (;;) {} }, get [0]() { for (;;) {} }, a: new Proxy({}, {getPrototypeOf() { for (;;) {} }})}",
    ] {
        let mut session = world.open(SessionOptions::one_shot()).await;
        let began = Instant::now();
        let report = session.run(&RunRequest { timeout_ms: 250, ..body(code) }).await;
        let took = began.elapsed();
        assert_eq!((report.fate, report.effects), (SessionFate::Lost, Effects::None), "{code}: {report:?}");
        is(&failed(report, code), FaultKind::Timeout, "Agent execution timed out after 250ms");
        // The contract says a second; a loaded machine may take its time to wake whoever answers.
        assert!(took < Duration::from_millis(1250) + Duration::from_secs(10), "{code} took {took:?}");
        assert_eq!(finished(beside.run(&body("return 'beside'")).await, code).value, "beside");
    }
    beside.close().await.unwrap();
    // Nothing of the runaways spins on.
    let pid = world.engine.pid().unwrap();
    until("only the warm tabs are left", async || renderers(pid).len() <= 2).await;
    world.end().await;
}

/// Bombs go off where they are: in an error of the guest's or the end of its page.
#[tokio::test]
async fn bombs_reach_nobody_else() {
    let world = world(1);
    let mut beside = world.open(SessionOptions::one_shot()).await;
    let limits = Limits { memory_bytes: 128 << 20, timeout_ms: 20_000, ..Limits::ONE_SHOT };
    for (code, kinds) in [
        (
            "const a = []; for (;;) a.push(new Uint8Array(32 << 20).fill(1))",
            &[FaultKind::Memory, FaultKind::Exception][..],
        ),
        (
            "const a = []; for (;;) { const b = []; for (let i = 0; i < 1e5; i++) b.push({i}); a.push(b) }",
            &[FaultKind::Memory],
        ),
        ("let s = 'x'; for (;;) s += s", &[FaultKind::Exception]),
        (
            "const w = []; for (let i = 0; i < 4; i++) w.push(new Worker(URL.createObjectURL(new Blob(['const a = []; for (;;) a.push(new Uint8Array(16 << 20).fill(1))'])))); await new Promise(() => {})",
            &[FaultKind::Memory],
        ),
        ("new Array(2 ** 32 - 1).fill(0)", &[FaultKind::Memory, FaultKind::Exception]),
        (
            "const m = new WebAssembly.Memory({initial: 1, maximum: 65536}); for (;;) { m.grow(256); new Uint8Array(m.buffer).fill(1) }",
            &[FaultKind::Memory, FaultKind::Exception],
        ),
        (
            "const a = []; for (;;) { const c = new OffscreenCanvas(4000, 4000); c.getContext('2d').fillRect(0, 0, 4000, 4000); a.push(c) }",
            &[FaultKind::Memory],
        ),
    ] {
        let mut session = world.open(SessionOptions { limits, ..SessionOptions::one_shot() }).await;
        let report = session.run(&body(code)).await;
        let fault = failed(report, code);
        assert!(kinds.contains(&fault.kind), "{code}: {fault:?}");
        assert_eq!(finished(beside.run(&body("return 'beside'")).await, code).value, "beside");
    }
    // What lies in processes that all share: blobs in the browser itself, textures in graphics.
    let mut busy = world.open(SessionOptions::one_shot()).await;
    for code in [
        "const a = []; for (let i = 0; i < 200; i++) { a.push(new Blob([new Uint8Array(16 << 20).fill(i)])); await a[i].slice(0, 1).text() } return a.length",
        "const a = []; for (let i = 0; i < 400; i++) { const c = new OffscreenCanvas(4, 4).getContext('webgl'); for (let k = 0; k < 4; k++) { const t = c.createTexture(); c.bindTexture(c.TEXTURE_2D, t); c.texImage2D(c.TEXTURE_2D, 0, c.RGBA, 2048, 2048, 0, c.RGBA, c.UNSIGNED_BYTE, new Uint8Array(16 << 20).fill(1)); a.push(c, t) } c.finish() } return a.length",
    ] {
        let counts = body("const end = Date.now() + 1500; while (Date.now() < end) {} return 'beside'");
        let (innocent, bomb) = (busy.run(&counts), body(code));
        let mut session = world.open(SessionOptions { limits, ..SessionOptions::one_shot() }).await;
        let (innocent, bomb) = tokio::join!(innocent, session.run(&bomb));
        assert_eq!(finished(innocent, code).value, "beside");
        if let Err(fault) = bomb.result {
            assert!(matches!(fault.kind, FaultKind::Memory | FaultKind::Exception), "{code}: {fault:?}");
        }
        assert_eq!(finished(beside.run(&body("return 'beside'")).await, code).value, "beside");
    }
    let code = "const a = new Array(10e6).fill(0); return a";
    is(&world.fault(code).await, FaultKind::ResultTooLarge, "20000001");
    world.still_works("the bombs").await;
    world.end().await;
}

/// A page whose process dies takes its own session and nothing else.
#[tokio::test]
async fn a_killed_renderer_is_one_sessions_loss() {
    let world = world(0);
    drop(world.open(SessionOptions::one_shot()).await);
    let pid = world.engine.pid().unwrap();
    until("the first tab is gone", async || renderers(pid).is_empty()).await;
    let mut beside = world.open(SessionOptions::one_shot()).await;
    let before = renderers(pid);
    let mut session = world.open(SessionOptions::one_shot()).await;
    let (called, calling) = tokio::sync::oneshot::channel();
    let called = std::sync::Mutex::new(Some(called));
    let tool = ToolSpec::new("called", move |_| {
        called.lock().unwrap().take().map(|called| called.send(()));
        std::future::pending()
    });
    session.send_tools(tools(vec![tool])).await.unwrap();
    let fresh: Vec<u32> = renderers(pid).difference(&before).copied().collect();
    assert_eq!(fresh.len(), 1, "one tab, one process");
    let killer = async {
        calling.await.unwrap();
        kill(fresh[0]);
    };
    let request = body("await called(); return 1");
    let (report, ()) = tokio::join!(session.run(&request), killer);
    assert_eq!((report.fate, report.effects), (SessionFate::Lost, Effects::Unknown));
    is(&failed(report, "killed"), FaultKind::EngineLost, "process ended unexpectedly");
    assert_eq!(finished(beside.run(&body("return 2")).await, "beside").value, 2);
    assert_eq!(world.engine.pid(), Some(pid));
    // Dead between two runs.
    let mut session = world.open(SessionOptions::one_shot()).await;
    let fresh: Vec<u32> = renderers(pid).difference(&before).copied().collect();
    kill(fresh[0]);
    let report = session.run(&body("return 3")).await;
    assert_eq!(report.fate, SessionFate::Lost);
    is(&failed(report, "dead"), FaultKind::EngineLost, "");
    world.end().await;
}

/// The browser dies between runs and during fifty of them; every run answers, and the next ones work.
#[tokio::test]
async fn a_killed_browser_is_replaced() {
    let world = world(2);
    world.still_works("the start").await;
    let first = world.engine.pid().unwrap();
    kill(first);
    until("the end is noticed", async || world.engine.pid().is_none()).await;
    world.still_works("a kill between two runs").await;
    let second = world.engine.pid().unwrap();
    assert_ne!(first, second);

    let mut sessions = Vec::new();
    for number in 0..50 {
        let mut session = world.open(SessionOptions::one_shot()).await;
        let tool = ToolSpec::new("touch", |_| async { Ok(Value::Null) });
        if number % 2 == 1 {
            session.send_tools(tools(vec![tool])).await.unwrap();
        }
        sessions.push(session);
    }
    let (said, mut saying) = tokio::sync::mpsc::unbounded_channel();
    let mut runs = tokio::task::JoinSet::new();
    for (number, mut session) in sessions.into_iter().enumerate() {
        let said = said.clone();
        runs.spawn(async move {
            let tool = ToolSpec::new("running", move |_| {
                said.send(()).unwrap();
                async { Ok(Value::Null) }
            });
            let code = match number % 2 {
                0 => "console.log('on'); await new Promise(() => {})",
                _ => "await touch(); await running(); await new Promise(() => {})",
            };
            if number % 2 == 1 {
                session.send_tools(tools(vec![tool])).await.unwrap();
            }
            // No run may come to its deadline before all of them have begun.
            (number, session.run(&RunRequest { timeout_ms: 600_000, ..body(code) }).await)
        });
    }
    for _ in 0..25 {
        saying.recv().await.unwrap();
    }
    kill(second);
    while let Some(ended) = runs.join_next().await {
        let (number, report) = ended.unwrap();
        let expected = if number % 2 == 0 { Effects::None } else { Effects::Committed };
        assert_eq!((report.fate, report.effects), (SessionFate::Lost, expected), "{number}");
        is(&failed(report, "killed"), FaultKind::EngineLost, "");
    }
    world.still_works("a kill during fifty runs").await;
    assert_ne!(world.engine.pid().unwrap(), second);
    world.end().await;
}

/// Three hundred runs in a row: the same browser, no more processes, no more memory.
#[tokio::test]
async fn many_runs_leave_nothing() {
    let world = world(2);
    let resident = |world: &World| -> u64 {
        let processes = world::group(world.engine.pid().unwrap());
        processes.iter().filter_map(|pid| status_bytes(*pid, "RssAnon")).sum::<u64>() >> 20
    };
    let settled = |world: &World| renderers(world.engine.pid().unwrap()).len() <= 2 && world.engine.ready_tabs() == 2;
    let mut after_fifty = 0;
    for number in 0..300 {
        assert_eq!(world.value(&format!("globalThis.x = new Array(1e4).fill(1); return {number}")).await, number);
        if number == 50 {
            until("the pool is full", async || settled(&world)).await;
            after_fifty = resident(&world);
        }
    }
    until("the pool is full", async || settled(&world)).await;
    let at_the_end = resident(&world);
    assert!(at_the_end < after_fifty + 40, "{after_fifty} MB after 50 runs, {at_the_end} MB after 300");
    world.end().await;
}

/// Dropping is ending: a run's future, a session, the engine itself.
#[tokio::test]
async fn dropping_ends() {
    let world = world(0);
    drop(world.open(SessionOptions::one_shot()).await);
    let pid = world.engine.pid().unwrap();
    until("no tab is left", async || renderers(pid).is_empty()).await;
    let mut session = world.open(SessionOptions::one_shot()).await;
    let dropped = tokio::time::timeout(Duration::from_millis(100), session.run(&body("for (;;) {}"))).await;
    assert!(dropped.is_err());
    until("the dropped run's process is gone", async || renderers(pid).is_empty()).await;
    is(&failed(session.run(&body("return 1")).await, "dropped"), FaultKind::EngineLost, "gone");
    drop(session);
    let session = world.open(SessionOptions::one_shot()).await;
    assert_eq!(renderers(pid).len(), 1);
    drop(session);
    until("the dropped session's process is gone", async || renderers(pid).is_empty()).await;
    let processes = world::group(pid);
    assert!(!processes.is_empty());
    let World { engine, folder } = world;
    drop(engine);
    let left: Vec<u32> = processes.into_iter().filter(|pid| alive(*pid)).collect();
    assert!(left.is_empty(), "processes were left: {left:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// An engine that ends while its browser starts does not wait for it, and leaves nothing of it.
#[tokio::test]
async fn an_end_while_it_starts() {
    let World { engine, folder } = world(0);
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    tokio::select! {
        opened = engine.open(SessionOptions::one_shot()) => drop(opened.unwrap()),
        () = until("its folder is made", async || entries() > 0) => {}
    }
    drop(engine);
    assert_eq!(entries(), 0);
    until("nothing of it is left", async || below(std::process::id()).is_empty()).await;
}

/// The pool is filled on demand and does not keep what nobody wants; seats are limited, and waiting has an end.
#[tokio::test]
async fn pool_and_seats_have_bounds() {
    let options = ChromeOptions {
        pool_size: 2,
        pool_age: Duration::from_secs(3),
        max_sessions: 2,
        open_timeout: Duration::from_secs(6),
        ..patient()
    };
    let world = world_with(options);
    world.engine.start().await.unwrap();
    until("the pool is full", async || world.engine.ready_tabs() == 2).await;
    until("unused tabs are thrown away", async || world.engine.ready_tabs() == 0).await;
    world.still_works("a rest").await;
    until("the pool is full again", async || world.engine.ready_tabs() == 2).await;
    let one = world.open(SessionOptions::one_shot()).await;
    let two = world.open(SessionOptions::one_shot()).await;
    let Err(EngineError::Open(why)) = world.engine.open(SessionOptions::one_shot()).await else {
        panic!("a third seat")
    };
    assert!(why.contains("6000 ms"), "{why}");
    drop(one);
    world.still_works("a seat is free").await;
    drop(two);
    world.end().await;
}

/// A browser without its sandbox is not used, however it came to be so.
#[tokio::test]
async fn a_browser_without_walls_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = folder.path().join("chrome");
    let real = cove_chrome::find_browser(None).unwrap_or_else(|error| panic!("{error}; run scripts/setup"));
    std::fs::write(&script, format!("#!/bin/sh\nexec {} \"$@\" --no-sandbox\n", real.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let world = world_with(ChromeOptions { browser: Some(script), ..patient() });
    let Err(EngineError::Unavailable(why)) = world.engine.start().await else { panic!("it was used") };
    assert!(why.contains("sandbox is not in force") && why.contains("chromium-sandbox"), "{why}");
    assert_eq!(world.engine.pid(), None);
    world.end().await;
}

/// Without a browser the engine says so, and how to get one.
#[tokio::test]
async fn no_browser_is_said() {
    let missing = cove_chrome::ChromeOptions { browser: Some("/nowhere/chrome".into()), ..Default::default() };
    let engine = cove_chrome::ChromeEngine::new(missing);
    let Err(EngineError::Unavailable(why)) = engine.start().await else { panic!("it started") };
    assert!(why.contains("/nowhere/chrome") && why.contains("COVE_BROWSER"), "{why}");
    assert!(matches!(engine.open(SessionOptions::one_shot()).await, Err(EngineError::Unavailable(_))));
    assert_eq!(engine.pid(), None);
    // A program that is no browser.
    let wrong = cove_chrome::ChromeOptions { browser: Some("/bin/false".into()), ..Default::default() };
    let Err(EngineError::Unavailable(why)) = cove_chrome::ChromeEngine::new(wrong).start().await else { panic!() };
    assert!(why.contains("/bin/false"), "{why}");
}

/// Calls that nobody answers do not pile up in the host, neither in number nor in weight.
#[tokio::test]
async fn calls_that_wait_are_bounded() {
    let world = world(1);
    let mut session = world.open(SessionOptions::one_shot()).await;
    let never = ToolSpec::new("never", |_| async move { std::future::pending().await });
    session.send_tools(tools(vec![never])).await.unwrap();
    for (code, part) in [
        (
            "const big = 'x'.repeat(8 << 20); const all = []; for (let i = 0; i < 40; i++) all.push(never(big));",
            "too large together",
        ),
        ("const all = []; for (let i = 0; i < 6000; i++) all.push(never(i));", "wait for an answer"),
    ] {
        let code = format!(
            "{code} return await Promise.any(all.map((call) => call.then(() => 'answered', (e) => e.message)))"
        );
        let report = session.run(&body(&code)).await;
        let value = finished(report, &code).value;
        assert!(value.as_str().is_some_and(|value| value.contains(part)), "{value}");
    }
    world.end().await;
}
