//! What Node prints for a table of expressions: the measure of both engines' consoles.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// One expression a line.
pub const TABLE: &str = include_str!("printed.txt");

/// What `console.log` writes in Node for each of them.
#[expect(clippy::disallowed_methods, reason = "one short-lived Node that this function waits for")]
pub fn as_node_prints(expressions: &[&str]) -> Vec<String> {
    let script = "const util = require('util');\
        const list = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
        const Buffer = undefined;\
        process.stdout.write(JSON.stringify(list.map((text) => eval(`'use strict'; util.format(...[${text}])`))));";
    let mut node = Command::new("node")
        .args(["-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is on the path");
    node.stdin.take().unwrap().write_all(&serde_json::to_vec(expressions).unwrap()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}
