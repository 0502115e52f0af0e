//! What a guest can make its host hold for it follows from the session's own limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use cove_core::{Engine, Limits, SessionOptions, ToolSet, ToolSpec};
use serde_json::json;
use stage::{PATIENCE_MS, body, engine};

/// A tool that never answers, so that its arguments stay, and one that does at once.
fn tools() -> ToolSet {
    let hold = ToolSpec::new("hold", |_| std::future::pending());
    let count = ToolSpec::new("count", |call| async move { Ok(json!(call.args[0].as_array().unwrap().len())) });
    ToolSet::new(vec![hold, count]).unwrap()
}

fn options() -> SessionOptions {
    SessionOptions { limits: Limits { memory_bytes: 64 << 20, ..Limits::ONE_SHOT }, ..SessionOptions::one_shot() }
}

/// A few kilobytes in the guest are megabytes of JSON, and eighty bytes a number in the host: what is counted is the last.
#[tokio::test]
async fn arguments_weigh_what_they_take_in_the_host() {
    let engine = engine();
    let mut session = engine.open(options()).await.unwrap();
    session.send_tools(tools()).await.unwrap();
    let before = resident_bytes();
    // Each call has 2 MB of JSON and a million numbers; eight of them took 640 MB.
    let code = "const row = new Array(1000).fill(0), table = new Array(1000).fill(row);
                const refused = []; const hear = (error) => refused.push(error.message);
                for (let i = 0; i < 8; i++) hold(table).catch(hear);
                await count([]); await count([]);
                return [refused.length, refused[0]]";
    let report = session.run(&body(code, PATIENCE_MS)).await;
    let grown = resident_bytes().saturating_sub(before);
    let value = report.result.unwrap().value;
    assert_eq!(value[0], 8, "{value}");
    assert!(value[1].as_str().unwrap().contains("too much at once"), "{value}");
    assert!(grown < 192 << 20, "the host has grown by {grown} bytes");
    // What is not too much goes through, in the same session.
    let fits =
        "const all = []; for (let i = 0; i < 4; i++) all.push(count(new Array(1e5).fill(i))); return Promise.all(all)";
    assert_eq!(
        session.run(&body(fits, PATIENCE_MS)).await.result.unwrap().value,
        json!([100_000, 100_000, 100_000, 100_000])
    );
}

/// Weight is given back: what came one after the other may be more than what may be there at once.
#[tokio::test]
async fn weight_is_given_back_with_the_answer() {
    let engine = engine();
    let mut session = engine.open(options()).await.unwrap();
    session.send_tools(tools()).await.unwrap();
    let code = "let sum = 0; for (let i = 0; i < 12; i++) sum += await count(new Array(2e5).fill(i)); return sum";
    assert_eq!(session.run(&body(code, PATIENCE_MS)).await.result.unwrap().value, 2_400_000);
}

fn resident_bytes() -> u64 {
    cove_testkit::processes::status_bytes(std::process::id(), "VmRSS").unwrap()
}
