//! Numbers, dates and the order of words, as Node has them for the languages that this engine knows; for others an error
//! that says where to go, never a wrong text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use std::process::Command;

use host::Guest;
use serde_json::Value;

const PROGRAM: &str = include_str!("tables/locale.js");

#[expect(clippy::disallowed_methods, reason = "one short-lived Node that this function waits for")]
fn in_node() -> Value {
    let script = format!("process.stdout.write(JSON.stringify((() => {{ {PROGRAM} }})()))");
    let node = Command::new("node").env("TZ", "UTC").env("LC_ALL", "en_US.UTF-8").args(["-e", &script]).output();
    let output = node.expect("node is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn numbers_dates_and_words_are_as_in_node() {
    let expected = in_node();
    let mut setup = host::setup();
    setup.limits.max_result_chars = 4 << 20;
    let here = Guest::with(&setup).body(PROGRAM).unwrap();
    let (expected, here) = (expected.as_array().unwrap(), here.as_array().unwrap());
    assert!(expected.len() > 10_000 && expected.len() == here.len(), "{} {}", expected.len(), here.len());
    let wrong: Vec<_> = expected.iter().zip(here).filter(|(expected, here)| expected != here).collect();
    assert!(wrong.is_empty(), "{} differ: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
}

/// What this engine does not know is an error with advice.
#[test]
fn other_languages_are_refused_with_advice() {
    let check = |code: &str| {
        let fault = Guest::new().body(code).unwrap_err();
        assert!(fault.message.starts_with("RangeError: "), "{code}: {}", fault.message);
        assert!(fault.message.contains("engine"), "{code}: {}", fault.message);
    };
    check("return (5).toLocaleString('ar-EG')");
    check("return (5).toLocaleString('de-DE', { style: 'currency', currency: 'USD' })");
    check("return (5).toLocaleString('de-DE', { notation: 'compact' })");
    check("return (5).toLocaleString('en-US', { style: 'unit', unit: 'liter' })");
    check("return new Date(0).toLocaleDateString('fr-FR')");
    check("return new Date(0).toLocaleDateString('de-DE', { month: 'long' })");
    check("return new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' })");
    check("return new Date(0).toLocaleString('en-US', { dayPeriod: 'long' })");
}
