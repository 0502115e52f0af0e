//! Calls that wait for a person, with the real embedded engine: held, made once, or never made.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cove_api::{Approval, ApprovalDecision, ApprovalEnd};
use cove_core::{EngineChoice, FaultKind, Limits, LogLine, RunReport, RunRequest, SessionFate, ToolSpec};
use cove_embedded::EmbeddedEngine;
use cove_executor::{
    Asker, HostError, HostOptions, HostTools, MaxSessions, Pictures, Question, RunContext, RunListener, SessionHost,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A host whose code has a tool `act(n)` that a person must allow; `made` is what was done.
struct Stage {
    host: SessionHost,
    made: Arc<Mutex<Vec<Value>>>,
}

/// What a listener hears.
#[derive(Debug)]
enum Word {
    Asked(Box<Approval>),
    Ended(String, ApprovalEnd),
    Called(String),
}

struct Ear(mpsc::UnboundedSender<Word>);

impl RunListener for Ear {
    fn console(&self, _: &LogLine) {}
    fn tool_called(&self, call_id: &str, _: &str, _: Vec<Value>) {
        let _ = self.0.send(Word::Called(call_id.to_owned()));
    }
    fn approval_asked(&self, approval: &Approval) {
        let _ = self.0.send(Word::Asked(Box::new(approval.clone())));
    }
    fn approval_ended(&self, approval: &Approval, end: ApprovalEnd) {
        let _ = self.0.send(Word::Ended(approval.id.clone(), end));
    }
}

impl Stage {
    fn new(limit: Duration) -> Self {
        let host = SessionHost::new(HostOptions {
            embedded: Arc::new(EmbeddedEngine::default()),
            browser: None,
            one_shot_limits: Limits::ONE_SHOT,
            session_limits: Limits { max_operations: None, ..Limits::EXECUTOR },
            max_runs: 8,
            max_sessions: MaxSessions { per_owner: 4, embedded: 4, browser: 0 },
            approval_limit: limit,
        });
        Self { host, made: Arc::default() }
    }

    fn context(&self) -> RunContext {
        let made = Arc::clone(&self.made);
        let make = move |asker: &Asker| {
            let (made, asker) = (Arc::clone(&made), asker.clone());
            vec![ToolSpec::new("act", move |call| {
                let (made, asker) = (Arc::clone(&made), asker.clone());
                async move {
                    let args = Value::Array(call.args);
                    let question = Question {
                        tool: "act".to_owned(),
                        args: args.clone(),
                        why: "a test".to_owned(),
                        lines: Vec::new(),
                    };
                    asker.ask(question).await?;
                    made.lock().unwrap().push(args);
                    Ok(json!("done"))
                }
            })]
        };
        RunContext {
            owner: "box".to_owned(),
            tools: Vec::new(),
            network: Default::default(),
            live_network: None,
            pictures: Pictures::default(),
            idle_timeout: None,
            host_tools: Some(HostTools { make: Arc::new(make), prelude: "const before = 'prelude'".into() }),
        }
    }

    async fn run(&self, request: RunRequest) -> (Result<RunReport, HostError>, mpsc::UnboundedReceiver<Word>) {
        let (ear, words) = mpsc::unbounded_channel();
        (self.host.run(self.context(), request, Arc::new(Ear(ear))).await, words)
    }

    /// Runs code, and decides about each call as `decide` says.
    async fn decided(&self, request: RunRequest, decide: impl Fn(&Approval) -> Option<bool>) -> RunReport {
        let (ear, mut words) = mpsc::unbounded_channel();
        let run = self.host.run(self.context(), request, Arc::new(Ear(ear)));
        let deciding = async {
            while let Some(word) = words.recv().await {
                if let Word::Asked(approval) = word
                    && let Some(approve) = decide(&approval)
                {
                    self.host.decide("box", &approval.id, approve, ApprovalDecision::default()).unwrap();
                }
            }
        };
        tokio::join!(run, deciding).0.unwrap()
    }

    fn made(&self) -> usize {
        self.made.lock().unwrap().len()
    }
}

fn cell(code: &str, timeout_ms: u64) -> RunRequest {
    RunRequest { session: Some("s".to_owned()), engine: EngineChoice::Embedded, timeout_ms, ..RunRequest::new(code) }
}

#[tokio::test]
async fn two_hundred_at_once_are_each_decided_once() {
    let stage = Stage::new(Duration::from_secs(60));
    let code = "const all = await Promise.allSettled(Array.from({length: 200}, (_, n) => act(n))); \
                [before, all.filter((one) => one.status === 'fulfilled').length, all[1].reason.toolCode]";
    let even = |approval: &Approval| Some(approval.args[0].as_u64().unwrap().is_multiple_of(2));
    let report = stage.decided(cell(code, 20_000), even).await;
    assert_eq!(report.result.unwrap().value, json!(["prelude", 100, "call_denied"]));
    let mut made: Vec<u64> = stage.made.lock().unwrap().iter().map(|args| args[0].as_u64().unwrap()).collect();
    made.sort_unstable();
    assert_eq!(made, (0..200).step_by(2).collect::<Vec<_>>(), "each that was approved, once, and no other");
    assert!(stage.host.approvals().is_empty());
    stage.host.close().await;
}

#[tokio::test]
async fn the_clock_stands_still_while_a_person_thinks() {
    let stage = Stage::new(Duration::from_secs(60));
    for session in [Some("s".to_owned()), None] {
        let code = if session.is_some() { "await act(1)" } else { "return await act(1)" };
        let request = RunRequest { session, ..cell(code, 500) };
        let (ear, mut words) = mpsc::unbounded_channel();
        let run = stage.host.run(stage.context(), request, Arc::new(Ear(ear)));
        let deciding = async {
            let Some(Word::Asked(approval)) = words.recv().await else { panic!("nobody was asked") };
            assert_eq!(stage.host.approvals(), std::slice::from_ref(&*approval));
            // Longer than the code may run: that is what is tried here.
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            assert!(stage.host.decide("other", &approval.id, true, ApprovalDecision::default()).is_err());
            stage.host.decide("box", &approval.id, true, ApprovalDecision::default()).unwrap();
            assert!(stage.host.decide("box", &approval.id, true, ApprovalDecision::default()).is_err(), "taken once");
        };
        let (report, ()) = tokio::join!(run, deciding);
        assert_eq!(report.unwrap().result.unwrap().value, "done");
    }
    assert_eq!(stage.made(), 2);
    stage.host.close().await;
}

#[tokio::test]
async fn who_computes_meanwhile_is_ended() {
    let stage = Stage::new(Duration::from_secs(60));
    let begun = Instant::now();
    let (report, mut words) =
        stage.run(cell("act(1); await new Promise((go) => setTimeout(go, 50)); for (;;);", 300)).await;
    let report = report.unwrap();
    assert_eq!((report.fault().unwrap().kind, report.fate), (FaultKind::Timeout, SessionFate::Lost));
    assert!(begun.elapsed() < Duration::from_secs(10), "its time twice, and not a minute");
    let Some(Word::Asked(asked)) = words.recv().await else { panic!("nobody was asked") };
    let Some(Word::Ended(ended, ApprovalEnd::Gone)) = words.recv().await else { panic!("the question stays") };
    assert_eq!((asked.id, stage.made(), stage.host.approvals().len()), (ended, 0, 0));
    stage.host.close().await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_denied() {
    let stage = Stage::new(Duration::from_millis(300));
    let (report, _) = stage.run(cell("try { await act(1) } catch (e) { e.message }", 5_000)).await;
    let value = report.unwrap().result.unwrap().value;
    assert!(value.as_str().unwrap().contains("no decision within 0.3 s"), "{value}");
    assert_eq!(stage.made(), 0);
    stage.host.close().await;
}

#[tokio::test]
async fn a_session_that_is_ended_makes_nothing() {
    let stage = Stage::new(Duration::from_secs(60));
    let (ear, mut words) = mpsc::unbounded_channel();
    let run = stage.host.run(stage.context(), cell("await act(1)", 5_000), Arc::new(Ear(ear)));
    let ending = async {
        let Some(Word::Asked(approval)) = words.recv().await else { panic!("nobody was asked") };
        stage.host.end("box", None).await;
        assert!(stage.host.decide("box", &approval.id, true, ApprovalDecision::default()).is_err());
    };
    let (report, ()) = tokio::join!(run, ending);
    assert_eq!((report.unwrap_err(), stage.made()), (HostError::Ended, 0));
    stage.host.close().await;
}

#[tokio::test]
async fn what_is_remembered_is_one_sessions_and_one_tools() {
    let stage = Stage::new(Duration::from_secs(60));
    let asked = AtomicUsize::new(0);
    for (session, expected) in [("s", 1), ("s", 1), ("t", 2)] {
        let (ear, mut words) = mpsc::unbounded_channel();
        let request = RunRequest { session: Some(session.to_owned()), ..cell("await act(1); await act(2)", 5_000) };
        let run = stage.host.run(stage.context(), request, Arc::new(Ear(ear)));
        let deciding = async {
            while let Some(word) = words.recv().await {
                if let Word::Asked(approval) = word {
                    asked.fetch_add(1, Ordering::Relaxed);
                    let decision = ApprovalDecision { remember: true, reason: None };
                    stage.host.decide("box", &approval.id, true, decision).unwrap();
                }
            }
        };
        let (report, ()) = tokio::join!(run, deciding);
        assert!(report.unwrap().result.is_ok());
        assert_eq!(asked.load(Ordering::Relaxed), expected, "{session}");
    }
    stage.host.close().await;
}

#[tokio::test]
async fn what_is_remembered_lets_those_that_wait_already_go_on() {
    let stage = Stage::new(Duration::from_secs(60));
    let (ear, mut words) = mpsc::unbounded_channel();
    let code = "(await Promise.all([act(1), act(2), act(3)])).length";
    let run = stage.host.run(stage.context(), cell(code, 5_000), Arc::new(Ear(ear)));
    let deciding = async {
        let mut asked = Vec::new();
        while asked.len() < 3 {
            let Some(Word::Asked(approval)) = words.recv().await else { panic!("three are asked about") };
            asked.push(approval.id);
        }
        let decision = ApprovalDecision { remember: true, reason: None };
        stage.host.decide("box", &asked[1], true, decision).unwrap();
        assert!(stage.host.approvals().is_empty(), "one decision for all three");
    };
    let (report, ()) = tokio::join!(run, deciding);
    assert_eq!(report.unwrap().result.unwrap().value, 3);
    assert_eq!(stage.made(), 3);
    stage.host.close().await;
}

#[tokio::test]
async fn tools_of_callers_are_asked_for_when_they_want_it() {
    let stage = Stage::new(Duration::from_secs(60));
    let tools = vec!["pay".to_owned(), "look".to_owned()];
    let request =
        RunRequest { tools, asked_tools: vec!["pay".to_owned()], ..cell("[await look(), await pay(7)]", 5_000) };
    let (ear, mut words) = mpsc::unbounded_channel();
    let run = stage.host.run(stage.context(), request, Arc::new(Ear(ear)));
    let mut order = Vec::new();
    let answering = async {
        while let Some(word) = words.recv().await {
            match word {
                Word::Asked(approval) => {
                    order.push("asked");
                    assert_eq!((approval.tool.as_str(), &approval.args), ("pay", &json!([7])));
                    stage.host.decide("box", &approval.id, true, ApprovalDecision::default()).unwrap();
                }
                Word::Called(id) => {
                    order.push("called");
                    stage.host.answer_call("box", &id, Ok(json!(1))).unwrap();
                }
                Word::Ended(..) => {}
            }
        }
    };
    let (report, ()) = tokio::join!(run, answering);
    assert_eq!(report.unwrap().result.unwrap().value, json!([1, 1]));
    assert_eq!(order, ["called", "asked", "called"]);
    stage.host.close().await;
}
