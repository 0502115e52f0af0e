//! Node, as the engine at hand: many programs in one process.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Runs the jobs and gives what each printed. The kinds are those of `node/run.mjs`.
#[expect(clippy::disallowed_methods, reason = "the tests' own engine; it ends when its input does")]
pub(crate) fn run(jobs: &[Value]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node/run.mjs");
    let mut child = Command::new("node")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("node is needed to run this test; scripts/setup installs it");
    let mut input = child.stdin.take().unwrap();
    let text = json!(jobs).to_string();
    // Written from the side, so that a full pipe on either end cannot hold both up.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "node failed: {}", output.status);
    serde_json::from_slice(&output.stdout).expect("node answers in JSON")
}

/// The lines of one answer.
pub(crate) fn lines(answer: &Value) -> Vec<String> {
    answer.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}
