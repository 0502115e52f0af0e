//! Random programs over the whole grammar do in the embedded engine what they do in Node.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs, unreachable_pub)]

#[path = "../../script/tests/grammar/mod.rs"]
mod grammar;
mod host;

use std::ops::Range;

use cove_testkit::run_in_node;
use host::Guest;
use serde_json::{Value, json};

/// What the programs call to say something.
const HEAD: &str = "const show = (v) => typeof v === 'function' ? 'function ' + v.name : v?.message !== undefined && v.stack ? v.name : \
    JSON.stringify(v, (_, x) => typeof x === 'function' ? 'function ' + x.name : typeof x === 'bigint' ? x + 'n' : x === undefined ? 'undefined' : x); \
    const log = (...values) => console.log(values.map(show).join(' ').slice(0, 2000));";

#[test]
fn programs_of_the_whole_grammar_do_the_same() {
    grammar::for_seeds(50_000..50_400, check);
}

fn check(seeds: Range<u64>) {
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let programs: Vec<_> = seeds.map(|seed| grammar::random(seed, false)).collect();
    let plain: Vec<String> = programs.iter().map(|program| format!("'use strict'; {HEAD} {}", program.plain)).collect();
    let jobs: Vec<(&str, Value)> = plain.iter().map(|code| (code.as_str(), json!(3))).collect();
    let mut lines = 0;
    for (index, (program, node)) in programs.iter().zip(run_in_node(&jobs)).enumerate() {
        let mut guest = Guest::new();
        let result = guest.with_input(&format!("{HEAD} {}", program.typed), json!(3));
        let (value, thrown) = match result {
            Ok(value) => (value, None),
            Err(fault) => (Value::Null, Some(fault.message)),
        };
        let seed = first + index as u64;
        let told = || {
            format!("seed {seed}\n{}\nnode: {node:#?}\nhere: {value} {thrown:?}\n{}", program.typed, guest.desk.text())
        };
        assert_eq!(guest.desk.text(), node.console, "{}", told());
        assert_eq!(thrown.is_some(), node.thrown.is_some(), "{}", told());
        assert_eq!(value, node.value.clone().unwrap_or_default(), "{}", told());
        lines += node.console.lines().count();
    }
    assert!(lines as u64 > count * 12, "the programs say too little: {lines} lines");
}
