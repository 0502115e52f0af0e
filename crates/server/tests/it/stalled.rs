//! Whoever asks and does not read the answer, and whoever holds what others need: nobody else notices.

use std::time::Duration;

use cove_testkit::until;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::{KEY, OTHER, Place, read};

/// A generous bound for what should take a moment.
const SOON: Duration = Duration::from_secs(20);
/// The largest answer that needs no key.
const DOCUMENT: &str = "GET /openapi.json HTTP/1.1\r\nhost: bay\r\n\r\n";

/// A connection whose receiving side holds next to nothing.
async fn narrow(place: &Place) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(place.server.address()).await.unwrap()
}

/// Many who ask and never read.
async fn mutes(place: &Place, count: usize, words: &str) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..count {
        let mut one = narrow(place).await;
        // One that has given way to the next may be gone already.
        let _ = one.write_all(words.as_bytes()).await;
        all.push(one);
    }
    all
}

/// A number that the server says of itself.
async fn figure(place: &Place, name: &str) -> usize {
    let text = place.without_key("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = line.unwrap_or_else(|| panic!("{name} is not in {text}")) as usize;
    number
}

const CONNECTIONS: &str = "cove_http_connections";

async fn is_well(place: &Place) {
    let asked = reqwest::Client::builder().no_proxy().timeout(SOON).build().unwrap();
    let answer = asked.get(format!("http://{}/health", place.server.address())).send().await;
    assert_eq!(answer.expect("no answer").status(), 200);
}

/// More than there are places for ask for the document and never read: whoever comes is answered, at once or after the
/// second that an answer may stand still; and no more sockets are open than there are places.
#[tokio::test]
async fn answers_that_nobody_takes_keep_nobody_out() {
    let place = Place::with(|options| options.max_connections = 32).await;
    for words in [DOCUMENT.repeat(4), format!("{}GET /health HTTP/1.1\r\nhost: bay\r\n", DOCUMENT.repeat(2))] {
        let mutes = mutes(&place, 100, &words).await;
        for _ in 0..10 {
            is_well(&place).await;
            assert!(figure(&place, CONNECTIONS).await <= 32);
        }
        drop(mutes);
    }
    place.server.close().await;
}

/// Every way not to take an answer ends with the stall, also where others need no place.
#[tokio::test]
async fn an_answer_that_is_not_taken_ends() {
    let place = Place::with(|options| options.write_stall = Duration::from_millis(500)).await;
    let last = "GET /openapi.json HTTP/1.1\r\nhost: bay\r\nconnection: close\r\n\r\n";
    for (words, half_closed) in [
        (DOCUMENT.repeat(4), false),
        // Its bytes are the kernel's when hyper has closed: it counts until they are gone.
        (last.to_owned(), false),
        (DOCUMENT.repeat(4), true),
        (last.to_owned(), true),
        // A flood of small ones.
        ("GET /health HTTP/1.1\r\nhost: bay\r\n\r\n".repeat(5_000), false),
        // Refusals are answers.
        ("GET /v1/sandboxes HTTP/1.1\r\nhost: bay\r\n\r\n".repeat(5_000), false),
        // The head of another one behind it, that never ends.
        (format!("{}GET /", DOCUMENT.repeat(4)), false),
    ] {
        let mut one = narrow(&place).await;
        // A flood is not taken whole, for the same reason.
        let _ = tokio::time::timeout(Duration::from_secs(1), one.write_all(words.as_bytes())).await;
        if half_closed {
            let _ = one.shutdown().await;
        }
        // The one left is that which asks.
        until("its socket is gone", async || figure(&place, CONNECTIONS).await <= 1).await;
        // Held by us all the while.
        drop(one);
    }
    place.server.close().await;
}

/// Who reads slowly and steadily gets all of it.
#[tokio::test]
async fn an_answer_that_is_taken_slowly_is_given_whole() {
    let place = Place::with(|options| options.write_stall = Duration::from_secs(2)).await;
    let mut one = narrow(&place).await;
    one.write_all(DOCUMENT.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let (mut all, mut piece) = (0, [0; 4_096]);
    loop {
        match one.read(&mut piece).await.unwrap() {
            0 => break,
            count => all += count,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let whole = place.without_key("GET", "/openapi.json").send().await.unwrap().bytes().await.unwrap().len();
    assert!(all > whole, "{all} of {whole}");
    place.server.close().await;
}

/// Connections that break off in every way leave no place taken.
#[tokio::test]
async fn whoever_breaks_off_leaves_nothing_behind() {
    let place = Place::new().await;
    let body = format!(
        "POST /v1/cargos HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\ncontent-length: 100\r\n\r\n{{"
    );
    for words in ["", "GET /heal", DOCUMENT, &DOCUMENT.repeat(4), &body] {
        let mut all = mutes(&place, 20, words).await;
        for one in all.drain(..10) {
            one.set_zero_linger().unwrap();
        }
        drop(all);
    }
    until("all are gone", async || figure(&place, CONNECTIONS).await <= 1).await;
    until("nothing is at work", async || figure(&place, "cove_http_requests_in_flight").await <= 1).await;
    place.server.close().await;
}

/// One address has its share: those of it that rest give way to it, and beyond them it is refused.
#[tokio::test]
async fn one_address_has_its_share_of_connections() {
    let place = Place::with(|options| options.max_connections_per_address = Some(4)).await;
    let id = place.sandbox().await;
    let silent = mutes(&place, 20, "GET /").await;
    is_well(&place).await;
    drop(silent);
    let mut streams = Vec::new();
    for _ in 0..4 {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let events = client.get(format!("http://{}/v1/sandboxes/{id}/events", place.server.address()));
        streams.push(events.bearer_auth(KEY).send().await.unwrap());
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let mut refused = TcpStream::connect(place.server.address()).await.unwrap();
    let mut said = String::new();
    tokio::time::timeout(SOON, refused.read_to_string(&mut said)).await.unwrap().unwrap();
    assert!(
        said.starts_with("HTTP/1.1 429") && said.contains("quota_exceeded") && said.contains("this address"),
        "{said}"
    );
    streams.pop();
    until("there is a place again", async || {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let asked = client.get(format!("http://{}/health", place.server.address())).send().await;
        asked.is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    drop(streams);
    place.server.close().await;
}

/// One key's streams are so many and no more; another owner's, and what is quick, have their place.
#[tokio::test]
async fn one_owner_has_its_share_of_streams() {
    let place = Place::with(|options| options.max_connections = 32).await;
    let id = place.sandbox().await;
    let path = format!("/v1/sandboxes/{id}/events");
    let mut streams = Vec::new();
    for n in 0..8 {
        let stream = place.ask("GET", &path).send().await.unwrap();
        assert_eq!(stream.status(), 200, "{n}");
        streams.push(stream);
    }
    let (status, body) = read(place.ask("GET", &path).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("quota_exceeded")), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("streams for this owner: 8 at once"), "{body}");
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    let terminal = place.ask("GET", &format!("/v1/sandboxes/{id}/terminal")).header("connection", "upgrade");
    let terminal = terminal.header("upgrade", "websocket").header("sec-websocket-key", key).send().await.unwrap();
    assert_eq!(terminal.status(), 429, "a terminal is a stream, too");
    assert_eq!(place.ask("GET", "/v1/profiles").send().await.unwrap().status(), 200, "what is quick is answered");
    let other = place.without_key("POST", "/v1/sandboxes").bearer_auth(OTHER).send().await.unwrap();
    let theirs = read(other).await.1["id"].as_str().unwrap().to_owned();
    let theirs =
        place.without_key("GET", &format!("/v1/sandboxes/{theirs}/events")).bearer_auth(OTHER).send().await.unwrap();
    assert_eq!(theirs.status(), 200, "another owner is not concerned");
    streams.pop();
    until("one more may come", async || place.ask("GET", &path).send().await.unwrap().status() == 200).await;
    drop((streams, theirs));
    place.server.close().await;
}

/// Half bodies of one key take its own share of the requests, and only until their pace is too slow.
#[tokio::test]
async fn one_owner_has_its_share_of_requests() {
    let place = Place::with(|options| {
        options.max_requests = 8;
        options.body_grace = Duration::from_secs(3);
    })
    .await;
    let head = |path: &str, kind: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\ncontent-type: {kind}\r\ncontent-length: 100\r\n\r\n{{"
        )
    };
    // Wherever a body is read: also where it is the tools' own service that reads it.
    let mut halves = mutes(&place, 2, &head("/v1/cargos", "application/json")).await;
    halves.extend(mutes(&place, 2, &head("/mcp", "application/json")).await);
    until("all four are at work", async || place.ask("GET", "/v1/profiles").send().await.unwrap().status() == 429)
        .await;
    let (status, body) = read(place.ask("GET", "/v1/profiles").send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("quota_exceeded")), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("requests for this owner: 4 at once"), "{body}");
    let other = place.without_key("GET", "/v1/profiles").bearer_auth(OTHER).send().await.unwrap();
    assert_eq!(other.status(), 200, "another owner is not concerned");
    is_well(&place).await;
    for half in &mut halves {
        let mut said = vec![0; 4_096];
        let count = tokio::time::timeout(SOON, half.read(&mut said)).await.expect("it was waited for").unwrap();
        let said = String::from_utf8_lossy(&said[..count]).into_owned();
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("bytes per second"), "{said}");
    }
    assert_eq!(place.ask("GET", "/v1/profiles").send().await.unwrap().status(), 200);
    place.server.close().await;
}

/// What bodies weigh is added up, and counted with what they become: a list of noughts.
#[tokio::test]
async fn one_owners_bodies_have_a_sum() {
    let place = Place::with(|options| options.max_body_memory_bytes = 4 << 20).await;
    let payload = |key: &'static str, bytes: usize| {
        let list = format!("{{\"kind\": \"x\", \"payload\": [{}0]}}", "0,".repeat(bytes / 2));
        place
            .without_key("POST", "/v1/skills/payloads")
            .bearer_auth(key)
            .header("content-type", "application/json")
            .body(list)
    };
    let refused = async |sent: reqwest::RequestBuilder| {
        let (status, body) = read(sent.send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (429, &json!("quota_exceeded")), "{body}");
        assert!(body["error"]["message"].as_str().unwrap().contains("bytes in bodies of requests"), "{body}");
    };
    assert_eq!(payload(KEY, 50 << 10).send().await.unwrap().status(), 201);
    // 200 KB of text are 3 MB in memory, and one of two owners has half of four.
    refused(payload(KEY, 200 << 10)).await;
    // Another owner is not concerned, what is small is answered, and what was refused holds nothing.
    assert_eq!(payload(OTHER, 50 << 10).send().await.unwrap().status(), 201);
    assert_eq!(place.ask("GET", "/v1/profiles").send().await.unwrap().status(), 200);
    for _ in 0..10 {
        assert_eq!(payload(KEY, 100 << 10).send().await.unwrap().status(), 201);
    }
    place.server.close().await;
}

/// A byte now and then is no pace, however regular it is.
#[tokio::test]
async fn bodies_that_trickle_are_let_go() {
    let place = Place::with(|options| options.body_grace = Duration::from_millis(500)).await;
    let id = place.sandbox().await;
    let form = "content-type: multipart/form-data; boundary=b\r\ntransfer-encoding: chunked\r\n";
    let json = "content-type: application/json\r\ntransfer-encoding: chunked\r\n";
    let part = "content-disposition: form-data; name=\"path\"\r\n\r\n";
    for (path, kind, begin) in [
        ("/v1/cargos".to_owned(), json, "{".to_owned()),
        ("/mcp".to_owned(), json, "{".to_owned()),
        // Before the first field, in a field's head, in a path that never ends.
        (format!("/v1/sandboxes/{id}/filesystem/upload"), form, String::new()),
        (format!("/v1/sandboxes/{id}/filesystem/upload"), form, "--b\r\nx: ".to_owned()),
        (format!("/v1/sandboxes/{id}/filesystem/upload"), form, format!("--b\r\n{part}")),
    ] {
        let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n{kind}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        if !begin.is_empty() {
            stream.write_all(format!("{:x}\r\n{begin}\r\n", begin.len()).as_bytes()).await.unwrap();
        }
        let (mut reader, mut writer) = stream.into_split();
        // The pause is what is tested: a client that writes slowly, for as long as it is listened to.
        let drip = tokio::spawn(async move {
            while writer.write_all(b"1\r\n \r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let mut said = vec![0; 4_096];
        let count = tokio::time::timeout(SOON, reader.read(&mut said)).await.expect("it was listened to").unwrap();
        let said = String::from_utf8_lossy(&said[..count]).into_owned();
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("bytes per second"), "{path} {begin:?}: {said}");
        drip.abort();
    }
    place.server.close().await;
}

/// A file for a sandbox that is not there, or not the caller's, is refused before anything of it is sent.
#[tokio::test]
async fn uploads_to_nobody_are_refused_before_they_come() {
    let place = Place::new().await;
    let id = place.sandbox().await;
    let head = |id: &str, key: &str, length: u64| {
        format!(
            "POST /v1/sandboxes/{id}/filesystem/upload HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {key}\r\n\
             content-type: multipart/form-data; boundary=b\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let started = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
    for (id, key, length, status) in [
        ("sandbox-000000000000", KEY, 900 << 20, "404"),
        (&id, OTHER, 900 << 20, "404"),
        ("..%2f..%2fetc", KEY, 900 << 20, "404"),
        (&id, "wrong", 900 << 20, "401"),
        (&id, KEY, 5 << 30, "413"),
    ] {
        for body in [String::new(), started.to_owned(), format!("{started}{}", "x".repeat(2 << 20))] {
            let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
            stream.write_all(head(id, key, length).as_bytes()).await.unwrap();
            let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(body.as_bytes())).await;
            let mut said = vec![0; 4_096];
            let count = tokio::time::timeout(SOON, stream.read(&mut said)).await.expect("no answer").unwrap();
            let said = String::from_utf8_lossy(&said[..count]).into_owned();
            assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{id} {} bytes sent: {said}", body.len());
        }
    }
    until("all are gone", async || figure(&place, CONNECTIONS).await <= 2).await;
    place.server.close().await;
}
