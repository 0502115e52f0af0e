//! What a page cannot make its host believe: a spent or unspent step counter, a time-out, an answer that was not given.
//!
//! Every try has a session of its own, with a step limit, and does what a guest could do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use cove_core::{FaultKind, RunReport, RunRequest, Session, SessionFate, SessionOptions, ToolSpec};
use serde_json::json;
use world::{World, body, cell, failed, finished, is, tools, world};

/// A frame, short ways to wait and to swallow, a text that turns a loop twice as often as a cell may and says so, and
/// the same loop in WebAssembly.
const KIT: &str = r#"
const frame = (set) => { const f = document.createElement('iframe'); set?.(f); (document.body ?? document.documentElement).append(f); return f };
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const quiet = (work) => { try { return work() } catch (e) { return e } };
const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const SPIN = 'let i = 0; while (i < 100000) i++; (globalThis.top ?? globalThis).spun = i';
const SPIN_AND_SAY = 'let i = 0; while (i < 100000) i++; (globalThis.parent && parent !== globalThis ? parent : globalThis).postMessage(i, "*")';
const TAG = `<script>${SPIN}</` + 'script>';
const JS = 'text/javascript', HTML = 'text/html';
const WASM = new Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,25,1,23,1,1,127,3,64,32,0,65,1,106,34,0,65,160,141,6,72,13,0,11,32,0,11]);
addEventListener('message', (e) => { if (e.data === 100000) globalThis.spun = e.data });
"#;

async fn with_kit(world: &World) -> Box<dyn Session> {
    let mut session = world.open(SessionOptions::executor()).await;
    finished(session.run(&cell(KIT)).await, "kit");
    session
}

