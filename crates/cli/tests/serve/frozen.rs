//! A Bay that is stopped with SIGSTOP: who asks another one is answered in time, its sessions end without it, and when it
//! wakes it goes on as a Bay without sessions.

use std::time::{Duration, Instant};

use cove_testkit::processes::{alive, below, words};
use cove_testkit::{until, until_some};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::several::two_bays;
use crate::{KEY, PATIENCE, Served};

/// Far less than the calls' own deadlines, which are minutes; a silent Bay is given up after ten seconds or so.
const SOON: Duration = Duration::from_secs(40);

/// Wakes what the test has stopped, also when the test fails: a stopped process cannot be waited for.
struct Woken(u32);

impl Drop for Woken {
    fn drop(&mut self) {
        let _ = std::process::Command::new("kill").args(["-CONT", &self.0.to_string()]).status();
    }
}

/// Everything that a server runs in sandboxes: their runtimes, and all below these.
fn sessions(served: &Served) -> Vec<u32> {
    let is_runtime = |pid: &u32| words(*pid).get(1).is_some_and(|word| word == "ship" || word == "gull");
    let runtimes = below(served.child.id()).into_iter().filter(is_runtime);
    let all: Vec<u32> = runtimes.flat_map(|pid| std::iter::once(pid).chain(below(pid))).collect();
    assert!(!all.is_empty(), "nothing runs");
    all
}

/// The status, the error's code, whether a repetition is invited, and whether the work may have begun.
async fn asked(served: &Served, method: &str, path: String, body: Value) -> (u16, String, bool, Value) {
    let began = Instant::now();
    let request = served.request(KEY, method, &path);
    let request = if body.is_null() { request } else { request.json(&body) };
    let response = request.send().await.unwrap();
    let (status, again) = (response.status().as_u16(), response.headers().contains_key("retry-after"));
    let body: Value = response.json().await.unwrap_or_default();
    assert!(began.elapsed() < SOON, "{method} {path} took {:?}: {status} {body}", began.elapsed());
    let error = &body["error"];
    (status, error["code"].as_str().unwrap_or_default().to_owned(), again, error["details"]["may_have_begun"].clone())
}

