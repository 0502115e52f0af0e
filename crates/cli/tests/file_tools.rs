//! The file tools' 33 tests again, this time called by JavaScript: in an embedded session and in a Chrome session.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::Path;
use std::sync::Arc;

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::{Engine, RunRequest, SessionOptions, ToolSet};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions};
use cove_files::{Workspace, testkit, tool_specs};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Runs one case by code in a session of its own, under both naming schemes.
fn check(runtime: &Runtime, engine: &dyn Engine, case: &testkit::Case) {
    for suffix in ["", "Tool"] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = runtime.block_on(engine.open(SessionOptions::executor())).unwrap();
        runtime.block_on(session.send_tools(tools(folder.path()))).unwrap();
        let outcome = case.run(folder.path(), &mut |tool, args| {
            let name = format!("{tool}{suffix}");
            let code = format!(
                "var done; try {{ done = {{ ok: await {name}(JSON.parse({})) }} }} catch (error) {{ done = {{ failed: error.message }} }} done",
                json!(args.to_string())
            );
            let request = RunRequest { timeout_ms: 20_000, ..RunRequest::cell(code) };
            let report = runtime.block_on(session.run(&request));
            let mut value = report.result.map_err(|fault| format!("the code itself failed: {}", fault.message))?.value;
            match value.get("failed").and_then(Value::as_str) {
                Some(message) => Err(message.strip_prefix("Tool execution failed: ").unwrap_or(message).to_owned()),
                None => Ok(value["ok"].take()),
            }
        });
        outcome.unwrap_or_else(|error| panic!("{} as {}{suffix}: {error}", case.name, engine.name()));
        runtime.block_on(session.close()).unwrap();
    }
}

fn tools(folder: &Path) -> ToolSet {
    ToolSet::new(tool_specs(Arc::new(Workspace::open(folder).unwrap()))).unwrap()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn the_matrix_passes_in_an_embedded_session() {
    let runtime = runtime();
    let options = EmbeddedOptions { worker_program: Some(env!("CARGO_BIN_EXE_cove").into()), ..Default::default() };
    let engine = EmbeddedEngine::new(options);
    let cases = testkit::matrix();
    assert_eq!(cases.len(), 33);
    for case in &cases {
        check(&runtime, &engine, case);
    }
}

#[test]
fn the_matrix_passes_in_a_chrome_session() {
    let runtime = runtime();
    let engine = ChromeEngine::new(ChromeOptions::default());
    runtime.block_on(engine.start()).unwrap_or_else(|error| panic!("no browser (run scripts/setup): {error}"));
    for case in &testkit::matrix() {
        check(&runtime, &engine, case);
    }
    runtime.block_on(engine.close());
}