/// Ways to have text run that no host has prepared. Where one works, its loop turns unseen.
const EVASIONS: &[(&str, &str)] = &[
    (
        "a frame's timer on this window",
        "quiet(() => frame().contentWindow.setTimeout.call(window, SPIN)); await wait(60)",
    ),
    (
        "a frame's interval on this window",
        "quiet(() => frame().contentWindow.setInterval.call(window, SPIN, 5)); await wait(60)",
    ),
    ("a frame's own timer", "quiet(() => frame().contentWindow.setTimeout(SPIN)); await wait(60)"),
    ("a timer of this window", "quiet(() => setTimeout(SPIN)); await wait(60)"),
    (
        "a timer of this window, by its prototype",
        "quiet(() => Reflect.apply(Object.getOwnPropertyDescriptor(frame().contentWindow, 'setTimeout').value, window, [{ toString: () => SPIN }])); await wait(60)",
    ),
    ("a frame's eval", "quiet(() => frame().contentWindow.eval(SPIN))"),
    (
        "a frame's eval, put in the place of ours",
        "globalThis.eval = frame().contentWindow.eval; quiet(() => eval(SPIN))",
    ),
    ("a frame's Function", "quiet(() => frame().contentWindow.Function(SPIN)())"),
    (
        "a frame's function constructors",
        "const w = frame().contentWindow; quiet(() => new w.Function(SPIN)()); quiet(() => w.Function.prototype.constructor(SPIN)()); quiet(() => Reflect.construct(w.Function, [SPIN], Object)())",
    ),
    (
        "a frame's async functions",
        "const w = frame().contentWindow; await quiet(() => Object.getPrototypeOf(w.Array.fromAsync([])).constructor.try(w.Function, SPIN).then((made) => made(), () => {})); await wait(20)",
    ),
    (
        "our own constructors",
        "await quiet(() => (async () => {}).constructor(SPIN)()); quiet(() => (function* () {}).constructor(SPIN)().next())",
    ),
    (
        "the eval of a frame that is gone",
        "const f = frame(), w = f.contentWindow; f.remove(); quiet(() => w.eval(SPIN)); quiet(() => w.Function(SPIN)())",
    ),
    (
        "the eval of a frame in a frame",
        "const outer = frame().contentDocument, inner = outer.createElement('iframe'); outer.body.append(inner); quiet(() => inner.contentWindow.eval(SPIN))",
    ),
    (
        "the eval of a sandboxed frame",
        "quiet(() => frame((f) => f.setAttribute('sandbox', 'allow-scripts allow-same-origin')).contentWindow.eval(SPIN))",
    ),
    (
        "the eval of a frame made by markup",
        "document.body.innerHTML = '<iframe></iframe>'; quiet(() => window[0].eval(SPIN))",
    ),
    (
        "the eval of a frame in a shadow tree",
        "const host = document.createElement('div'); document.body.append(host); const f = document.createElement('iframe'); host.attachShadow({ mode: 'open' }).append(f); quiet(() => f.contentWindow.eval(SPIN))",
    ),
    (
        "a frame that navigates to about:blank",
        "const f = frame((f) => f.src = 'about:blank#x'); await wait(60); quiet(() => f.contentWindow.eval(SPIN))",
    ),
    ("a window of one's own", "quiet(() => window.open('about:blank').eval(SPIN))"),
    ("srcdoc", "quiet(() => frame((f) => f.srcdoc = TAG)); await wait(150)"),
    ("srcdoc by its attribute", "quiet(() => frame((f) => f.setAttribute('srcdoc', TAG))); await wait(150)"),
    (
        "srcdoc by markup",
        "document.body.innerHTML = `<iframe srcdoc=\"${TAG.replaceAll('\"', '&quot;')}\"></iframe>`; await wait(150)",
    ),
    (
        "the eval of a srcdoc frame",
        "const f = frame((f) => quiet(() => f.srcdoc = 'x')); await wait(100); quiet(() => f.contentWindow.eval(SPIN))",
    ),
    ("a javascript: frame", "quiet(() => frame((f) => f.src = 'javascript:' + SPIN)); await wait(100)"),
    (
        "a javascript: address in a frame",
        "const f = frame(); quiet(() => f.contentWindow.location = 'javascript:' + SPIN); await wait(100)",
    ),
    ("a javascript: address here", "quiet(() => location = 'javascript:' + SPIN); await wait(100)"),
    (
        "a javascript: link",
        "const a = document.createElement('a'); a.href = 'javascript:' + SPIN; document.body.append(a); a.click(); await wait(100)",
    ),
    (
        "a javascript: form",
        "document.body.innerHTML = '<form></form>'; const form = document.forms[0]; quiet(() => form.action = 'javascript:' + SPIN); quiet(() => form.submit()); await wait(100)",
    ),
    ("a blob frame", "quiet(() => frame((f) => f.src = blob(TAG, HTML))); await wait(150)"),
    (
        "a data frame",
        "quiet(() => frame((f) => f.src = `data:text/html,<script>${SPIN_AND_SAY}</` + 'script>')); await wait(150)",
    ),
    (
        "document.write in a frame",
        "const d = frame().contentDocument; quiet(() => { d.open(); d.write(TAG); d.close() }); await wait(60)",
    ),
    ("document.write here", "quiet(() => { document.open(); document.write(TAG); document.close() }); await wait(60)"),
    (
        "a frame after document.open",
        "quiet(() => { document.open(); document.write('<body>'); document.close() }); quiet(() => frame().contentWindow.eval(SPIN))",
    ),
    (
        "an inline script",
        "const s = document.createElement('script'); quiet(() => s.textContent = SPIN); quiet(() => s.append(SPIN)); document.body.append(s); await wait(30)",
    ),
    (
        "a module script",
        "const s = document.createElement('script'); s.type = 'module'; s.append(SPIN); document.body.append(s); await wait(60)",
    ),
    (
        "a script from a blob",
        "const s = document.createElement('script'); quiet(() => s.src = blob(SPIN, JS)); document.body.append(s); await wait(100)",
    ),
    (
        "a script from a data address",
        "const s = document.createElement('script'); quiet(() => s.setAttribute('src', 'data:text/javascript,' + SPIN)); document.body.append(s); await wait(100)",
    ),
    (
        "a script of an SVG picture",
        "document.body.innerHTML = `<svg xmlns=\"http://www.w3.org/2000/svg\">${TAG}</svg>`; const s = document.createElementNS('http://www.w3.org/2000/svg', 'script'); s.append(SPIN); document.querySelector('svg').append(s); await wait(60)",
    ),
    (
        "a script that another parser read",
        "const d = quiet(() => new DOMParser().parseFromString(TAG, HTML)); quiet(() => document.body.append(document.importNode(d.querySelector('script'), true))); await wait(60)",
    ),
    (
        "a fragment's script",
        "const r = document.createRange(); r.selectNode(document.body); quiet(() => document.body.append(r.createContextualFragment(TAG))); await wait(60)",
    ),
    (
        "setHTMLUnsafe and parseHTMLUnsafe",
        "quiet(() => document.body.setHTMLUnsafe(TAG)); quiet(() => document.body.append(document.adoptNode(Document.parseHTMLUnsafe(TAG).querySelector('script')))); await wait(60)",
    ),
    (
        "a script moved out of a frame",
        "const s = frame().contentDocument.createElement('script'); s.append(SPIN); document.body.append(s); await wait(30)",
    ),
    ("an event handler's attribute", "quiet(() => document.body.setAttribute('onclick', SPIN)); document.body.click()"),
    (
        "an event handler's attribute by markup",
        "quiet(() => document.body.innerHTML = `<img src=x onerror=\"${SPIN}\"><body onload=\"${SPIN}\">`); await wait(100)",
    ),
    (
        "an event handler's attribute in a frame",
        "const d = frame().contentDocument; quiet(() => d.body.setAttribute('onclick', SPIN)); quiet(() => d.body.click()); const a = document.createAttribute('onclick'); quiet(() => a.value = SPIN); quiet(() => document.body.setAttributeNode(a)); document.body.click()",
    ),
    (
        "an object and an embed",
        "for (const [tag, name] of [['object', 'data'], ['embed', 'src']]) { const e = document.createElement(tag); quiet(() => e[name] = blob(TAG, HTML)); quiet(() => document.body.append(e)); } await wait(100); quiet(() => window[0]?.eval(SPIN))",
    ),
    (
        "a worker from a blob",
        "const w = quiet(() => new Worker(blob(SPIN_AND_SAY, JS))); quiet(() => w.onmessage = (e) => { globalThis.spun = e.data }); await wait(200)",
    ),
    (
        "a worker from a data address",
        "const w = quiet(() => new Worker('data:text/javascript,' + SPIN_AND_SAY)); quiet(() => w.onmessage = (e) => { globalThis.spun = e.data }); await wait(200)",
    ),
    (
        "a frame's worker",
        "const w = quiet(() => new (frame().contentWindow.Worker)(blob(SPIN_AND_SAY, JS))); quiet(() => w.onmessage = (e) => { globalThis.spun = e.data }); await wait(200)",
    ),
    (
        "a module worker",
        "const w = quiet(() => new (frame().contentWindow.Worker)(blob(SPIN_AND_SAY, JS), { type: 'module' })); quiet(() => w.onmessage = (e) => { globalThis.spun = e.data }); await wait(200)",
    ),
    (
        "a shared worker",
        "const w = quiet(() => new (frame().contentWindow.SharedWorker)(blob('onconnect = (e) => {' + SPIN + '; e.ports[0].postMessage(i) }', JS))); quiet(() => w.port.onmessage = (e) => { globalThis.spun = e.data }); await wait(200)",
    ),
    (
        "a service worker",
        "await navigator.serviceWorker.register(blob(SPIN, JS)).then(() => { globalThis.spun = 1 }, () => {})",
    ),
    (
        "an audio worklet",
        "await new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule(blob(SPIN, JS)).then(() => { globalThis.spun = 1 }, () => {})",
    ),
    (
        "a paint worklet",
        "await CSS.paintWorklet?.addModule('data:text/javascript,' + SPIN).then(() => { globalThis.spun = 1 }, () => {})",
    ),
    (
        "WebAssembly",
        "globalThis.spun = quiet(() => new WebAssembly.Instance(new WebAssembly.Module(WASM)).exports.f()); if (spun !== 100000) delete globalThis.spun",
    ),
    (
        "a frame's WebAssembly",
        "globalThis.spun = quiet(() => { const W = frame().contentWindow.WebAssembly; return new W.Instance(new W.Module(WASM)).exports.f() }); if (spun !== 100000) delete globalThis.spun",
    ),
    (
        "the WebAssembly of a frame that is gone",
        "globalThis.spun = quiet(() => { const f = frame((f) => f.srcdoc = 'x'), w = f.contentWindow; f.remove(); return new w.WebAssembly.Instance(new w.WebAssembly.Module(WASM)).exports.f() }); if (spun !== 100000) delete globalThis.spun",
    ),
    (
        "a policy that calls text trusted",
        "quiet(() => (0, eval)(trustedTypes.createPolicy('x', { createScript: (s) => s }).createScript(SPIN)))",
    ),
    (
        "a frame's policy that calls text trusted",
        "const w = frame().contentWindow; quiet(() => w.eval(w.trustedTypes.createPolicy('x', { createScript: (s) => s }).createScript(SPIN)))",
    ),
    (
        "the default policy",
        "quiet(() => frame().contentWindow.eval(trustedTypes.defaultPolicy.createScript(SPIN))); quiet(() => (0, eval)(trustedTypes.defaultPolicy.createHTML(SPIN)))",
    ),
    (
        "a policy of the page's own",
        "const m = document.createElement('meta'); m.httpEquiv = 'Content-Security-Policy'; m.content = \"script-src * 'unsafe-inline' 'unsafe-eval' blob: data:\"; document.head.append(m); for (const old of document.querySelectorAll('meta')) old.remove(); quiet(() => frame().contentWindow.eval(SPIN)); document.body.append(Object.assign(document.createElement('script'), { type: 'x' })); await wait(20)",
    ),
];