async fn terminal(served: &Served, id: &str) -> tokio_tungstenite::WebSocketStream<TcpStream> {
    let place = served.url.trim_start_matches("http://");
    let mut request = format!("ws://{place}/v1/sandboxes/{id}/terminal").into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {KEY}").parse().unwrap());
    let stream = TcpStream::connect(place).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

fn tool(id: &str) -> Value {
    let arguments = json!({ "sandbox_id": id, "command": "echo again >> tools", "timeout": 300 });
    let params = json!({ "name": "execute_shell", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_bay_keeps_nobody_waiting_and_writes_beside_nobody() {
    let (_postgres, ground, mut a, b) = two_bays("warm_pool: {enabled: false}");
    let (id, second) = (a.create("python-default").await, a.create("python-default").await);
    a.shell(&second, "true").await;
    // A guest that never stops writing into the cargo, which the next Bay will have too.
    a.shell(&id, "nohup sh -c 'n=0; while :; do n=$((n+1)); echo $n >> counter; sleep 0.01; done' >/dev/null 2>&1 &")
        .await;
    a.shell(&id, "until [ -s counter ]; do sleep 0.01; done").await;
    let cargo = a.ask("GET", &format!("/v1/sandboxes/{id}"), Value::Null).await.1["cargo_id"].clone();
    let counter = ground.folder.path().join("cargos").join(cargo.as_str().unwrap()).join("counter");
    let (mut typed, path) = (terminal(&b, &id).await, format!("/v1/sandboxes/{id}"));
    typed.send(Message::text(json!({ "type": "input", "data": "echo here\n" }).to_string())).await.unwrap();
    assert!(typed.next().await.unwrap().is_ok(), "it is open");
    let events = b.request(KEY, "GET", &format!("{path}/events")).timeout(PATIENCE).send().await.unwrap();
    let mut events = events.bytes_stream();
    let sessions = sessions(&a);

    a.signal("STOP");
    let woken = Woken(a.child.id());
    let frozen = Instant::now();

    // Everything that is with that Bay ends in time, and says whether it may have begun.
    let exec = json!({ "command": "echo again >> execs", "timeout": 300 });
    let mcp = async {
        let request = b.request(KEY, "POST", "/mcp").header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2025-06-18").json(&tool(&id));
        let began = Instant::now();
        let said = request.send().await.unwrap().text().await.unwrap();
        assert!(began.elapsed() < SOON, "/mcp took {:?}: {said}", began.elapsed());
        said
    };
    let closing = async {
        let began = Instant::now();
        while let Some(Ok(message)) = typed.next().await {
            if message.is_close() {
                break;
            }
        }
        assert!(began.elapsed() < SOON, "the terminal took {:?}", began.elapsed());
    };
    let streaming = async {
        let began = Instant::now();
        while let Some(Ok(_)) = events.next().await {}
        assert!(began.elapsed() < SOON, "the events took {:?}", began.elapsed());
    };
    let (look, run, stop, delete, upload, said, (), ()) = tokio::join!(
        asked(&b, "GET", path.clone(), Value::Null),
        asked(&b, "POST", format!("{path}/shell/exec"), exec.clone()),
        asked(&b, "POST", format!("{path}/stop"), Value::Null),
        asked(&b, "DELETE", format!("/v1/sandboxes/{second}"), Value::Null),
        asked(&b, "PUT", format!("{path}/filesystem/files"), json!({ "path": "f", "content": "x" })),
        mcp,
        closing,
        streaming,
    );
    let (not_ready, timeout) = ("session_not_ready".to_owned(), "timeout".to_owned());
    assert_eq!(run, (504, timeout, false, json!(true)), "nobody knows whether it ran");
    for (what, answer) in [("GET", look), ("stop", stop), ("DELETE", delete), ("PUT", upload)] {
        assert_eq!(answer, (503, not_ready.clone(), true, json!(true)), "{what} may be repeated");
    }
    assert!(said.contains("error") && said.contains("may have started"), "{said}");
    // Known to be silent now: who comes next need not wait, and knows that nothing has begun.
    if frozen.elapsed() < Duration::from_secs(25) {
        let next = asked(&b, "POST", format!("{path}/shell/exec"), exec).await;
        assert_eq!(next, (503, not_ready, true, json!(false)));
    }

    // The guest ends without its Bay, before the other one goes on with the sandbox.
    let lines = || std::fs::read_to_string(&counter).unwrap().lines().count();
    until("somebody takes it over", async || {
        let before = lines();
        let (status, body) = b.ask("POST", &format!("{path}/shell/exec"), json!({ "command": "echo mine" })).await;
        assert!(matches!(status, 200 | 503 | 504), "{status} {body}");
        // It began when nobody wrote any more: what was there before is all that there is.
        assert!(status != 200 || lines() == before, "the old session wrote while the new one started");
        status == 200
    })
    .await;
    let took = frozen.elapsed();
    let taken_over = lines();
    // That the old session writes no more has no event: it is given the time for many lines.
    b.shell(&id, "sleep 2").await;
    assert_eq!(lines(), taken_over, "two sessions write into one cargo");
    until("all that it ran has ended, though it is stopped", async || sessions.iter().all(|pid| !alive(*pid))).await;

    // It wakes: what was sent to it meanwhile is not begun, and it serves on.
    drop(woken);
    // What the client has kept open is long since over there.
    a.http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    let said = until_some("it serves again", async || {
        let command = json!({ "command": "cat execs tools 2>&1; true" });
        let (status, body) = a.ask("POST", &format!("{path}/shell/exec"), command).await;
        (status == 200).then(|| body["output"].as_str().unwrap().to_owned())
    });
    let said = said.await;
    assert!(!said.contains("again\n"), "calls that had failed were begun late: {said}");
    assert_eq!(lines(), taken_over, "the one that woke wrote");
    assert_eq!(b.shell(&id, "echo still mine").await, "still mine", "it stays where it is");
    let third = a.create("python-default").await;
    let path = format!("/v1/sandboxes/{third}/shell/exec");
    let body = until_some("it has signed on again", async || {
        let (status, body) = a.ask("POST", &path, json!({ "command": "echo new" })).await;
        assert!(matches!(status, 200 | 503), "{status} {body}");
        (status == 200).then_some(body)
    });
    assert_eq!(body.await["output"], "new\n");
    let (status, _) = b.ask("DELETE", &format!("/v1/sandboxes/{second}"), Value::Null).await;
    assert_eq!(status, 204);
    eprintln!("taken over after {took:?}");
    a.close();
    b.close();
}

/// A browser has a lease, too.
#[tokio::test]
async fn a_frozen_bays_browser_ends_without_it() {
    let (_postgres, _ground, a, b) = two_bays("warm_pool: {enabled: false}");
    let id = a.create("browser-python").await;
    let body = json!({ "cmd": "open data:text/html,<h1>Hello</h1>", "timeout": 120 });
    let (status, said) = a.ask("POST", &format!("/v1/sandboxes/{id}/browser/exec"), body).await;
    assert_eq!(status, 200, "{said}");
    let sessions = sessions(&a);
    assert!(sessions.len() > 3, "{sessions:?}");
    a.signal("STOP");
    let woken = Woken(a.child.id());
    until("the browser has ended, though its Bay is stopped", async || sessions.iter().all(|pid| !alive(*pid))).await;
    drop(woken);
    b.close();
    a.close();
}

/// A Bay that cannot reach the records cannot know whether it is still the one: its sessions end, too, and it goes on once
/// they are back.
#[tokio::test]
async fn a_bay_without_its_records_ends_what_it_runs() {
    let (mut postgres, _ground, a, b) = two_bays("warm_pool: {enabled: false}");
    let id = a.create("python-default").await;
    a.shell(&id, "echo kept > file").await;
    let sessions = sessions(&a);
    postgres.stop();
    until("its sessions have ended", async || sessions.iter().all(|pid| !alive(*pid))).await;
    postgres.go_on();
    let said = until_some("it goes on", async || {
        let body = json!({ "command": "cat file" });
        let (status, said) = a.ask("POST", &format!("/v1/sandboxes/{id}/shell/exec"), body).await;
        (status == 200).then_some(said)
    });
    assert_eq!(said.await["output"], "kept\n");
    a.close();
    b.close();
}
