//! Node, the measure of what JavaScript prints and computes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs programs, each the body of an async function of its input.
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/node.cjs");

/// What a program did in Node.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct InNode {
    /// Its value, unless it failed.
    pub value: Option<Value>,
    /// What it threw, as text.
    pub thrown: Option<String>,
    /// What it printed.
    pub console: String,
}

/// What programs with their inputs do in Node.
pub fn run_in_node(programs: &[(&str, Value)]) -> Vec<InNode> {
    let answer = ask_node(&format!("require({PROGRAMS:?})"), &serde_json::to_vec(programs).unwrap());
    serde_json::from_slice(&answer).expect("node answers in JSON")
}

/// Runs a script in Node with this on its standard input; what it writes to its standard output.
#[expect(clippy::disallowed_methods, reason = "one short-lived Node that this function waits for")]
pub fn ask_node(script: &str, input: &[u8]) -> Vec<u8> {
    let mut node = Command::new("node")
        .args(["--no-warnings", "-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is on the path");
    node.stdin.take().unwrap().write_all(input).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}
