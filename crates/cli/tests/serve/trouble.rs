//! Trouble that is not the caller's: a runtime that cannot start, one that falls silent, one that is not there yet.

use std::process::Command;

use cove_testkit::processes::{below, words};
use cove_testkit::until;
use serde_json::{Value, json};

use crate::asked::path_of;
use crate::{Ground, Served};

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

/// One of two containers cannot start: the other one works, and whoever needs the first is told why.
#[tokio::test]
async fn a_runtime_that_cannot_start_is_named() {
    let ground = Ground::new("");
    let served = ground.serve_with("data", &[], &[("COVE_AGENT_BROWSER", "/nowhere/agent-browser")]);
    let (status, sandbox) = served.ask("POST", "/v1/sandboxes", json!({ "profile": "browser-python" })).await;
    assert_eq!(status, 201, "{sandbox}");
    assert!(sandbox["warnings"][0].as_str().unwrap().contains("/nowhere/agent-browser"), "{sandbox}");
    let id = sandbox["id"].as_str().unwrap();
    let (status, answer) = shell(&served, id, 30).await;
    assert_eq!((status, &answer["output"]), (200, &json!("here\n")), "{answer}");
    let answer = ask(&served, "exec_browser", id, json!({ "cmd": "get url" })).await;
    refused(&answer, 502, "ship_error");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains("agent-browser"), "{answer:?}");
    served.close();
}

/// A runtime that falls silent is waited for so long and no longer; when it speaks again, it is used again.
#[tokio::test]
async fn a_silent_runtime_is_not_waited_for_for_ever() {
    let ground = Ground::new("limits:\n  answer_grace_seconds: 1\n");
    let served = ground.serve("data", &[]);
    let id = served.create("browser-python").await;
    served.shell(&id, "true").await;
    assert_eq!(ask(&served, "exec_browser", &id, json!({ "cmd": "get url" })).await.0, 200);
    let everybody = below(served.child.id());
    let signal = |name: &str| {
        let pids = everybody.iter().map(u32::to_string);
        assert!(Command::new("kill").arg(name).args(pids).status().unwrap().success());
    };
    signal("-STOP");
    let calls = long(1).map(|(operation, body)| ask(&served, operation, &id, body));
    let answers = futures_util::future::join_all(calls).await;
    signal("-CONT");
    for answer in &answers {
        refused(answer, 504, "timeout");
    }
    assert_eq!(served.shell(&id, "echo here").await, "here");
    served.close();
}

/// Long calls of each kind that a runtime works on, with the time that they may take.
fn long(timeout_s: u64) -> [(&'static str, Value); 4] {
    [
        (
            "exec_python",
            json!({ "code": "open('python', 'w').close(); import time; time.sleep(100)", "timeout": timeout_s }),
        ),
        ("exec_shell", json!({ "command": "touch shell; sleep 100", "timeout": timeout_s })),
        ("exec_browser", json!({ "cmd": "wait 100001", "timeout": timeout_s })),
        ("exec_browser_batch", json!({ "commands": ["wait 100002"], "timeout": timeout_s })),
    ]
}

async fn ask(served: &Served, operation: &str, id: &str, body: Value) -> (u16, Value) {
    let (method, path) = path_of(operation, &[("id", id)], "");
    served.ask(&method, &path, body).await
}

/// Whether somebody below the server was started with this word.
fn runs(served: &Served, word: &str) -> bool {
    below(served.child.id()).iter().any(|pid| words(*pid).iter().any(|given| given == word))
}

/// Ship and Gull are killed under whatever they work on: each call says so, and the next one has a new runtime.
#[tokio::test]
async fn a_runtime_that_dies_under_a_call_says_so() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("browser-python").await;
    for (operation, body) in long(60) {
        let workspace = ground.folder.path().join("data/cargos");
        let calling = ask(&served, operation, &id, body);
        let killing = async {
            let begun = || match operation {
                "exec_python" => exists_below(&workspace, "python"),
                "exec_shell" => exists_below(&workspace, "shell"),
                "exec_browser" => runs(&served, "100001"),
                _ => runs(&served, "100002"),
            };
            until(&format!("{operation} has begun"), async || begun()).await;
            let pids = below(served.child.id());
            let _ = Command::new("kill").arg("-KILL").args(pids.iter().map(u32::to_string)).output();
        };
        let (answer, ()) = tokio::join!(calling, killing);
        refused(&answer, 502, "ship_error");
        assert_eq!(served.shell(&id, "rm -f python shell; echo again").await, "again", "after {operation}");
    }
    served.close();
}

fn exists_below(folder: &std::path::Path, name: &str) -> bool {
    let cargos = std::fs::read_dir(folder).into_iter().flatten().flatten();
    cargos.into_iter().any(|cargo| cargo.path().join(name).exists())
}

/// Whoever works in a sandbox that another caller stops or deletes is told that, whatever it does there.
#[tokio::test]
async fn a_sandbox_that_is_ended_under_a_call_says_so() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    for (end, status, code) in [("stop_sandbox", 409, "conflict"), ("delete_sandbox", 404, "not_found")] {
        let id = served.create("python-default").await;
        let calls = long(60).into_iter().filter(|(operation, _)| !operation.contains("browser"));
        let calling = futures_util::future::join_all(calls.map(|(operation, body)| ask(&served, operation, &id, body)));
        tokio::pin!(calling);
        let begun = async {
            let (_, info) = ask(&served, "get_sandbox", &id, Value::Null).await;
            let cargo = ground.folder.path().join("data/cargos").join(info["cargo_id"].as_str().unwrap());
            until("they have begun", async || cargo.join("python").exists() && cargo.join("shell").exists()).await;
        };
        tokio::select! {
            early = &mut calling => panic!("nobody has ended it: {early:?}"),
            () = begun => (),
        }
        let (answers, ended) = tokio::join!(calling, ask(&served, end, &id, Value::Null));
        assert!(ended.0 < 300, "{ended:?}");
        for answer in &answers {
            refused(answer, status, code);
        }
    }
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
