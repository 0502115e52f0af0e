//! Starting and ending: no configuration, a busy port, a server of one's own, an end while something runs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use cove_testkit::processes::{alive, below};
use cove_testkit::until;
use serde_json::{Value, json};

use crate::several::two_bays;
use crate::{Ground, KEY};

#[tokio::test]
async fn what_runs_comes_to_its_end_before_the_server_does() {
    let ground = Ground::new("");
    let mut served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;
    let command = json!({ "command": "touch begun; sleep 2; echo done" });
    let running = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/shell/exec")).json(&command).send();
    let running = tokio::spawn(running);
    let begun = format!("/v1/sandboxes/{id}/filesystem/files?path=begun");
    until("it has begun", async || served.ask("GET", &begun, Value::Null).await.0 == 200).await;
    let left = below(served.child.id());
    served.signal("TERM");
    let answer: Value = running.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(answer["output"], "done\n", "{answer}");
    assert_eq!(served.wait().code(), Some(0));
    until("nothing is left", async || left.iter().all(|pid| !alive(*pid))).await;

    // What was there is there again.
    let served = ground.serve("data", &[]);
    assert_eq!(served.shell(&id, "ls begun").await, "begun");
    served.close();
}

/// A rolling upgrade: one Bay of two is told to end. Whoever follows a sandbox of its, and whoever waits for a call that takes
/// longer than the grace, is told; the other Bay goes on with the files, and until it can, it says when to ask again.
#[tokio::test]
async fn a_bay_that_ends_tells_its_callers_and_another_goes_on() {
    let (_postgres, _ground, mut a, b) = two_bays("server: {shutdown_grace_seconds: 1}");
    let id = a.create("python-default").await;
    assert_eq!(a.shell(&id, "echo kept > kept.txt; cat kept.txt").await, "kept");
    let events = a.request(KEY, "GET", &format!("/v1/sandboxes/{id}/events")).send().await.unwrap();
    assert_eq!(events.status(), 200);
    let events = tokio::spawn(events.text());
    let command = json!({ "command": "touch begun; sleep 120", "timeout": 200 });
    let running = a.request(KEY, "POST", &format!("/v1/sandboxes/{id}/shell/exec")).json(&command).send();
    let running = tokio::spawn(running);
    let begun = format!("/v1/sandboxes/{id}/filesystem/files?path=begun");
    until("it has begun", async || a.ask("GET", &begun, Value::Null).await.0 == 200).await;
    let left = below(a.child.id());
    a.signal("TERM");

    let (path, body) = (format!("/v1/sandboxes/{id}/shell/exec"), json!({ "command": "cat kept.txt" }));
    until("the other goes on", async || {
        let (status, answer) = b.ask("POST", &path, body.clone()).await;
        let is_done = status == 200 && answer["output"] == "kept\n";
        assert!(is_done || answer["error"]["code"] == "session_not_ready", "{status} {answer}");
        is_done
    })
    .await;
    let answer = running.await.unwrap().expect("an answer, not a line that breaks");
    assert_eq!(answer.status(), 409);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["details"]["reason"], "server_shutdown", "{answer}");
    let told = events.await.unwrap().expect("a stream that comes to its end");
    assert!(told.contains("shutting down") && told.contains("\"idle\""), "{told}");
    assert_eq!(a.wait().code(), Some(0));
    until("nothing is left", async || left.iter().all(|pid| !alive(*pid))).await;
    b.close();
}

/// Whoever goes away takes what they asked to run along.
#[tokio::test]
async fn who_goes_away_cancels_what_runs() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;
    let command = json!({ "command": "touch begun; sleep 297", "timeout": 300 });
    let request = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/shell/exec")).json(&command);
    let running = tokio::spawn(request.send());
    until("it has begun", async || !served.shell(&id, "ls begun 2>/dev/null; true").await.is_empty()).await;
    running.abort();
    let gone = async || {
        served.shell(&id, "for p in /proc/[0-9]*; do [ \"$(tr '\\0' ' ' < $p/cmdline 2>/dev/null)\" = 'sleep 297 ' ] && echo $p; done; true").await
    };
    until("it runs no more", async || gone().await.is_empty()).await;
    served.close();
}

