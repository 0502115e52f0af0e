//! The console prints what Node prints. One Node process prints the whole table; every line must be the same here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    clippy::result_large_err
)]

mod host;
#[path = "tables/node.rs"]
mod node;

use cove_core::{LogLevel, RunRequest};
use host::Guest;
use node::{TABLE, as_node_prints};

#[test]
fn values_are_printed_as_node_prints_them() {
    let expressions: Vec<_> = TABLE.lines().collect();
    assert!(expressions.len() >= 40);
    let expected = as_node_prints(&expressions);
    let mut guest = Guest::new();
    let mut failures = Vec::new();
    for (expression, expected) in expressions.iter().zip(expected) {
        guest.desk.lines.clear();
        let code = format!("const Buffer = undefined; console.log(...[{expression}])");
        guest.body(&code).unwrap_or_else(|fault| panic!("{expression}: {fault:?}"));
        let printed = guest.desk.text();
        if printed != expected {
            failures.push(format!("{expression}\n--- node\n{expected}\n--- here\n{printed}"));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n\n"));
}

/// A value that is wanted as text is printed without running code of the guest's, whatever JSON would say of it.
#[test]
fn a_value_can_be_had_as_text() {
    let check = |code: &str, expected: &str| {
        let mut guest = Guest::new();
        let request = RunRequest { inspect: true, ..RunRequest::cell(code) };
        let finished = guest.world.run(&request, &mut guest.desk).result.unwrap();
        assert_eq!((finished.shown.as_deref(), finished.value.is_null()), (Some(expected), true), "{code}");
    };
    check(
        "({ toJSON() { throw 1 }, get a() { throw 2 }, big: 1n })",
        "{ toJSON: [Function: toJSON], a: [Getter], big: 1n }",
    );
    check("const me = {}; me.me = me; me", "<ref *1> { me: [Circular *1] }");
    check("new Proxy([1], { getOwnPropertyDescriptor() { throw 3 }, ownKeys() { throw 4 } })", "[ 1 ]");
    check("let nothing", "undefined");
    // An answer is JSON, as ever.
    let mut guest = Guest::new();
    let request = RunRequest { inspect: true, ..RunRequest::cell("final_answer({ a: 1 })") };
    let finished = guest.world.run(&request, &mut guest.desk).result.unwrap();
    assert_eq!((finished.shown, finished.value), (None, serde_json::json!({ "a": 1 })));
}

/// The other methods, their levels and their texts.
#[test]
fn every_method_writes_its_lines() {
    let check = |code: &str, level: LogLevel, text: &str| {
        let mut guest = Guest::new();
        guest.body(code).unwrap();
        let lines: Vec<_> = guest.desk.lines.iter().map(|line| (line.level, line.text.as_str())).collect();
        assert_eq!(lines, [(level, text)], "{code}");
    };
    check("console.info('i')", LogLevel::Info, "i");
    check("console.warn('w', 1)", LogLevel::Warn, "w 1");
    check("console.error(new Error('e').message)", LogLevel::Error, "e");
    check("console.debug('d')", LogLevel::Debug, "d");
    check("console.trace('t')", LogLevel::Debug, "Trace: t");
    check("console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })", LogLevel::Log, "{ a: [Object] }");
    check("console.assert(1); console.assert(false, 'no')", LogLevel::Warn, "Assertion failed: no");
    check("console.count('x')", LogLevel::Log, "x: 1");
    check("console.log()", LogLevel::Log, "");
    check("console.log('a\\nb')", LogLevel::Log, "a\nb");
    check(
        "console.table([{ a: 1, b: 'x' }, { a: 2 }])",
        LogLevel::Log,
        "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘",
    );
    check(
        "console.table([{ 'é': '日本' }])",
        LogLevel::Log,
        "┌─────────┬────────┐\n│ (index) │ é      │\n├─────────┼────────┤\n│ 0       │ '日本' │\n└─────────┴────────┘",
    );
    check(
        "queueMicrotask(() => { throw new TypeError('m') }); await 1",
        LogLevel::Error,
        "Uncaught error in a callback: TypeError: m",
    );
    check("console.log(new Error('shown'))", LogLevel::Log, "Error: shown\n    at <anonymous> (code.js:1:17)");
}

#[test]
fn groups_indent_and_counts_count() {
    let mut guest = Guest::new();
    guest.body("console.group('g'); console.log('a\\nb'); console.group(); console.log('c'); console.groupEnd(); console.groupEnd(); console.log('d'); console.count(); console.count(); console.countReset(); console.count()").unwrap();
    assert_eq!(guest.desk.text(), "g\n  a\n  b\n    c\nd\ndefault: 1\ndefault: 2\ndefault: 1");
    // A group that was left open does not indent the next run.
    guest.body("console.group('open')").unwrap();
    guest.desk.lines.clear();
    guest.body("console.log('flat')").unwrap();
    assert_eq!(guest.desk.text(), "flat");
}

/// Ten thousand lines arrive, each whole; a gigantic one is cut; a level nobody wants is not even formatted.
#[test]
fn many_lines_and_large_ones() {
    let mut guest = Guest::new();
    guest.body("for (let i = 0; i < 10000; i++) console.log('line', i)").unwrap();
    assert_eq!(guest.desk.lines.len(), 10_000);
    assert_eq!(guest.desk.lines[9_999].text, "line 9999");
    guest.desk.lines.clear();
    guest
        .body("console.log('x'.repeat(5 << 20)); console.log(Array.from({ length: 1000 }, () => 'y'.repeat(20000)))")
        .unwrap();
    assert!(guest.desk.lines.iter().all(|line| line.text.len() <= 262_144 + 3));

    let mut setup = host::setup();
    setup.log_levels = vec![LogLevel::Error];
    let mut guest = Guest::with(&setup);
    guest.body("let ran = 0; console.log('%s', { toString() { ran++; return 'x' } }); console.error(ran)").unwrap();
    assert_eq!(guest.desk.text(), "0");
}
