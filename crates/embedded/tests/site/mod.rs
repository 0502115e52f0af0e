//! A web server on this machine that does what it is asked for, well or badly.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cove_core::{NetworkPolicy, SessionOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The server; it ends with the test's runtime.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    visits: AtomicUsize,
    now: AtomicUsize,
    most_at_once: AtomicUsize,
    /// Somebody has come, or left before the answer was over.
    visited: Notify,
    left: Notify,
}

impl Site {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&shared);
                tokio::spawn(async move { serve(stream, &seen).await });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn visits(&self) -> usize {
        self.seen.visits.load(Ordering::SeqCst)
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.seen.most_at_once.load(Ordering::SeqCst)
    }

    /// Waits until somebody has come.
    pub(crate) async fn visited(&self) {
        self.seen.visited.notified().await;
    }

    /// Waits until somebody has hung up on an answer that never ends.
    pub(crate) async fn left(&self) {
        self.seen.left.notified().await;
    }

    /// A one-shot session that may reach this site by its address, and nothing else.
    pub(crate) fn options(&self) -> SessionOptions {
        let named = self.address.to_string();
        opened(&[&named], &[&named])
    }
}

pub(crate) fn opened(hosts: &[&str], private: &[&str]) -> SessionOptions {
    let all = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
    let network = NetworkPolicy { allow_hosts: all(hosts), allow_private: all(private), ..NetworkPolicy::default() };
    SessionOptions { network, ..SessionOptions::one_shot() }
}

async fn serve(mut stream: TcpStream, seen: &Seen) {
    let Some((head, body)) = request(&mut stream).await else { return };
    seen.visits.fetch_add(1, Ordering::SeqCst);
    let now = seen.now.fetch_add(1, Ordering::SeqCst) + 1;
    seen.most_at_once.fetch_max(now, Ordering::SeqCst);
    seen.visited.notify_one();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (route, query) = path.split_once('?').unwrap_or((&path, ""));
    let answer = match route {
        "/echo" => echo(&head, &body),
        "/redirect" => {
            let (status, place) = query.split_once(',').unwrap();
            format!("HTTP/1.1 {status} Moved\r\nLocation: {place}\r\nContent-Length: 4\r\n\r\naway")
        }
        "/status" => format!("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", query.replace("%20", " ")),
        "/cookies" => {
            "HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Word: caf\u{e9}\r\nContent-Length: 0\r\n\r\n"
                .into()
        }
        "/chunks" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n".into(),
        "/short" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".into(),
        "/announced" => "HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\nx".into(),
        "/noise" => "SSH-2.0-OpenSSH_9.2\r\n".into(),
        "/switch" => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".into(),
        "/headers" => format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "A: b\r\n".repeat(1000)),
        "/bytes" => {
            let count: usize = query.parse().unwrap();
            format!("HTTP/1.1 200 OK\r\nContent-Length: {count}\r\n\r\n{}", "x".repeat(count))
        }
        "/endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'x'; 65536]).await.is_ok() {}
            return seen.leave();
        }
        "/slow" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx").await;
            let _ = stream.read(&mut [0; 16]).await;
            return seen.leave();
        }
        // "/silent", "/silent2" …
        _ => {
            let _ = stream.read(&mut [0; 16]).await;
            return seen.leave();
        }
    };
    seen.now.fetch_sub(1, Ordering::SeqCst);
    // Headers are bytes, and some servers write Latin-1 there.
    let bytes =
        if route == "/cookies" { answer.chars().map(|letter| letter as u8).collect() } else { answer.into_bytes() };
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

impl Seen {
    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
        self.left.notify_one();
    }
}

/// The head of a request and as much of a body as it announces.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8(bytes).ok()?;
    let length = headers(&head).into_iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while body.len() < length {
        stream.read_buf(&mut body).await.ok().filter(|read| *read > 0)?;
    }
    Some((head, body))
}

fn headers(head: &str) -> Vec<(String, String)> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect()
}

/// Says what was asked, as JSON.
fn echo(head: &str, body: &[u8]) -> String {
    let line = head.lines().next().unwrap_or_default();
    let headers: serde_json::Map<String, Value> =
        headers(head).into_iter().map(|(name, value)| (name, value.into())).collect();
    let answer = json!({ "line": line, "headers": headers, "body": String::from_utf8_lossy(body) }).to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{answer}", answer.len())
}