#[test]
fn a_busy_port_is_said_plainly() {
    let ground = Ground::new("");
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let done = ground.command("data").args(["serve", "--port", &port]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(5) && said.contains(&port) && said.contains("in use"), "{said}");
}

#[test]
fn a_wrong_configuration_says_its_line() {
    let ground = Ground::new("");
    let file = ground.folder.path().join("wrong.yaml");
    std::fs::write(&file, "server:\n  port: many\n").unwrap();
    let done = ground.command("data").args(["serve", "--config"]).arg(&file).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(2) && said.contains("wrong.yaml:2"), "{said}");
}

/// Ended with the test, however the test ends.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// With no configuration at all: the address, where the key is, and a line that works when it is typed.
#[test]
fn the_line_that_is_printed_works() {
    let ground = Ground::new("");
    let mut child = ground.command("data");
    child.args(["serve", "--port", "0"]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = Ended(child.spawn().unwrap());
    let child = &mut child.0;
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.contains("/docs")) {
        said.push(lines.next().unwrap().unwrap());
    }
    let line = said.iter().find_map(|line| line.trim().strip_prefix("try")).unwrap().trim().to_owned();
    let done = std::process::Command::new("bash").args(["-c", &format!("{line} -s")]).output().unwrap();
    let body: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
    assert!(body["id"].as_str().is_some_and(|id| id.starts_with("sandbox-")), "{line}: {done:?}");
    assert!(said[0].contains("http://127.0.0.1:") && said.iter().any(|line| line.contains("api-key")), "{said:?}");
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A server of a program's own ends with the program, and leaves nothing.
#[test]
fn an_ephemeral_server_ends_with_its_standard_input() {
    let ground = Ground::new("");
    let temporary = ground.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut child = ground.command("unused");
    child.args(["serve", "--ephemeral"]).env("TMPDIR", &temporary).env("BAY_API_KEY", KEY);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut url = String::new();
    out.read_line(&mut url).unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let left: Vec<_> = left.iter().filter(|name| !name.to_string_lossy().starts_with("cove-0")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A build that cannot send spans says so, instead of a collector that waits for them in vain. The environment of a
/// server that belongs to a program is that program's, and refuses nothing.
#[cfg(not(feature = "otlp"))]
#[test]
fn a_collector_is_refused_by_a_build_without_spans() {
    let ground = Ground::new("");
    for (args, code) in [(&["serve", "--port", "0"][..], 2), (&["serve", "--ephemeral"], 0)] {
        let mut command = ground.command("data");
        command.args(args).env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9").stdin(Stdio::null());
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{said}");
        assert_eq!(
            said.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && said.contains("--features otlp"),
            code == 2,
            "{said}"
        );
    }
}

/// Spans go to a collector that the environment names, at the latest when the server ends. Run with `--features otlp`.
#[cfg(feature = "otlp")]
#[tokio::test]
async fn spans_go_to_the_collector_that_is_named() {
    let collector = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let collected = std::thread::spawn(move || {
        let mut all = Vec::new();
        // Until a request's span was seen; the test's own end is the deadline.
        while !String::from_utf8_lossy(&all).contains("/v1/profiles") {
            let (mut stream, _) = collector.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                all.extend_from_slice(line.as_bytes());
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            all.extend_from_slice(&body);
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        }
        all
    });
    let ground = Ground::new("");
    let served = ground.serve_with("data", &[], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
    assert_eq!(served.ask("GET", "/v1/profiles", Value::Null).await.0, 200);
    served.close();
    let seen = tokio::time::timeout(crate::PATIENCE, tokio::task::spawn_blocking(|| collected.join().unwrap()));
    let seen = seen.await.expect("no span came").unwrap();
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.starts_with("POST /v1/traces") && seen.contains("cove"), "{seen}");
    assert!(!seen.contains(KEY));
}
