//! Ship without a cell, as other drivers start it: the container is somebody else's work, Ship is the same.

use std::time::Duration;

use cove_core::Deadline;
use cove_runtime_api::{
    CallError, HealthRequest, HealthStatus, MetaRequest, PythonRequest, ReadFileRequest, RefusalCode, RuntimeClient,
    ShellRequest,
};
use cove_testkit::processes::alive;
use hyper::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{PATIENCE, until};

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
async fn ship_runs_without_walls_and_ends_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("ship.sock");
    let workspace = dir.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_cove-ship"));
    // A port that was just free: nobody else takes those of this range at once.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    command.args(["--listen", &address.to_string()]);
    command.arg("--listen").arg(format!("unix:{}", socket.display())).args(["--workspace", "workspace"]);
    command.current_dir(dir.path());
    command.args(["--env", "GREETING=hello"]).kill_on_drop(true);
    let mut ship = command.spawn().unwrap();
    until("Ship listens", || async { socket.exists() }).await;
    let client = RuntimeClient::new(&socket);
    let ask = async |path: &str, body| client.json(Method::POST, path, Some(&body), PATIENCE).await.unwrap().1;
    let answer = ask("/shell/exec", json!({"command": "echo $GREETING; pwd"})).await;
    assert_eq!(answer["stdout"], format!("hello\n{}\n", workspace.canonicalize().unwrap().display()), "{answer}");
    // The typed client, over TCP as well as over a socket.
    for client in [RuntimeClient::new(&socket), RuntimeClient::new(address)] {
        let cell = PythonRequest { code: "6 * 7".to_owned(), ..PythonRequest::default() };
        assert_eq!(client.call(&cell, PATIENCE.into()).await.unwrap().stdout, "42\n");
        let meta = client.call(&MetaRequest, PATIENCE.into()).await.unwrap();
        assert_eq!(meta.version(), env!("CARGO_PKG_VERSION"));
        assert_eq!(client.call(&HealthRequest, PATIENCE.into()).await.unwrap().status, HealthStatus::Healthy);
        let sleep = ShellRequest { command: "sleep 9".to_owned(), ..ShellRequest::default() };
        let late = client.call(&sleep, Deadline::after(Duration::from_millis(50)));
        assert_eq!(late.await, Err(CallError::Timeout(Duration::from_millis(50))));
        let read = ReadFileRequest { path: "none".to_owned(), ..ReadFileRequest::default() };
        let none = client.call(&read, PATIENCE.into());
        assert!(matches!(none.await, Err(CallError::Refused(refusal)) if refusal.code == RefusalCode::FileNotFound));
    }
    let code = "await write('made.txt', 'x'); return (await ls()).content[0].text";
    let answer = ask("/javascript/exec", json!({"code": code})).await;
    assert!(answer["data"]["result"].as_str().is_some_and(|list| list.contains("made.txt")), "{answer}");
    // Alone, `setsid` would be the leader of its group, and fork and end at once.
    let job = ask("/shell/exec", json!({"command": "setsid sleep 999 & exec sleep 999", "background": true})).await;
    let pid = u32::try_from(job["pid"].as_u64().unwrap()).unwrap();
    assert!(alive(pid));
    let own = Pid::from_raw(i32::try_from(ship.id().unwrap()).unwrap()).unwrap();
    kill_process(own, Signal::TERM).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), ship.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "{ended}");
    until("its processes have gone", async || !alive(pid)).await;
    let gone = client.call(&HealthRequest, PATIENCE.into()).await;
    assert!(matches!(gone, Err(CallError::NoConnection(_))), "{gone:?}");
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
async fn wrong_arguments_are_told() {
    for (args, code) in [(&["--listen", "nowhere"][..], 2), (&["--workspace", "/nowhere"], 5), (&["what"], 2)] {
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_cove-ship")).args(args).output().await.unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}
