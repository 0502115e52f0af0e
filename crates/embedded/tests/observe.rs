//! A session without a clock against a real host: tools that take real time tell none of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::sync::Arc;
use std::time::Duration;

use cove_core::{
    Clock, Engine, FaultKind, Limits, RunRequest, Session, SessionFate, SessionOptions, ToolSet, ToolSpec,
};
use serde_json::{Value, json};
use stage::{PATIENCE_MS, cell, engine};
use tokio::sync::Notify;

/// `late` answers only when `soon` has answered: whoever heard them as they come would hear `soon` first.
fn tools() -> ToolSet {
    let gate = Arc::new(Notify::new());
    let opener = Arc::clone(&gate);
    let late = ToolSpec::new("late", move |call| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            Ok(call.args[0].clone())
        }
    });
    let soon = ToolSpec::new("soon", move |call| {
        opener.notify_one();
        async move { Ok(call.args[0].clone()) }
    });
    let nap = ToolSpec::new("nap", |call| async move {
        tokio::time::sleep(Duration::from_millis(call.args[0].as_u64().unwrap())).await;
        Ok(json!("napped"))
    });
    ToolSet::new(vec![late, soon, nap]).unwrap()
}

async fn session(engine: &dyn Engine, clock: Clock) -> Box<dyn Session> {
    let mut session = engine.open(SessionOptions { clock, ..SessionOptions::executor() }).await.unwrap();
    session.send_tools(tools()).await.unwrap();
    session
}

async fn value(session: &mut Box<dyn Session>, code: &str) -> Value {
    session.run(&cell(code)).await.result.unwrap_or_else(|fault| panic!("{code}: {}", fault.message)).value
}

#[tokio::test]
async fn tools_tell_nothing_of_time() {
    let engine = engine();
    let mut timeless = session(&engine, Clock::None).await;
    for (code, expected) in [
        (
            "var order = []; await Promise.all([late(1).then(v => order.push(v)), soon(2).then(v => order.push(v))]); order",
            json!([1, 2]),
        ),
        ("await Promise.race([late('late'), soon('soon')])", json!("late")),
        ("var ticks = 0; setInterval(() => ticks++, 1); await nap(60); ticks", json!(0)),
        ("await Promise.race([nap(60), new Promise(end => setTimeout(end, 1, 'timer'))])", json!("napped")),
        ("var signal = AbortSignal.timeout(1); await nap(30); signal.aborted", json!(false)),
        // Real work between two timers does not change their order.
        (
            "var order = []; await new Promise(end => { setTimeout(() => { order.push('A'); end() }, 3); for (let i = 0; i < 30; i++) 'x'.repeat(1 << 20).indexOf('y'); setTimeout(() => order.push('B'), 1) }); order",
            json!(["B", "A"]),
        ),
    ] {
        assert_eq!(value(&mut timeless, code).await, expected, "{code}");
    }
    // With a clock everything is as it happens.
    let mut real = session(&engine, Clock::Real).await;
    for (code, expected) in [
        ("await Promise.race([late('late'), soon('soon')])", json!("soon")),
        ("var ticks = 0; setInterval(() => ticks++, 1); await nap(60); ticks > 0", json!(true)),
    ] {
        assert_eq!(value(&mut real, code).await, expected, "{code}");
    }
}

/// A day of sleep is over at once, for every session without a running clock.
#[tokio::test]
async fn a_day_of_sleep_is_over_at_once() {
    let engine = engine();
    for clock in [Clock::None, Clock::Fixed(0)] {
        let mut session = session(&engine, clock).await;
        let code = "for (let i = 0; i < 24; i++) await new Promise(end => setTimeout(end, 3600e3)); 'morning'";
        assert_eq!(value(&mut session, code).await, "morning", "{clock:?}");
    }
}

/// Timers without end cost no waiting, so nothing slows them down: the counter ends them, and without one the deadline.
#[tokio::test]
async fn endless_timers_end() {
    let engine = engine();
    let forever = "setInterval(() => {}, 1000); await new Promise(() => {})";
    let run = |max_operations, timeout_ms| RunRequest { timeout_ms, max_operations, ..RunRequest::cell(forever) };
    let mut counted = session(&engine, Clock::None).await;
    let report = counted.run(&run(Some(50_000), PATIENCE_MS)).await;
    assert_eq!((report.result.unwrap_err().kind, report.fate), (FaultKind::MaxOperations, SessionFate::Usable));
    assert_eq!(value(&mut counted, "1 + 1").await, 2);
    let mut uncounted = session(&engine, Clock::None).await;
    let report = uncounted.run(&run(Some(u64::MAX >> 14), 300)).await;
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Timeout);
    // Also while a tool is pending that never answers.
    let mut held = session(&engine, Clock::None).await;
    let report = held
        .run(&RunRequest { code: "setInterval(() => {}, 1); await late(1)".into(), ..run(Some(50_000), 300) })
        .await;
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Timeout);
}

/// Sessions of one engine see the same depth of calls, whatever the others do.
#[tokio::test]
async fn the_depth_of_calls_is_the_same_in_every_session() {
    let engine = engine();
    let code = "var depth = 0; const down = () => { depth++; down() }; try { down() } catch {} depth";
    let mut depths = Vec::new();
    for _ in 0..4 {
        let mut session = session(&engine, Clock::None).await;
        depths.push(value(&mut session, code).await);
    }
    assert!(depths[0].as_u64().unwrap() > 100 && depths.iter().all(|depth| *depth == depths[0]), "{depths:?}");
}

/// The same program in a small session is ended at the same place each time.
#[tokio::test]
async fn memory_ends_at_the_same_place() {
    let engine = engine();
    let mut ends = Vec::new();
    for _ in 0..3 {
        let limits = Limits { memory_bytes: 8 << 20, ..Limits::EXECUTOR };
        let mut session = engine.open(SessionOptions { limits, ..SessionOptions::executor() }).await.unwrap();
        let code = "const hoard = []; for (let i = 0; ; i++) { hoard.push('x'.repeat(50000) + i); console.log(i) }";
        let report = session.run(&cell(code)).await;
        assert_eq!(report.result.unwrap_err().kind, FaultKind::Memory);
        ends.push(report.logs.last().unwrap().text.clone());
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}
