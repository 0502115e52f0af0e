//! Tools: the only way out, in all the ways they can go wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cove_core::{
    Effects, Engine, FaultKind, SessionFate, SessionOptions, ToolError, ToolSet, ToolSpec, bytes_from_json,
    bytes_to_json,
};
use serde_json::{Value, json};
use stage::{PATIENCE_MS, body, engine};

/// Counts futures that were dropped before they came to their end.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn tools(dropped: &Arc<AtomicUsize>) -> ToolSet {
    let dropped = Arc::clone(dropped);
    let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or_default();
    ToolSet::new(vec![
        ToolSpec::new("double", move |call| async move { Ok(json!(number(call.args.first()) * 2)) }),
        ToolSpec::new("now", move |call| async move { Ok(json!(number(call.args.first()) + 1)) }).sync(),
        ToolSpec::new("fails", |_| async {
            Err(ToolError { message: "not today".into(), code: Some("closed".into()) })
        }),
        ToolSpec::new("panics", |_| async { panic!("a tool's own trouble") }),
        ToolSpec::new("huge", |_| async { Ok(json!("x".repeat(100 << 20))) }),
        ToolSpec::new("large", |_| async { Ok(json!("x".repeat(10 << 20))) }),
        ToolSpec::new("hangs", move |_| {
            let guard = Dropped(Arc::clone(&dropped));
            async move {
                let _guard = guard;
                std::future::pending().await
            }
        }),
        ToolSpec::new("later", |call| async move {
            tokio::time::sleep(Duration::from_millis(call.args[0].as_u64().unwrap())).await;
            Ok(call.args[0].clone())
        }),
        ToolSpec::new("reverse", |call| async move {
            let mut bytes = bytes_from_json(&call.args[0]).ok_or_else(|| ToolError::new("bytes, please"))?;
            bytes.reverse();
            Ok(bytes_to_json(&bytes))
        }),
    ])
    .unwrap()
}

/// What code sees of each tool.
#[tokio::test]
async fn tools_answer_fail_and_panic_into_the_code_that_called_them() {
    let engine = engine();
    let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
    session.send_tools(tools(&Arc::default())).await.unwrap();
    for (code, expected) in [
        ("return await double(21)", json!(42)),
        ("return now(1)", json!(2)),
        ("return double(1) instanceof Promise", json!(true)),
        ("try { await fails() } catch (e) { return e.message }", json!("Tool execution failed: not today")),
        ("try { await panics() } catch (e) { return e.message.includes('panics panicked') }", json!(true)),
        ("try { await huge() } catch (e) { return e.message.includes('the most is 67108864') }", json!(true)),
        ("return (await large()).length", json!(10 << 20)),
        ("return (await Promise.all([later(9), later(1), double(2)])).join()", json!("9,1,4")),
        ("return [...(await reverse(new Uint8Array([1, 2, 255])))]", json!([255, 2, 1])),
        ("return await double(await double(await double(1)))", json!(8)),
    ] {
        let report = session.run(&body(code, PATIENCE_MS)).await;
        assert_eq!(report.result.unwrap_or_else(|f| panic!("{code}: {f:?}")).value, expected, "{code}");
        assert_eq!((report.effects, report.fate), (Effects::Committed, SessionFate::Usable), "{code}");
        assert!(report.usage.tool_calls >= 1);
    }
    let report = session.run(&body("await fails()", PATIENCE_MS)).await;
    assert_eq!((report.result.unwrap_err().kind, report.fate), (FaultKind::Tool, SessionFate::Usable));
    let report = session.run(&body("return 1", PATIENCE_MS)).await;
    assert_eq!((report.effects, report.usage.tool_calls), (Effects::None, 0));
}

#[tokio::test]
async fn a_thousand_calls_at_once() {
    let engine = engine();
    let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
    session.send_tools(tools(&Arc::default())).await.unwrap();
    let code = "const all = await Promise.all(Array.from({length: 1000}, (_, i) => i % 2 ? double(i) : later(1)));
                return all.reduce((a, b) => a + b, 0)";
    let report = session.run(&body(code, PATIENCE_MS)).await;
    assert_eq!(report.result.unwrap().value, 500_000 + 500);
    assert_eq!(report.usage.tool_calls, 1000);
}

/// A tool that hangs harms its own run only; its future is dropped with the run.
#[tokio::test]
async fn a_hanging_tool_ends_with_its_run() {
    let engine = engine();
    let dropped = Arc::new(AtomicUsize::new(0));
    for (code, timeout_ms, effects) in [
        ("await hangs()", 200, Effects::Unknown),
        // The code ends without waiting for its tool.
        ("hangs(); return 1", PATIENCE_MS, Effects::Unknown),
    ] {
        let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
        session.send_tools(tools(&dropped)).await.unwrap();
        let before = dropped.load(Ordering::SeqCst);
        let report = session.run(&body(code, timeout_ms)).await;
        assert_eq!(report.effects, effects, "{code}");
        assert_eq!(dropped.load(Ordering::SeqCst), before + 1, "{code}");
        match report.fate {
            SessionFate::Lost => assert_eq!(report.result.unwrap_err().kind, FaultKind::Timeout),
            SessionFate::Usable => {
                assert_eq!(session.run(&body("return await double(4)", PATIENCE_MS)).await.result.unwrap().value, 8);
            }
        }
    }
}

/// An answer that comes after the run has ended, or a call made by what is left of one, goes nowhere.
#[tokio::test]
async fn nothing_reaches_the_next_run() {
    let engine = engine();
    let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
    session.send_tools(tools(&Arc::default())).await.unwrap();
    let code = "globalThis.box = {}; later(30).then(v => { box.late = v }); double(3).then(v => { box.soon = v });
                setTimeout(() => double(1), 20); return 'gone'";
    assert_eq!(session.run(&body(code, PATIENCE_MS)).await.result.unwrap().value, "gone");
    let report = session.run(&body("await later(60); return [await double(5), typeof box.late]", PATIENCE_MS)).await;
    assert_eq!(report.result.unwrap().value[0], 10);
    assert_eq!(report.fate, SessionFate::Usable);
}
