//! What ordinary code does and what must come of it: language, web classes, and what a world must survive.
//!
//! The files in `tables/` have the form of the escape suite: `does:` says it, `must:` is the value or the fault.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use host::Guest;
use serde_json::Value;

fn check(text: &str) {
    let mut failures = Vec::new();
    for block in text.split("\n---\n") {
        let mut lines = block.trim_start_matches('\n').splitn(3, '\n');
        let does = lines.next().unwrap().strip_prefix("does: ").expect("a block begins with `does:`");
        let must = lines.next().unwrap().strip_prefix("must: ").expect("then comes `must:`");
        let code = lines.next().unwrap_or_default();
        let result = Guest::new().report(code, false, Some(50_000)).result;
        let holds = match (&result, must.strip_prefix("fault ")) {
            (Ok(ended), None) => ended.value == serde_json::from_str::<Value>(must).unwrap(),
            (Err(fault), Some(kinds)) => {
                let name = serde_json::to_value(fault.kind).unwrap();
                kinds.split('|').any(|kind| name == kind)
            }
            _ => false,
        };
        if !holds {
            failures.push(format!("{does}\n    must: {must}\n    was: {result:?}"));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn ordinary_code_does_not_feel_the_freeze() {
    check(include_str!("tables/ordinary.txt"));
}

#[test]
fn web_classes_behave() {
    check(include_str!("tables/web.txt"));
}

#[test]
fn the_world_survives() {
    check(include_str!("tables/survival.txt"));
}
