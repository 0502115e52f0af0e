//! `cove mcp` and `/mcp` of `cove serve`, met by the protocol's official SDKs: real clients, real sandboxes.
//!
//! What is checked is in `tests/mcp`, because it is what a client sees.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs a client until it has seen what it wants to see, or not. Its whole family ends with it.
fn check(program: &Path, script: &str, part: &str, expected: &str) {
    // They look whether anything computes: one at a time, also where all tests share a process.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(program.exists(), "{} is missing: run scripts/setup", program.display());
    let output = Command::new(program)
        .arg(root().join("tests/mcp").join(script))
        .args([env!("CARGO_BIN_EXE_cove"), part])
        .env_remove("BAY_API_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(expected), "{script} {part}:\n{out}\n{err}");
}

fn python(part: &str, expected: &str) {
    check(&root().join(".tools/venv-clients/bin/python"), "check.py", part, expected);
}

fn node(script: &str, part: &str, expected: &str) {
    assert!(root().join("tests/mcp/node_modules/@modelcontextprotocol/sdk").is_dir(), "run scripts/setup");
    let places = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&places).map(|dir| dir.join("node")).find(|path| path.is_file());
    check(&node.expect("node is missing: run scripts/setup"), script, part, expected);
}

#[test]
fn the_python_sdk_uses_every_tool_over_standard_streams() {
    python("stdio", "stdio, legacy: 35 tools, protocol 2025-11-25");
}

#[test]
fn the_python_sdk_uses_every_tool_over_http() {
    python("http", "http, auto: 35 tools, protocol 2026-07-28");
}

#[test]
fn the_old_the_rude_and_the_hasty_are_served_and_leave_nothing() {
    check(&root().join(".tools/venv-clients/bin/python"), "raw.py", "", "raw: as it should be");
}

#[test]
fn strangers_are_refused_at_the_door() {
    python("door", "door: refused");
}

#[test]
fn the_typescript_sdk_works_over_standard_streams() {
    node("check.mjs", "stdio", "stdio: 13 tools");
}

#[test]
fn the_typescript_sdk_works_over_http() {
    node("check.mjs", "http", "http: 13 tools");
}

#[test]
fn every_configuration_of_the_page_connects() {
    python("docs", "docs: 5 configurations");
}

#[test]
fn the_list_of_tools_costs_a_model_little() {
    node("sizes.mjs", "", "sizes: as promised");
}

#[test]
fn code_calls_the_tools_of_real_servers() {
    node("wrap.mjs", "servers", "wrap servers: as it should be");
}

#[test]
fn ten_thousand_tools_cost_a_model_what_ten_cost() {
    node("wrap.mjs", "many", "wrap many: as it should be");
}

#[test]
fn servers_that_are_broken_or_break_cost_the_others_nothing() {
    node("wrap.mjs", "trouble", "wrap trouble: as it should be");
}

#[test]
fn a_person_is_asked_while_code_waits() {
    node("wrap.mjs", "approvals", "wrap approvals: as it should be");
}

#[test]
fn every_failure_is_told_in_few_and_true_words() {
    node("failures.mjs", "", "as they are written");
}

#[test]
fn programs_do_in_the_embedded_engine_what_they_do_in_node() {
    node("programs.mjs", "embedded", "programs as in Node");
}

#[test]
fn programs_do_with_auto_what_they_do_in_node() {
    node("programs.mjs", "auto", "programs as in Node");
}
