//! The console prints what Node prints, here as in the embedded engine: the same table of values, one Node, one page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

#[path = "../../world/tests/tables/node.rs"]
mod node;
mod world;

use cove_core::{LogLevel, SessionOptions};
use node::{TABLE, as_node_prints};
use world::{body, finished, world};

/// What a page cannot see: the state of a promise, and that a list is of arguments.
const UNSEEN: &[&str] = &["Promise", "arguments"];

#[tokio::test]
async fn values_are_printed_as_node_prints_them() {
    let expressions: Vec<_> = TABLE.lines().filter(|line| !UNSEEN.iter().any(|unseen| line.contains(unseen))).collect();
    assert!(expressions.len() >= 70, "{}", expressions.len());
    let expected = as_node_prints(&expressions);
    let world = world(1);
    let mut session = world.open(SessionOptions::one_shot()).await;
    let lines = expressions.iter().map(|expression| format!("console.log(...[{expression}])\n"));
    let code = format!("const Buffer = undefined\n{}", lines.collect::<String>());
    let report = session.run(&body(&code)).await;
    let printed: Vec<_> = report.logs.iter().map(|line| line.text.clone()).collect();
    finished(report, "the table");
    assert_eq!(printed.len(), expressions.len());
    let wrong: Vec<_> = expressions
        .iter()
        .zip(expected.iter().zip(&printed))
        .filter(|(_, (expected, printed))| expected != printed)
        .map(|(expression, (expected, printed))| format!("{expression}\n--- node\n{expected}\n--- here\n{printed}"))
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
    session.close().await.unwrap();
    world.end().await;
}

/// Tables, depth and groups; errors that nobody catches are told; an element says which one it is.
#[tokio::test]
async fn methods_write_what_they_write_elsewhere() {
    let world = world(1);
    let mut session = world.open(SessionOptions::one_shot()).await;
    let mut check = async |code: &str, expected: &[(LogLevel, &str)]| {
        let report = session.run(&body(code)).await;
        let lines: Vec<_> = report.logs.iter().map(|line| (line.level, line.text.as_str())).collect();
        assert_eq!(lines, expected, "{code}");
    };
    check(
        "console.table([{ a: 1, b: 'x' }, { a: 2 }]); console.table('plain')",
        &[
            (LogLevel::Log, "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘"),
            (LogLevel::Log, "plain"),
        ],
    )
    .await;
    check("console.dir({ a: { b: { c: 1 } } }, { depth: 0 })", &[(LogLevel::Log, "{ a: [Object] }")]).await;
    check("console.debug('d')", &[(LogLevel::Debug, "d")]).await;
    check("console.group('g'); console.log('a\\nb')", &[(LogLevel::Log, "g"), (LogLevel::Log, "  a\n  b")]).await;
    check(
        "const e = document.createElement('p'); e.id = 'x'; e.className = 'a b'; console.log(e)",
        &[(LogLevel::Log, "<p id=\"x\" class=\"a b\">")],
    )
    .await;
    check(
        "console.log(new Error('outer', { cause: new TypeError('inner') }))",
        &[(LogLevel::Log, "[Error: outer] { [cause]: [TypeError: inner] }")],
    )
    .await;
    check(
        "setTimeout(() => { throw new RangeError('late') }); await new Promise(r => setTimeout(r, 20))",
        &[(LogLevel::Error, "Uncaught error in a callback: RangeError: late")],
    )
    .await;
    session.close().await.unwrap();
    world.end().await;
}

/// Faults come with the advice of the embedded engine.
#[tokio::test]
async fn faults_come_with_advice() {
    let world = world(1);
    for (code, word) in [
        ("[1].forEch(x => x)", "forEach"),
        ("const n = '1'; n.toFixed(2)", "Number"),
        ("const x = 1; x = 2", "const"),
        ("const f = () => f(); f()", "recursion"),
        ("await fetch('https://example.com')", "network"),
        ("return 1n", "BigInt"),
        ("const a = {}; a.a = a; return a", "cycle"),
    ] {
        let mut session = world.open(SessionOptions::one_shot()).await;
        let fault = session.run(&body(code)).await.result.unwrap_err();
        assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains(word)), "{code}: {fault:?}");
        session.close().await.unwrap();
    }
    world.end().await;
}