#[tokio::test]
async fn text_that_nobody_has_prepared_does_not_run() {
    let world = world(2);
    let mut wrong = Vec::new();
    for (name, code) in EVASIONS {
        let mut session = with_kit(&world).await;
        let report = session.run(&cell(code)).await;
        let held = match &report.result {
            Ok(_) => finished(session.run(&cell("typeof spun")).await, name).value == json!("undefined"),
            // Prepared after all, and counted.
            Err(fault) => fault.kind == FaultKind::MaxOperations,
        };
        if !held {
            wrong.push(format!("{name}: {:?}, {} operations", report.result, report.usage.operations));
        }
    }
    assert!(wrong.is_empty(), "{} of {} got through:\n{}", wrong.len(), EVASIONS.len(), wrong.join("\n"));
    world.end().await;
}

/// Ways to reach for the counter, the stop or the report. None changes what is told: ten turns, and the value.
const FORGERIES: &[(&str, &str)] = &[
    (
        "the counter, through a frame's timer",
        "quiet(() => frame().contentWindow.setTimeout.call(window, '__cove_n = 1e9')); await wait(60)",
    ),
    (
        "the stop, through a frame's timer",
        "quiet(() => frame().contentWindow.setTimeout.call(window, '__cove_stop()')); await wait(60)",
    ),
    (
        "no counter, through a frame's timer",
        "quiet(() => frame().contentWindow.setTimeout.call(window, '__cove_n = -1')); await wait(60)",
    ),
    (
        "the names, by eval",
        "for (const name of ['n', 'stop', 'boot', 'compile', 'catch', 'import', 'send']) quiet(() => eval(`__cove_${name}`))",
    ),
    (
        "the names, by a frame",
        "const w = frame().contentWindow; quiet(() => w.eval('top.__cove_stop()')); quiet(() => w['__cove_' + 'send']('{\"t\":\"done\",\"operations\":0,\"steps\":true}')); quiet(() => window['__cove_' + 'stop']())",
    ),
    (
        "the report, by the frame's binding",
        "for (const w of [window, frame().contentWindow]) for (const key of Reflect.ownKeys(w)) if (String(key).includes('cove')) quiet(() => w[key]('{\"t\":\"done\",\"operations\":7}'))",
    ),
    (
        "the report, by a request that waits",
        "const x = new XMLHttpRequest(); x.open('POST', '/.sync', false); quiet(() => x.send('{\"t\":\"done\",\"operations\":0,\"steps\":true}'))",
    ),
    (
        "the stack's functions",
        "Error.prepareStackTrace = (e, sites) => sites.flatMap((s) => [s.getFunction(), s.getThis()]); quiet(() => new Error('x').stack.forEach((f) => f?.stop?.() ?? f?.run?.())); Error.prepareStackTrace = undefined",
    ),
    (
        "settings, by a prototype",
        "for (const name of ['steps', 'silent', 'input', 'maxLog', 'body', 'ok', 'kind']) Object.defineProperty(Object.prototype, name, { configurable: true, get() { if (this.steps !== undefined) this.steps = null; return undefined }, set() {} })",
    ),
    ("an interval that outlives its cell", "setInterval(() => { for (;;) {} }, 1)"),
];

