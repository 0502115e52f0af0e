//! Sessions and runs from end to end, in real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::sync::{Arc, Mutex};

use cove_core::{Engine, EngineError, FaultKind, Limits, LogLine, RunRequest, SessionFate, SessionOptions};
use serde_json::{Value, json};
use stage::{PATIENCE_MS, body, cell, engine, fault, once, session, value};

#[tokio::test]
async fn a_value_comes_back() {
    let engine = engine();
    assert_eq!(value(&engine, "return 1 + 1").await, 2);
    assert_eq!(value(&engine, "return {a: [1, 'ä', null]}").await, json!({"a": [1, "ä", null]}));
    assert_eq!(value(&engine, "return await new Promise(r => setTimeout(r, 5, 'later'))").await, "later");
    assert_eq!(value(&engine, "").await, Value::Null);
    // The last bit counts: a number is the same number on both sides.
    for number in ["0.1 + 0.2", "5e-324", "1.7976931348623157e308", "9007199254740993", "123456789.12345678"] {
        let text = value(&engine, &format!("return String({number})")).await;
        let there = value(&engine, &format!("return {number}")).await.as_f64().unwrap();
        assert_eq!(there, text.as_str().unwrap().parse::<f64>().unwrap(), "{number}");
    }
}

#[tokio::test]
async fn input_is_what_was_given() {
    let engine = engine();
    for (input, expected) in
        [(None, "undefined"), (Some(Value::Null), "object"), (Some(json!("x")), "string"), (Some(json!(0)), "number")]
    {
        let request = RunRequest { input, ..body("return typeof input", PATIENCE_MS) };
        assert_eq!(once(&engine, request).await.result.unwrap().value, expected);
    }
}

#[tokio::test]
async fn a_session_keeps_its_state_and_shares_it_with_nobody() {
    let engine = engine();
    let mut one = engine.open(SessionOptions::executor()).await.unwrap();
    let mut other = engine.open(SessionOptions::executor()).await.unwrap();
    one.send_variables(json!({"given": {"n": 20}}).as_object().unwrap().clone()).await.unwrap();
    assert_eq!(one.run(&cell("let x = given.n + 1")).await.result.unwrap().value, 21);
    assert_eq!(one.run(&cell("x * 2")).await.result.unwrap().value, 42);
    let report = other.run(&cell("typeof x + typeof given")).await;
    assert_eq!(report.result.unwrap().value, "undefinedundefined");
    assert_eq!(report.fate, SessionFate::Usable);
    // An exception leaves the state as it was.
    assert_eq!(one.run(&cell("throw new Error('no')")).await.result.unwrap_err().kind, FaultKind::Exception);
    assert_eq!(one.run(&cell("x")).await.result.unwrap().value, 21);
    one.close().await.unwrap();
    assert_eq!(other.run(&cell("1")).await.result.unwrap().value, 1);
}

/// Worlds forked from one zygote do not share their chance.
#[tokio::test]
async fn chance_differs_between_sessions() {
    let engine = engine();
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(value(&engine, "return String(Math.random()) + crypto.randomUUID()").await);
    }
    seen.sort_by_key(ToString::to_string);
    seen.dedup();
    assert_eq!(seen.len(), 8);
}

#[tokio::test]
async fn console_lines_come_in_order_and_at_once() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let sink: cove_core::LogSink = Arc::new(move |line: &LogLine| ear.lock().unwrap().push(line.text.clone()));
    let options = SessionOptions { log_sink: Some(sink), ..SessionOptions::one_shot() };
    let engine = engine();
    let mut session = engine.open(options).await.unwrap();
    let report = session.run(&body("console.log('a'); console.warn('b', 1); return 0", PATIENCE_MS)).await;
    assert_eq!(report.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["a", "b 1"]);
    assert_eq!(*heard.lock().unwrap(), ["a", "b 1"]);
    assert!(!report.logs_truncated);

    // What was written before the deadline is there, although the code never came back.
    let report = session.run(&body("console.log('first'); console.log('last'); while (true) {}", 300)).await;
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Timeout);
    assert_eq!(report.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["first", "last"]);
    assert_eq!(report.fate, SessionFate::Lost);
}

