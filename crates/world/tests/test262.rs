//! test262's tests of the language, as far as they are about the body of a strict function.
//!
//! Each is run in Node as it was written. Where that ends as the test says, so must the prepared text in Node, and so must the
//! program in the embedded engine. `test262/known_failures.txt` lists the exceptions; it may only become shorter.
//! One test in eight is run here; `COVE_TEST262=all` (`scripts/test262`) runs them all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::print_stderr, unreachable_pub)]

#[path = "test262/data.rs"]
mod data;
mod host;

use std::collections::BTreeMap;

use cove_core::{FaultKind, Limits};
use cove_script::{Mode, PrepareOptions, prepare};
use cove_testkit::ask_node;
use data::{Expected, Suite, Test};
use host::{Guest, setup};
use serde_json::json;

const KNOWN: &str = include_str!("test262/known_failures.txt");
const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/test262/node.cjs");

/// One test in so many is part of every run.
const SAMPLE: usize = 8;
const BATCH: usize = 500;
/// Tests that share a world, unless one of them fails.
const SHARED: usize = 100;
const STEPS: u64 = 3_000_000;

fn prepared(test: &Test) -> Option<String> {
    let options = PrepareOptions { mark_calls: true, ..PrepareOptions::new(Mode::FunctionBody) };
    prepare(&test.source, &options).ok().map(|prepared| prepared.code)
}

/// How each test ends in Node, as it was written and as it was prepared.
fn in_node(suite: &Suite, tests: &[Test]) -> Vec<[String; 2]> {
    let jobs: Vec<_> = tests
        .iter()
        .map(|test| json!({ "harness": test.harness, "original": test.source, "prepared": prepared(test) }))
        .collect();
    let input = json!({ "harness": suite.harness, "jobs": jobs });
    let answer = ask_node(&format!("require({NODE:?})"), input.to_string().as_bytes());
    serde_json::from_slice(&answer).expect("node answers in JSON")
}

fn ends_as(expected: &Expected, outcome: &str) -> bool {
    match expected {
        Expected::Pass => outcome == "pass",
        Expected::Refused => outcome == "refused",
        Expected::Threw(kind) => outcome.strip_prefix("threw ") == Some(kind),
    }
}

fn guest(harness: &str) -> Guest {
    let limits = Limits { memory_bytes: 128 << 20, ..Limits::ONE_SHOT };
    let mut guest = Guest::with(&cove_world::Setup { limits, ..setup() });
    let report = guest.report(harness, true, Some(STEPS));
    report.result.expect("the harness runs");
    guest
}

/// How a test ends in the embedded engine, and what is said of it.
fn here(guest: &mut Guest, test: &Test) -> (String, String) {
    let Err(fault) = guest.report(&test.source, false, Some(STEPS)).result else {
        return ("pass".to_owned(), String::new());
    };
    // What the engine alone refuses is no program either: nothing of it has run.
    let is_refused = matches!(fault.kind, FaultKind::Syntax | FaultKind::Refused)
        || fault.message.starts_with("SyntaxError") && test.expected == Expected::Refused;
    let name = fault.message.trim_start_matches("Uncaught ").split([':', ' ', '\n']).next().unwrap_or_default();
    let outcome = if is_refused { "refused".to_owned() } else { format!("threw {name}") };
    (outcome, fault.message.replace('\n', " "))
}

#[test]
fn the_language_is_that_of_the_standard() {
    let all = std::env::var("COVE_TEST262").is_ok_and(|value| value == "all");
    let suite = Suite::read(if all { 1 } else { SAMPLE });
    let mut worlds: BTreeMap<usize, (Guest, usize)> = BTreeMap::new();
    let mut failed = BTreeMap::new();
    let (mut ran, mut passed) = (Vec::new(), 0);
    for tests in suite.tests.chunks(BATCH) {
        for (test, [original, ours]) in tests.iter().zip(in_node(&suite, tests)) {
            if !ends_as(&test.expected, &original) {
                continue;
            }
            ran.push(test.path.as_str());
            let (mut world, used) =
                worlds.remove(&test.harness).unwrap_or_else(|| (guest(&suite.harness[test.harness]), 0));
            let (mut outcome, mut why) = here(&mut world, test);
            let holds = ends_as(&test.expected, &outcome);
            if holds && used < SHARED {
                worlds.insert(test.harness, (world, used + 1));
            } else if !holds && used > 0 {
                // Nothing may fail by what another test has left.
                (outcome, why) = here(&mut guest(&suite.harness[test.harness]), test);
            }
            if ends_as(&test.expected, &ours) && ends_as(&test.expected, &outcome) {
                passed += 1;
            } else {
                failed.insert(test.path.as_str(), format!("prepared {ours}, embedded {outcome}: {why}"));
            }
        }
    }
    let run = ran.len();
    eprintln!("test262: {passed} of {run}");
    if let Ok(file) = std::env::var("COVE_TEST262_WRITE") {
        let lines: Vec<String> = failed.iter().map(|(path, why)| format!("{path}: {why}")).collect();
        std::fs::write(file, lines.join("\n")).unwrap();
    }
    let known: Vec<&str> = KNOWN.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let fresh: Vec<_> = failed.iter().filter(|(path, _)| !known.contains(path)).collect();
    assert!(fresh.is_empty(), "{} tests fail: {fresh:#?}", fresh.len());
    let mended: Vec<_> = ran.into_iter().filter(|path| known.contains(path) && !failed.contains_key(path)).collect();
    assert!(mended.is_empty(), "these do not fail any more: take them off the list: {mended:#?}");
    assert!(run > if all { 15_000 } else { 2000 }, "only {run} tests applied");
}