#[tokio::test]
async fn the_counter_is_told_as_it_is() {
    let world = world(2);
    let mut wrong = Vec::new();
    for (name, code) in FORGERIES {
        let mut session = with_kit(&world).await;
        let first = session.run(&cell(&format!("{code};\n'done'"))).await;
        let second = session.run(&cell("let sum = 0; for (let i = 0; i < 10; i++) sum += i; sum")).await;
        let fine = matches!(&first.result, Ok(done) if done.value == "done")
            && matches!(&second.result, Ok(done) if done.value == 45)
            && second.usage.operations == 10;
        if !fine {
            wrong.push(format!("{name}: {:?}\n  then {:?}, {:?}", first.result, second.result, second.usage));
        }
        let endless = session.run(&cell("for (;;) {}")).await;
        if !matches!(&endless.result, Err(fault) if fault.kind == FaultKind::MaxOperations) {
            wrong.push(format!("{name}: an endless loop gave {:?}", endless.result));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FORGERIES.len(), wrong.join("\n"));
    world.end().await;
}

/// The repro of the finding, in one run: text in this window's realm that names the counter.
#[tokio::test]
async fn a_frames_timer_reaches_no_counter() {
    let world = world(1);
    let reach = |text: &str| {
        format!(
            "const f = document.createElement('iframe'); document.body.append(f);
            try {{ f.contentWindow.setTimeout.call(window, {text:?}) }} catch {{}}
            await new Promise((done) => setTimeout(done, 50));
            let n = 0; for (let i = 0; i < 1000; i++) n++; n"
        )
    };
    for text in ["__cove_stop()", "__cove_n = 0", "__cove_n = 1e12", "__cove_n = Infinity", "__cove_n = NaN"] {
        let mut session = world.open(SessionOptions::executor()).await;
        let report = session.run(&RunRequest { timeout_ms: 20_000, ..cell(&reach(text)) }).await;
        assert_eq!(report.usage.operations, 1000, "{text}: {report:?}");
        assert_eq!(finished(report, text).value, 1000, "{text}");
    }
    world.end().await;
}

/// A run that has come to its end is told to have ended, whatever it leaves behind.
#[tokio::test]
async fn an_answer_that_was_given_is_told() {
    let world = world(2);
    let forever = "await new Promise(() => {})";
    for code in [
        format!("try {{ final_answer('given') }} finally {{ {forever} }}"),
        format!("try {{ final_answer('given') }} finally {{ Array.from({{ length: 3000 }}, (_, i) => clearTimeout(i)); {forever} }}"),
        format!("try {{ final_answer('given') }} finally {{ Array.from({{ length: 3000 }}, (_, i) => clearInterval(i)); MessagePort.prototype.postMessage = setTimeout = null; {forever} }}"),
        "const f = document.createElement('iframe'); document.body.append(f); const then = f.contentWindow.Promise.prototype.then; \
         const p = (async () => final_answer('given'))(); Reflect.apply(then, p, [null, () => { try { final_answer('other') } catch {} }]); await p"
            .to_owned(),
        "Promise.prototype.then = function () { return new Promise(() => {}) }; final_answer('given')".to_owned(),
    ] {
        let mut session = world.open(SessionOptions::executor()).await;
        let report = session.run(&RunRequest { timeout_ms: 20_000, ..cell(&code) }).await;
        assert_eq!(report.fate, SessionFate::Usable, "{code}: {report:?}");
        let done = finished(report, &code);
        assert!(done.is_final_answer && done.value == "given", "{code}: {done:?}");
    }
    world.end().await;
}

/// The figure is that of the turns, however a run ends.
#[tokio::test]
async fn turns_are_told_one_by_one() {
    let world = world(1);
    let mut session = world.open(SessionOptions::executor()).await;
    let ten = "for (let i = 0; i < 10; i++);";
    for end in ["1", "final_answer(1)", "throw new Error('x')", "eval('for (let i = 0; i < 5; i++);'); 1"] {
        let report = session.run(&cell(&format!("{ten} {end}"))).await;
        assert_eq!(report.usage.operations, if end.starts_with("eval") { 15 } else { 10 }, "{end}: {report:?}");
    }
    let report = session.run(&RunRequest { max_operations: Some(7), ..cell(ten) }).await;
    assert_eq!(report.usage.operations, 7);
    is(&failed(report, ten), FaultKind::MaxOperations, "7");
    // More than fits into a small integer.
    let report = session.run(&RunRequest { max_operations: Some(1 << 50), ..cell(ten) }).await;
    assert_eq!(report.usage.operations, 10);
    world.end().await;
}

/// What ends a run can be caught by a frame's promise; it serves no further purpose.
#[tokio::test]
async fn the_end_of_a_run_is_of_no_use_to_anybody() {
    let world = world(1);
    let mut session = with_kit(&world).await;
    let stash = "const then = frame().contentWindow.Promise.prototype.then; globalThis.ends = [];
        const p = (async () => { for (;;) {} })(); Reflect.apply(then, p, [null, (e) => { ends.push(e) }]); await p";
    is(&failed(session.run(&cell(stash)).await, stash), FaultKind::MaxOperations, "50000");
    for code in ["throw ends[0] ?? 'none'", "await Promise.reject(ends[0] ?? 'none')", "ends[0]?.stop?.(); throw 1"] {
        let report: RunReport = session.run(&cell(code)).await;
        assert_eq!(report.usage.operations, 0, "{code}");
        is(&failed(report, code), FaultKind::Exception, "Uncaught");
    }
    world.end().await;
}

/// Whose failure it was is the host's to say.
#[tokio::test]
async fn a_fault_is_no_tools_unless_a_tool_failed() {
    let world = world(1);
    let mut session = world.open(SessionOptions::executor()).await;
    let list = vec![ToolSpec::new("echo", |call| async move { Ok(call.args.into_iter().next().unwrap_or_default()) })];
    session.send_tools(tools(list)).await.unwrap();
    for code in [
        "const e = new Error('Tool execution failed: x'); e.code = 'ERR_TOOL_PROXY_FAIL'; throw e",
        "Object.prototype.kind = 'tool'; Object.prototype.message = 'forged'; await echo(1); throw new Error('mine')",
        "Object.defineProperty(Object.prototype, 'ok', { get() { return undefined }, set() {}, configurable: true }); Object.prototype.kind = 'import'; await echo(1); throw new Error('mine')",
    ] {
        is(&failed(session.run(&cell(code)).await, code), FaultKind::Exception, "Error");
    }
    world.end().await;
}

/// A session that has run text without a limit may hold functions that count nothing.
#[tokio::test]
async fn steps_are_counted_from_the_first_run_or_not_at_all() {
    let world = world(1);
    let mut session = world.open(SessionOptions::executor()).await;
    finished(session.run(&body("globalThis.spin = eval('() => { for (let i = 0; i < 1e6; i++); }')")).await, "free");
    let report = session.run(&cell("spin()")).await;
    assert_eq!(report.fate, SessionFate::Usable);
    is(&failed(report, "counted"), FaultKind::Refused, "step limit");
    assert_eq!(finished(session.run(&body("spin(); return 1")).await, "free").value, 1);
    let mut session = world.open(SessionOptions::executor()).await;
    finished(session.run(&cell("1")).await, "counted");
    assert_eq!(finished(session.run(&body("let n = 0; for (; n < 1e5;) n++; return n")).await, "free").value, 100_000);
    is(&failed(session.run(&cell("for (;;) {}")).await, "counted"), FaultKind::MaxOperations, "50000");
    world.end().await;
}
