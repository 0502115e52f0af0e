//! What a runner answers before any engine is asked: each refusal with its code and its fields.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use cove_core::{Effects, EngineChoice, RunRequest};
use cove_executor::{Runner, RunnerOptions};
use serde_json::{Value, json};

fn call(options: RunnerOptions, args: &Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = runtime.block_on(Runner::new(options).call(args));
    assert!(report.engine.is_none(), "nothing may have run: {report:?}");
    assert_eq!(report.effects, Effects::None);
    report.answer()
}

#[test]
fn wrong_arguments_are_named() {
    let answer = call(RunnerOptions::default(), &json!({ "code": 1 }));
    assert_eq!(answer, json!({ "error": "invalid_args", "message": "`code` must be a string" }));
}

/// The limit counts characters, not bytes.
#[test]
fn long_code_is_refused_with_both_lengths() {
    let code = "ä".repeat(50_001);
    let answer = call(RunnerOptions::default(), &json!({ "code": code }));
    assert_eq!(
        (&answer["error"], &answer["maxLength"], &answer["length"]),
        (&json!("code_too_large"), &json!(50_000), &json!(50_001))
    );
}

#[test]
fn the_legacy_scan_is_off_unless_switched_on() {
    let scan = RunnerOptions { blocked_words: vec!["require".to_owned(), "eval".to_owned()], ..Default::default() };
    let answer = call(scan, &json!({ "code": "require('fs')" }));
    assert_eq!((&answer["error"], &answer["blocked"]), (&json!("blocked_code"), &json!(["require"])));
    let answer = call(RunnerOptions::default(), &json!({ "code": "require('fs')", "fallback": false }));
    assert_eq!(answer["error"], "browser_not_available");
    assert!(answer["message"].as_str().unwrap().contains("apt-get install chromium-headless-shell"), "{answer}");
}

/// `auto` has to read the program, so it can say what is wrong with it before anything starts.
#[test]
fn auto_points_at_a_syntax_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let request = RunRequest { engine: EngineChoice::Auto, ..RunRequest::new("let a = 1;\nlet b = ;") };
    let answer = runtime.block_on(Runner::default().run(request)).answer();
    assert_eq!((&answer["error"], &answer["line"]), (&json!("js_execution_failed"), &json!(2)));
    assert!(answer["frame"].as_str().unwrap().contains("let b = ;"), "{answer}");
}
