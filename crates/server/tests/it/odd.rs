//! Requests that two readers could read in two ways, that want to be something else, or that are built to be dear.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::rude::say;
use crate::{KEY, Place, read};

const SOON: Duration = Duration::from_secs(20);

/// Each ends the connection, with one answer.
#[tokio::test]
async fn what_could_be_read_in_two_ways_is_refused() {
    let place = Place::new().await;
    let post = |more: &str| {
        format!(
            "POST /v1/cargos HTTP/1.1\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\ncontent-length: 2\r\n{more}\r\n{{}}"
        )
    };
    let get = |first: &str, more: &str| format!("{first}\r\nconnection: close\r\n{more}\r\n");
    let long = |bytes: usize| format!("host: bay\r\nx: {}\r\n", "y".repeat(bytes));
    for (words, status) in [
        (get("GET /health HTTP/1.1", "host: bay\r\n"), 200),
        // Two hosts, said in every way.
        (get("GET /health HTTP/1.1", "host: bay\r\nhost: bay\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\nhost: evil.example\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay, evil.example\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay evil.example\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: me@bay\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay/path\r\n"), 400),
        (get("GET http://bay/health HTTP/1.1", "host: bay\r\n"), 200),
        (get("GET http://evil.example/health HTTP/1.1", "host: bay\r\n"), 400),
        // Heads up to the documented size and no more.
        (get("GET /health HTTP/1.1", &long(30 << 10)), 200),
        (get("GET /health HTTP/1.1", &long(33 << 10)), 431),
        (get("GET /health HTTP/1.1", &long(40_000)), 431),
        (get(&format!("GET /health?{} HTTP/1.1", "y".repeat(40_000)), "host: bay\r\n"), 431),
        (get("GET /health HTTP/1.1", &format!("host: bay\r\n{}", "a: b\r\n".repeat(63))), 431),
        // Bodies that are packed.
        (post("host: bay\r\ncontent-encoding: gzip\r\n"), 415),
        (post("host: bay\r\ncontent-encoding: br\r\n"), 415),
        (post("host: bay\r\ncontent-encoding: identity, gzip\r\n"), 415),
        (post("host: bay\r\ncontent-encoding: identity\r\ncontent-encoding: deflate\r\n"), 415),
        (post("host: bay\r\ncontent-encoding: identity\r\n"), 201),
        // Another protocol.
        (get("CONNECT evil.example:80 HTTP/1.1", "host: evil.example:80\r\n"), 404),
        (get("GET /health HTTP/1.1", "host: bay\r\nupgrade: h2c\r\nconnection: upgrade, http2-settings\r\n"), 200),
        (get("GET /health HTTP/1.1", "host: bay\r\nupgrade: websocket\r\nconnection: upgrade\r\n"), 200),
        (get("OPTIONS * HTTP/1.1", "host: bay\r\n"), 404),
        // Heads that bend the rules.
        (get("GET /health HTTP/1.1", "host: bay\r\nx : y\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\n x: folded\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\ntransfer-encoding: chunked, identity\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\ncontent-length: 1, 2\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\ncontent-length: +2\r\n"), 400),
        (get("GET /health HTTP/1.1", "host: bay\r\ncontent-length: 99999999999999999999999\r\n"), 400),
    ] {
        let said = say(&place, words.as_bytes()).await;
        let words = &words[..words.len().min(120)];
        assert_eq!(said.first().map(|said| said.status), Some(status), "{words:?}: {said:?}");
        assert_eq!(said.len(), 1, "{words:?}: {said:?}");
        if !matches!(status, 200 | 201 | 404) {
            said[0].refused(status);
        }
    }
    // Whoever speaks HTTP/2 could not read an answer; the connection ends.
    assert!(say(&place, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.is_empty());
    place.server.close().await;
}

/// Chunks that are built to be dear or never to end.
#[tokio::test]
async fn chunks_and_trailers_have_an_end() {
    let place = Place::with(|options| options.body_grace = Duration::from_millis(500)).await;
    let head = format!(
        "POST /v1/cargos HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let many: String = (0..10_000).map(|n| format!("x-{n}: {}\r\n", "y".repeat(40))).collect();
    for (body, statuses) in [
        ("2\r\n{}\r\n0\r\n\r\n".to_owned(), [201, 201]),
        ("2\r\n{}\r\n0\r\nx: y\r\n\r\n".to_owned(), [201, 201]),
        // Trailers without an end, in number and in size.
        (format!("2\r\n{{}}\r\n0\r\n{many}\r\n"), [400, 408]),
        (format!("2\r\n{{}}\r\n0\r\nx: {}", "y".repeat(1 << 20)), [400, 408]),
        // A chunk's extension without an end; a size beyond every number; none; a negative one.
        (format!("2;x={}", "y".repeat(1 << 20)), [400, 408]),
        ("fffffffffffffffff\r\n".to_owned(), [400, 400]),
        ("ffffffffffffffff\r\n{".to_owned(), [408, 408]),
        ("\r\n".to_owned(), [400, 400]),
        ("-1\r\n".to_owned(), [400, 400]),
        // A size that promises more than comes, and half a size.
        ("64\r\n{}".to_owned(), [408, 408]),
        ("6".to_owned(), [408, 408]),
    ] {
        let said = say(&place, format!("{head}{body}").as_bytes()).await;
        let body = &body[..body.len().min(60)];
        assert!(said.first().is_some_and(|said| statuses.contains(&said.status)), "{body:?}: {said:?}");
    }
    place.server.close().await;
}

/// Heads that are still being written when their time is over: byte by byte, header by header, behind one that was answered.
#[tokio::test]
async fn heads_that_trickle_are_let_go() {
    let place = Place::with(|options| options.head_read = Duration::from_millis(500)).await;
    for (begin, piece) in [
        ("G", "E"),
        ("GET /health HTTP/1.1\r\n", "x: y\r\n"),
        ("", "\r\n"),
        ("GET /health HTTP/1.1\r\nhost: bay\r\n\r\n", "G"),
    ] {
        let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        // The pause is what is tested: a client that writes slowly, for as long as it is listened to.
        let drip = tokio::spawn(async move {
            while writer.write_all(piece.as_bytes()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let mut said = Vec::new();
        let _ = tokio::time::timeout(SOON, reader.read_to_end(&mut said)).await.expect("it was listened to for ever");
        drip.abort();
    }
    assert_eq!(place.without_key("GET", "/health").send().await.unwrap().status(), 200);
    place.server.close().await;
}

/// Who waits for a word before sending a body that is refused never hears it.
#[tokio::test]
async fn nobody_is_told_to_go_on_with_what_is_refused() {
    let place = Place::new().await;
    for (path, key, length, status) in [
        ("/v1/cargos", "wrong", 10, "401"),
        ("/v1/cargos", KEY, 100 << 20, "413"),
        ("/v1/sandboxes/sandbox-000000000000/filesystem/upload", KEY, 100 << 20, "404"),
        ("/mcp", KEY, 100 << 20, "413"),
    ] {
        let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = String::new();
        tokio::time::timeout(SOON, stream.read_to_string(&mut said)).await.expect("it was kept").unwrap();
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {said}");
    }
    place.server.close().await;
}

/// Figures are for who is on this machine and means it: a foreign name that points here is a page's trick.
#[tokio::test]
async fn metrics_are_not_for_foreign_names() {
    let place = Place::new().await;
    for (host, status) in [
        ("localhost:8114", 200),
        ("127.0.0.1", 200),
        ("[::1]:8114", 200),
        ("evil.example", 401),
        ("127.0.0.1.evil.example", 401),
        ("localhost.evil.example:8114", 401),
    ] {
        let seen = place.without_key("GET", "/metrics").header("host", host).send().await.unwrap().status();
        assert_eq!(seen, status, "{host}");
        assert_eq!(place.ask("GET", "/metrics").header("host", host).send().await.unwrap().status(), 200, "{host}");
    }
    let old = say(&place, b"GET /metrics HTTP/1.0\r\n\r\n").await;
    assert_eq!(old[0].status, 401, "{old:?}");
    place.server.close().await;
}

/// What the tools' own service refuses has the shape of every other refusal.
#[tokio::test]
async fn the_tools_refuse_in_the_same_shape() {
    let place = Place::new().await;
    let both = "application/json, text/event-stream";
    for (method, kind, accept, status) in [
        ("POST", "text/plain", both, 415),
        ("POST", "application/json", "text/html", 406),
        ("GET", "application/json", "text/html", 405),
        ("PUT", "application/json", both, 405),
    ] {
        let request = place.ask(method, "/mcp").header("content-type", kind).header("accept", accept);
        let response = request.body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json", "{method} {kind}");
        let (seen, body) = read(response).await;
        assert_eq!(seen, status, "{method} {kind} {accept}: {body}");
        let error = &body["error"];
        assert!(error["code"] == json!("validation_error") && error["request_id"].is_string(), "{body}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{body}");
    }
    place.server.close().await;
}

/// A page's port is part of where it comes from, at `/mcp` as everywhere.
#[tokio::test]
async fn an_origin_is_one_port() {
    let place = Place::with(|options| options.cors_origins = vec!["http://app.example".to_owned()]).await;
    for (origin, let_in) in [
        ("http://app.example", true),
        ("http://app.example:8080", false),
        ("https://app.example", false),
        ("http://other.example", false),
        ("null", false),
    ] {
        let request = place.ask("POST", "/mcp").header("content-type", "application/json").header("origin", origin);
        let request = request.header("accept", "application/json, text/event-stream").header("host", "localhost");
        let status = request.body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).send().await.unwrap().status();
        assert_eq!(status != 403, let_in, "{origin}: {status}");
    }
    place.server.close().await;
    // Said past the configuration, it opens nothing.
    let place = Place::with(|options| options.cors_origins = vec!["*".to_owned()]).await;
    let response = place.without_key("GET", "/health").header("origin", "https://evil.example").send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    place.server.close().await;
}
