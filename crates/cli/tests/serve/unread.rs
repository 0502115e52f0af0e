//! Streams that nobody reads: a terminal and events whose caller has stopped taking them end, and hold up nobody.

use std::time::{Duration, Instant};

use cove_testkit::until;
use futures_util::SinkExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::refusals::quay::{Quay, answer, config};
use crate::{KEY, PATIENCE};

/// A server in this process with real sandboxes, whose answers must be taken within a second.
async fn quay(folder: &std::path::Path) -> Quay {
    let mut config = config(folder);
    config.driver.local.program = Some(env!("CARGO_BIN_EXE_cove").into());
    Quay::open(config, |options| options.write_stall = Duration::from_secs(1)).await
}

/// A connection whose receiving side holds next to nothing.
async fn narrow(quay: &Quay) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(quay.address()).await.unwrap()
}

/// How many connections the server has, beside the one that asks.
async fn others(quay: &Quay) -> usize {
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    let asked = client.get(format!("http://{}/metrics", quay.address())).send().await.unwrap();
    let text = asked.text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("cove_http_connections ")).unwrap_or_default();
    line.parse::<usize>().unwrap() - 1
}

async fn until_gone(quay: &Quay, what: &str, before: usize) {
    until(&format!("{what} is gone"), async || others(quay).await <= before).await;
}

#[tokio::test]
async fn a_terminal_that_nobody_reads_ends() {
    let folder = tempfile::tempdir().unwrap();
    let quay = quay(folder.path()).await;
    let id = quay.create(json!({ "profile": "python-default" })).await;
    let run = |command: &str| {
        let request = quay.request("POST", &format!("/v1/sandboxes/{id}/shell/exec")).bearer_auth(KEY);
        answer(request.json(&json!({ "command": command })))
    };
    assert_eq!(run("true").await.0, 200);
    let before = others(&quay).await;
    let mut request = format!("ws://{}/v1/sandboxes/{id}/terminal", quay.address()).into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {KEY}").parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::client_async(request, narrow(&quay).await).await.unwrap();
    let keys = json!({ "type": "input", "data": "yes unread\n" }).to_string();
    socket.send(Message::text(keys)).await.unwrap();
    until_gone(&quay, "the terminal", before).await;
    // Its shell and what it ran are gone with it, and the sandbox is well.
    let count = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[y]es unread '";
    until("what it ran has ended", async || run(count).await.1["output"] == "0\n").await;
    drop(socket);
    quay.close().await;
}

#[tokio::test]
async fn events_that_nobody_reads_end() {
    let folder = tempfile::tempdir().unwrap();
    let quay = quay(folder.path()).await;
    let id = quay.create(json!({ "profile": "javascript" })).await;
    let run = |code: &str| {
        let request = quay.request("POST", &format!("/v1/sandboxes/{id}/javascript/exec")).bearer_auth(KEY);
        answer(request.json(&json!({ "code": code })))
    };
    assert_eq!(run("1").await.0, 200);
    let before = others(&quay).await;
    let mut deaf = narrow(&quay).await;
    let head = format!("GET /v1/sandboxes/{id}/events HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n\r\n");
    deaf.write_all(head.as_bytes()).await.unwrap();
    deaf.readable().await.unwrap();
    let began = Instant::now();
    // Enough for every buffer on the way; who does not listen holds up no run.
    while others(&quay).await > before {
        let (status, body) = run("for (let n = 0; n < 400; n++) console.log('x'.repeat(1000))").await;
        assert_eq!(status, 200, "{body}");
        assert!(began.elapsed() < PATIENCE, "the stream was kept");
    }
    let mut rest = Vec::new();
    let _ = deaf.read_to_end(&mut rest).await;
    assert!(rest.starts_with(b"HTTP/1.1 200") && rest.len() < 4 << 20, "{} bytes", rest.len());
    quay.close().await;
}