#[tokio::test]
async fn ten_thousand_lines_are_kept_or_cut_whole() {
    let engine = engine();
    let lines = "for (let i = 0; i < 10000; i++) console.log('line ' + i); return 'done'";
    let report = once(&engine, body(lines, PATIENCE_MS)).await;
    assert_eq!(report.result.unwrap().value, "done");
    assert_eq!((report.logs.len(), report.logs_truncated), (10_000, false));
    assert_eq!(report.logs[9_999].text, "line 9999");

    let limits = Limits { max_log_bytes: 1024, ..Limits::ONE_SHOT };
    let mut session = engine.open(SessionOptions { limits, ..SessionOptions::one_shot() }).await.unwrap();
    let report = session.run(&body(lines, PATIENCE_MS)).await;
    assert!(report.logs_truncated && report.logs.len() > 100, "{} {}", report.logs_truncated, report.logs.len());
    let bytes: usize = report.logs.iter().map(|line| line.text.len() + 1).sum();
    assert!(bytes <= 1024, "{bytes}");
    for (number, line) in report.logs.iter().enumerate() {
        assert_eq!(line.text, format!("line {number}"));
    }
    // One line that is longer than everything allowed is cut, not lost; and the session lives.
    let report = session.run(&body("console.log('y'.repeat(5e6)); return 1", PATIENCE_MS)).await;
    assert_eq!((report.logs.len(), report.logs[0].text.len(), report.logs_truncated), (1, 1024, true));
    assert_eq!(session.run(&body("return 2", PATIENCE_MS)).await.result.unwrap().value, 2);
}

#[tokio::test]
async fn limits_of_the_run_are_told_by_kind() {
    let engine = engine();
    let request = RunRequest { max_operations: Some(100), ..cell("while (true) {}") };
    let mut session = engine.open(SessionOptions::executor()).await.unwrap();
    let report = session.run(&request).await;
    assert_eq!((report.result.unwrap_err().kind, report.fate), (FaultKind::MaxOperations, SessionFate::Usable));
    assert_eq!(session.run(&cell("7")).await.result.unwrap().value, 7);
    let too_long = fault(&engine, "return 'x'.repeat(300000)", PATIENCE_MS).await;
    assert_eq!(too_long.kind, FaultKind::ResultTooLarge);
}

#[tokio::test]
async fn bad_options_and_bad_names_are_refused() {
    let engine = engine();
    let limits = Limits { timeout_ms: 0, ..Limits::ONE_SHOT };
    let refused = engine.open(SessionOptions { limits, ..SessionOptions::one_shot() }).await.err().unwrap();
    assert_eq!(refused, EngineError::Invalid("timeout_ms is 0; it must be between 1 and 86400000".into()));
    let mut session = session(&engine).await;
    let bad = session.send_variables(json!({"not a name": 1}).as_object().unwrap().clone()).await;
    assert!(matches!(bad, Err(EngineError::Invalid(_))), "{bad:?}");
    assert_eq!(session.run(&body("return 1", PATIENCE_MS)).await.result.unwrap().value, 1);
}

/// Dropping a run kills it; the session then says so.
#[tokio::test]
async fn a_dropped_run_ends_the_session() {
    let engine = engine();
    let mut session = session(&engine).await;
    let request = body("while (true) {}", PATIENCE_MS);
    let run = session.run(&request);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), run).await.is_err());
    let report = session.run(&body("return 1", PATIENCE_MS)).await;
    assert_eq!(report.fate, SessionFate::Lost);
    assert_eq!(report.result.unwrap_err().message, "a run was given up");
    session.close().await.unwrap();
}

/// One engine, several runtimes: it belongs to none of them.
#[test]
fn an_engine_outlives_a_runtime() {
    let engine = engine();
    for n in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(runtime.block_on(value(&engine, &format!("return {n}"))), n);
    }
}
