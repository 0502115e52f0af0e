//! What Node prints for a table of expressions: the measure of both engines' consoles.

use cove_testkit::ask_node;

/// One expression a line.
pub const TABLE: &str = include_str!("printed.txt");

/// What `console.log` writes in Node for each of them.
pub fn as_node_prints(expressions: &[&str]) -> Vec<String> {
    let script = "const util = require('util');\
        const list = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
        const Buffer = undefined;\
        process.stdout.write(JSON.stringify(list.map((text) => eval(`'use strict'; util.format(...[${text}])`))));";
    serde_json::from_slice(&ask_node(script, &serde_json::to_vec(expressions).unwrap())).unwrap()
}
