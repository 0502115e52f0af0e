//! The examples of `docs/errors`: what a page calls failing fails with the page's code, and what it calls working works.
//!
//! Pages whose examples need a server, another build or the host's own code are not here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::Path;
use std::sync::Arc;

use cove_artifacts::StoreLimits;
use cove_core::{Engine, ExecutorOptions, ImportPolicy, Limits, ToolError, ToolSet, ToolSpec};
use cove_embedded::EmbeddedEngine;
use cove_executor::{CodeExecutor, PictureStore, Pictures, Runner, RunnerOptions};
use serde_json::{Value, json};

/// The two lines of a page.
fn examples(page: &str) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/errors/{page}.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = |word: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(word)).map(str::trim);
        found.unwrap_or_else(|| panic!("{page} has no line that begins with {word}")).to_owned()
    };
    (line("fails "), line("works "))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// One-shot runs: the page, the input, the time for each of its lines.
#[test]
fn pages_about_one_shot_runs_are_true() {
    let rows: Vec<Value> = (0..20_000).map(|id| json!({ "id": id, "name": "a row" })).collect();
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner::new(RunnerOptions {
        embedded: Some(Arc::new(EmbeddedEngine::default())),
        pictures: Pictures::Kept(Arc::new(PictureStore::at(folder.path(), StoreLimits::default()))),
        limits: Limits::default(),
        ..RunnerOptions::default()
    });
    let runtime = runtime();
    for (page, input, timeout) in [
        ("invalid_args", json!(null), 30_000),
        ("js_execution_failed", json!({}), 30_000),
        ("execution_timeout", json!(null), 1_000),
        ("result_too_large", json!({ "rows": rows }), 30_000),
        ("non_json_serializable_return", json!(null), 30_000),
        ("canvas_export_failed", json!(null), 30_000),
    ] {
        let (fails, works) = examples(page);
        let run = |example: &str| {
            let args = match serde_json::from_str::<Value>(example) {
                Ok(args) if args.is_object() => args,
                _ => json!({ "code": example, "input": input, "timeout": timeout, "engine": "embedded" }),
            };
            runtime.block_on(runner.call(&args)).answer()
        };
        assert_eq!(run(&fails)["error"], page, "{fails}");
        let worked = run(&works);
        assert!(worked.get("error").is_none(), "{page}: {works}: {worked}");
    }
}

/// Cells of an executor: the page, and what the line expects to be there.
#[test]
fn pages_about_sessions_are_true() {
    let runtime = runtime();
    for (page, before) in [
        ("ERR_AST_LINT_VIOLATION", ""),
        ("ERR_IMPORT_NOT_ALLOWED", ""),
        ("ERR_EXEC_TIMEOUT", "let done = false; const check = () => wait()"),
        ("ERR_MAX_OPS_EXCEEDED", "const items = [1, 2], work = (n) => n + 1"),
        ("ERR_MEMORY_LIMIT", "const parts = [[1], [2]], handle = () => {}"),
        ("ERR_RUNTIME_EXCEPTION", "const data = {}"),
        ("ERR_TOOL_PROXY_FAIL", ""),
    ] {
        let (fails, works) = examples(page);
        let run = |example: &str| {
            let slow = page == "ERR_EXEC_TIMEOUT";
            let policy = ImportPolicy {
                authorized: vec!["lodash".to_owned(), "listed-module".to_owned()],
                modules: ["lodash", "listed-module"].map(|name| (name.to_owned(), "export {}".to_owned())).into(),
            };
            let options = ExecutorOptions {
                max_operations: if slow { 1_000_000_000 } else { ExecutorOptions::default().max_operations },
                timeout_ms: if slow { 1_000 } else { 30_000 },
                authorized_imports: policy.authorized,
                modules: policy.modules,
                ..ExecutorOptions::default()
            };
            let engine: Arc<dyn Engine> = Arc::new(EmbeddedEngine::default());
            let executor = CodeExecutor::new(engine, options).unwrap();
            let missing = |_| async { Err(ToolError::new("File not found: missing.txt")) };
            let tools = vec![ToolSpec::new("read", missing), ToolSpec::new("wait", |_| async { Ok(Value::Null) })];
            runtime.block_on(async {
                executor.init().await.unwrap();
                executor.send_tools(ToolSet::new(tools).unwrap()).await.unwrap();
                executor.run(before).await.unwrap_or_else(|error| panic!("{before}: {error:?}"));
                executor.run(example).await
            })
        };
        let failed = run(&fails).expect_err(&fails);
        assert_eq!(failed.code.as_str(), page, "{fails}: {failed:?}");
        let worked = run(&works);
        assert!(worked.is_ok(), "{page}: {works}: {worked:?}");
    }
}
