//! Trouble that is not the caller's: a runtime that cannot start, one that falls silent, one that is not there yet.

use std::process::Command;

use serde_json::{Value, json};

use crate::{Ground, Served, below};

async fn shell(served: &Served, id: &str, timeout_s: u64) -> (u16, Value) {
    let body = json!({ "command": "echo here", "timeout": timeout_s });
    served.ask("POST", &format!("/v1/sandboxes/{id}/shell/exec"), body).await
}

fn refused(answer: &(u16, Value), status: u16, code: &str) {
    let error = &answer.1["error"];
    assert!(answer.0 == status && error["code"] == code, "{answer:?}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer:?}");
    assert!(error["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{answer:?}");
}

/// One of two containers cannot start: the call says which and why, and neither is left.
#[tokio::test]
async fn a_runtime_that_cannot_start_is_named() {
    let ground = Ground::new("");
    let served = ground.serve_with("data", &[], &[("COVE_AGENT_BROWSER", "/nowhere/agent-browser")]);
    let id = served.create("browser-python").await;
    let answer = shell(&served, &id, 30).await;
    refused(&answer, 502, "ship_error");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains("agent-browser"), "{answer:?}");
    let (_, sandbox) = served.ask("GET", &format!("/v1/sandboxes/{id}"), Value::Null).await;
    assert_eq!(sandbox["status"], "failed", "{sandbox}");
    served.close();
}

/// A runtime that falls silent is waited for so long and no longer; when it speaks again, it is used again.
#[tokio::test]
async fn a_silent_runtime_is_not_waited_for_for_ever() {
    let ground = Ground::new("limits:\n  answer_grace_seconds: 1\n");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;
    let everybody = below(served.child.id());
    let signal = |name: &str| {
        let pids = everybody.iter().map(u32::to_string);
        assert!(Command::new("kill").arg(name).args(pids).status().unwrap().success());
    };
    signal("-STOP");
    let answer = shell(&served, &id, 1).await;
    signal("-CONT");
    refused(&answer, 504, "timeout");
    assert_eq!(served.shell(&id, "echo here").await, "here");
    served.close();
}

/// Who will not wait for a start is told when to come back, and comes back to a session.
#[tokio::test]
async fn a_session_that_is_starting_says_when_to_come_back() {
    let ground = Ground::new("limits:\n  session_wait_seconds: 0\n");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let mut answer = shell(&served, &id, 30).await;
    refused(&answer, 503, "session_not_ready");
    let began = std::time::Instant::now();
    while answer.0 == 503 {
        assert!(began.elapsed() < crate::PATIENCE);
        let wait = answer.1["error"]["details"]["retry_after_ms"].as_u64().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        answer = shell(&served, &id, 30).await;
    }
    assert_eq!((answer.0, &answer.1["output"]), (200, &json!("here\n")), "{answer:?}");
    served.close();
}
