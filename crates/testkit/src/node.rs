//! Node, the measure of what JavaScript prints and computes.

use std::io::Write as _;
use std::process::{Command, Stdio};

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
