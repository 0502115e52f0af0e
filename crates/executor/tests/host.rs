//! The session host with the real embedded engine: owners are apart, limits hold, and what is ended is gone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::Arc;

use cove_core::{EngineChoice, EngineName, FaultKind, Limits, LogLine, RunReport, RunRequest, SessionFate, ToolSpec};
use cove_embedded::EmbeddedEngine;
use cove_executor::{HostError, HostOptions, MaxSessions, Pictures, RunContext, RunListener, SessionHost};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const MAX_SESSIONS: MaxSessions = MaxSessions { per_owner: 2, embedded: 3, browser: 1 };

fn host(max_runs: usize) -> SessionHost {
    SessionHost::new(HostOptions {
        embedded: Arc::new(EmbeddedEngine::default()),
        browser: None,
        one_shot_limits: Limits::ONE_SHOT,
        session_limits: Limits { max_operations: None, ..Limits::EXECUTOR },
        max_runs,
        max_sessions: MAX_SESSIONS,
        approval_limit: std::time::Duration::from_secs(60),
    })
}

fn context(owner: &str) -> RunContext {
    RunContext {
        owner: owner.to_owned(),
        tools: Vec::new(),
        network: Default::default(),
        live_network: None,
        pictures: Pictures::default(),
        idle_timeout: None,
        host_tools: None,
    }
}

fn cell(session: &str, code: &str) -> RunRequest {
    RunRequest { session: Some(session.to_owned()), engine: EngineChoice::Auto, ..RunRequest::new(code) }
}

/// Says each console line as it comes.
struct Lines(mpsc::UnboundedSender<String>);

impl RunListener for Lines {
    fn console(&self, line: &LogLine) {
        let _ = self.0.send(line.text.clone());
    }

    fn tool_called(&self, _call_id: &str, _name: &str, _args: Vec<Value>) {}
}

async fn run(host: &SessionHost, owner: &str, request: RunRequest) -> Result<RunReport, HostError> {
    host.run(context(owner), request, Arc::new(Lines(mpsc::unbounded_channel().0))).await
}

async fn value(host: &SessionHost, owner: &str, request: RunRequest) -> Value {
    run(host, owner, request).await.unwrap().result.unwrap().value
}

#[tokio::test]
async fn owners_are_apart() {
    let host = host(4);
    value(&host, "a", cell("s", "let n = 1")).await;
    assert_eq!(value(&host, "b", cell("s", "typeof n")).await, "undefined");
    assert_eq!(value(&host, "a", RunRequest { input: Some(json!(2)), ..cell("s", "n + input") }).await, 3);
    assert_eq!(host.end("a", None).await, 1);
    assert!(!host.has("a") && host.has("b"));
    assert_eq!(value(&host, "a", cell("s", "typeof n")).await, "undefined");
    host.close().await;
    assert_eq!(run(&host, "a", cell("s", "1")).await.unwrap_err(), HostError::Closed);
}

#[tokio::test]
async fn what_runs_in_a_session_ends_with_it() {
    let host = host(4);
    let (lines, mut heard) = mpsc::unbounded_channel();
    let endless = host.run(context("a"), cell("s", "console.log('begun'); for (;;);"), Arc::new(Lines(lines)));
    let end = async {
        assert_eq!(heard.recv().await.as_deref(), Some("begun"));
        assert_eq!(host.end("a", Some("other")).await, 0);
        host.end("a", Some("s")).await
    };
    let (ended, count) = tokio::join!(endless, end);
    assert_eq!((ended.unwrap_err(), count), (HostError::Ended, 1));
    assert_eq!((host.has("a"), host.sessions()), (false, 0));
}

#[tokio::test]
async fn a_lost_session_is_told_and_begins_anew() {
    let host = host(4);
    value(&host, "a", cell("s", "let n = 1")).await;
    let late = run(&host, "a", RunRequest { timeout_ms: 200, ..cell("s", "for (;;);") }).await.unwrap();
    assert_eq!((late.fault().unwrap().kind, late.fate), (FaultKind::Timeout, SessionFate::Lost));
    assert_eq!(value(&host, "a", cell("s", "typeof n")).await, "undefined");
    // A world of its own has no state to lose.
    let once = RunRequest { engine: EngineChoice::Embedded, timeout_ms: 200, ..RunRequest::new("for (;;);") };
    let late = run(&host, "a", once).await.unwrap();
    assert_eq!((late.fault().unwrap().kind, late.fate), (FaultKind::Timeout, SessionFate::Usable));
}

#[tokio::test]
async fn limits_and_wishes_are_told_by_their_cause() {
    let host = host(1);
    for name in ["one", "two"] {
        value(&host, "a", cell(name, "1")).await;
    }
    assert_eq!(run(&host, "a", cell("three", "1")).await.unwrap_err(), HostError::TooManySessions { max: 2 });
    value(&host, "b", cell("one", "1")).await;
    assert_eq!(run(&host, "c", cell("one", "1")).await.unwrap_err(), HostError::TooManySessions { max: 3 });
    let other = RunRequest { engine: EngineChoice::Browser, ..cell("one", "1") };
    let expected = HostError::OtherEngine { name: "one".to_owned(), engine: EngineName::Embedded };
    assert_eq!(run(&host, "a", other).await.unwrap_err(), expected);
    let page = RunRequest { engine: EngineChoice::Browser, ..cell("page", "1") };
    assert_eq!(run(&host, "c", page).await.unwrap().fault().unwrap().kind, FaultKind::BrowserNotAvailable);

    let twice = RunRequest { tools: vec!["ask".to_owned(), "ask".to_owned()], ..cell("one", "1") };
    assert!(matches!(run(&host, "a", twice).await, Err(HostError::Invalid(_))));

    // One run at a time: a second one waits within its own time.
    let (lines, mut heard) = mpsc::unbounded_channel();
    let wait = ToolSpec::new("wait", |_| std::future::pending());
    let held = RunContext { tools: vec![wait], ..context("a") };
    let first = RunRequest { engine: EngineChoice::Embedded, ..RunRequest::new("console.log('begun'); await wait()") };
    let first = host.run(held, first, Arc::new(Lines(lines)));
    let second = async {
        assert_eq!(heard.recv().await.as_deref(), Some("begun"));
        let short = RunRequest { timeout_ms: 50, ..RunRequest::new("return 1") };
        let refused = run(&host, "b", short).await.unwrap_err();
        host.end("a", None).await;
        refused
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first.unwrap_err(), second), (HostError::Ended, HostError::TooManyRuns { max: 1 }));
}
