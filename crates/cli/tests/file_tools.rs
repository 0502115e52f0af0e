//! The file tools called by JavaScript, in an embedded session and in a Chrome session: their 33 tests again, and answers
//! that are used as the text that they hold.
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

fn embedded() -> EmbeddedEngine {
    let worker_program = Some(env!("CARGO_BIN_EXE_cove").into());
    EmbeddedEngine::new(EmbeddedOptions { worker_program, ..Default::default() })
}

fn chrome(runtime: &Runtime) -> ChromeEngine {
    let engine = ChromeEngine::new(ChromeOptions::default());
    runtime.block_on(engine.start()).unwrap_or_else(|error| panic!("no browser (run scripts/setup): {error}"));
    engine
}

#[test]
fn the_matrix_passes_in_an_embedded_session() {
    let runtime = runtime();
    let engine = embedded();
    let cases = testkit::matrix();
    assert_eq!(cases.len(), 33);
    for case in &cases {
        check(&runtime, &engine, case);
    }
}

#[test]
fn the_matrix_passes_in_a_chrome_session() {
    let runtime = runtime();
    let engine = chrome(&runtime);
    for case in &testkit::matrix() {
        check(&runtime, &engine, case);
    }
    runtime.block_on(engine.close());
}

/// What code does with an answer as if it were the text, or the object that it is.
fn uses() -> Vec<(&'static str, Value)> {
    let answer = json!({"content": [{"type": "text", "text": "one\ntwo\n"}]});
    vec![
        ("return (await read('a.txt')).split('\\n')", json!(["one", "two", ""])),
        (
            "const t = await read('a.txt'); return [t.length, t.trim(), t + '!', `${t}`, t == 'one\\ntwo\\n', t.text]",
            json!([8, "one\ntwo", "one\ntwo\n!", "one\ntwo\n", true, "one\ntwo\n"]),
        ),
        (
            "const t = await read('a.txt'); return [t.includes('two'), t.match(/w/).index, t.replace('one', '1'), t.at(0)]",
            json!([true, 5, "1\ntwo\n", "o"]),
        ),
        (
            "const t = await read('a.txt'); return [[...t].length, /two/.test(t), t.truncated, t.nextOffset === undefined]",
            json!([8, true, false, true]),
        ),
        ("return JSON.parse(await read('data.json')).n", json!(42)),
        // As an object it is what it was, and nothing else.
        ("return await read('a.txt')", answer.clone()),
        ("return JSON.parse(JSON.stringify({ a: await read('a.txt') }))", json!({ "a": answer })),
        ("return structuredClone(await read('a.txt'))", answer.clone()),
        ("return { ...await read('a.txt') }", answer),
        (
            "const t = await read('a.txt'); return [Object.keys(t), t.constructor === Object, t.content[0].text]",
            json!([["content"], true, "one\ntwo\n"]),
        ),
        // Notices are words for a model: not in the text, still in the answer.
        (
            "const t = await read('big.txt'); return [t.split('\\n').length, t.truncated, t.nextOffset, t.content[0].text.endsWith(' to continue.]')]",
            json!([2000, true, 2001, true]),
        ),
        (
            "let lines = [], offset = 1; while (offset) { const t = await read('big.txt', { offset }); lines.push(...t.split('\\n')); offset = t.nextOffset } return [lines.length, lines.at(-1)]",
            json!([2500, "line 2500"]),
        ),
        (
            "const t = await read('wide.txt', { limit: 1 }); return [String(t), t.length, t.truncated, t.nextOffset]",
            json!(["ä😀", 3, true, 2]),
        ),
        (
            "const t = await read('long.txt'); return [String(t), t.truncated, t.nextOffset === undefined]",
            json!(["", true, true]),
        ),
        ("return (await ls()).split('\\n').length", json!(6)),
        ("return [await ls('empty'), await grep('nowhere'), await find('*.none')].map(String)", json!(["", "", ""])),
        (
            "const t = await grep('line', { limit: 1 }); return [String(t), t.truncated]",
            json!(["big.txt:1: line 1", true]),
        ),
        ("return (await find('*.json')).split('\\n')", json!(["data.json"])),
        // What was read can be given to the next tool.
        (
            "await write('b.txt', await read('a.txt')); return String(await readTool({ path: 'b.txt' }))",
            json!("one\ntwo\n"),
        ),
        ("return (await write('c.txt', 'x')).startsWith('Successfully wrote')", json!(true)),
    ]
}

fn check_texts(runtime: &Runtime, engine: &dyn Engine) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("a.txt", "one\ntwo\n");
    put("data.json", r#"{"n": 42}"#);
    put("big.txt", &(1..=2500).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n"));
    put("wide.txt", "ä😀\nx");
    put("long.txt", &"x".repeat(60_000));
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let mut session = runtime.block_on(engine.open(SessionOptions::executor())).unwrap();
    runtime.block_on(session.send_tools(tools(folder.path()))).unwrap();
    let mut run = |code: &str| {
        let cell = RunRequest::cell(format!("await (async () => {{ {code} }})()"));
        runtime.block_on(session.run(&RunRequest { timeout_ms: 20_000, ..cell }))
    };
    for (code, expected) in uses() {
        let report = run(code);
        assert!(report.warnings.is_empty(), "{}: {code}: {:?}", engine.name(), report.warnings);
        let result = report.result.unwrap_or_else(|fault| panic!("{}: {code}: {}", engine.name(), fault.message));
        assert_eq!(result.value, expected, "{}: {code}", engine.name());
    }
    let logs = run("console.log(await read('a.txt')); console.log('it is', await read('data.json'))").logs;
    let lines: Vec<&str> = logs.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["one\ntwo\n", r#"it is {"n": 42}"#], "{}", engine.name());
    runtime.block_on(session.close()).unwrap();
}

#[test]
fn an_answer_is_its_text_in_an_embedded_session() {
    check_texts(&runtime(), &embedded());
}

#[test]
fn an_answer_is_its_text_in_a_chrome_session() {
    let runtime = runtime();
    let engine = chrome(&runtime);
    check_texts(&runtime, &engine);
    runtime.block_on(engine.close());
}
