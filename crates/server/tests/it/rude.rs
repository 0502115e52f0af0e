//! What no HTTP library would send: heads that do not read, too long ones, doubled ones, several at once, bodies that end
//! early, JSON without a bottom. Each is answered in the shape of every other error, or let go; the server goes on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{KEY, Place, read};

/// A generous bound for what should take a moment.
const SOON: Duration = Duration::from_secs(20);

/// One answer of several on a connection.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// An error of the usual shape, with the id that its header has.
    pub(crate) fn refused(&self, status: u16) {
        let error = &self.json()["error"];
        assert_eq!(self.status, status, "{self:?}");
        let id = error["request_id"].as_str().unwrap();
        assert!(self.head.to_lowercase().contains(&format!("x-request-id: {id}")), "{self:?}");
        assert!(!error["message"].as_str().unwrap().is_empty() && error["code"] == "validation_error", "{self:?}");
    }
}

/// Writes bytes as they are, and reads all answers; the last request must be one that ends the connection.
pub(crate) async fn say(place: &Place, bytes: &[u8]) -> Vec<Said> {
    let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
    // A refusal may come before the end of what is written.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let _ = tokio::time::timeout(SOON, stream.read_to_end(&mut all)).await.expect("the connection was kept");
    let all = String::from_utf8(all).unwrap();
    let (mut rest, mut answers) = (all.as_str(), Vec::new());
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let length: usize = length.unwrap_or_else(|| panic!("{all}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        answers.push(Said { status, head: head.to_owned(), body: after[..length].to_owned() });
        rest = &after[length..];
    }
    assert!(rest.is_empty(), "{all}");
    answers
}

const GET: &str = "GET /health HTTP/1.1\r\nhost: bay\r\n\r\n";

#[tokio::test]
async fn heads_that_do_not_read_are_refused_like_everything_else() {
    let place = Place::new().await;
    let many: String = (0..100).map(|n| format!("x-{n}: 1\r\n")).collect();
    for (bytes, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET /health HTTP/9.9\r\n\r\n".to_owned(), 400),
        ("GET /hea lth HTTP/1.1\r\nhost: bay\r\n\r\n".to_owned(), 400),
        ("GET /\u{1}health HTTP/1.1\r\nhost: bay\r\n\r\n".to_owned(), 400),
        ("GET /health HTTP/1.1\r\nhost bay\r\n\r\n".to_owned(), 400),
        ("GET /health HTTP/1.1\r\nhost: b\0y\r\n\r\n".to_owned(), 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n".to_owned(), 400),
        ("POST /v1/cargos HTTP/1.1\r\nhost: bay\r\ncontent-length: -1\r\n\r\n".to_owned(), 400),
        ("POST /v1/cargos HTTP/1.1\r\nhost: bay\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_owned(), 400),
        ("POST /v1/cargos HTTP/1.1\r\nhost: bay\r\ntransfer-encoding: gzip\r\n\r\n".to_owned(), 400),
        (format!("GET /health HTTP/1.1\r\nhost: bay\r\n{many}\r\n"), 431),
        (format!("GET /health HTTP/1.1\r\nhost: bay\r\nx: {}\r\n\r\n", "y".repeat(100_000)), 431),
        (format!("GET /{} HTTP/1.1\r\nhost: bay\r\n\r\n", "y".repeat(100_000)), 431),
    ] {
        let said = say(&place, bytes.as_bytes()).await;
        assert_eq!(said.len(), 1, "{said:?} for {:?}", &bytes[..bytes.len().min(80)]);
        said[0].refused(status);
        // The same after a request that was answered, on the same connection.
        let said = say(&place, format!("{GET}{bytes}").as_bytes()).await;
        assert_eq!((said.len(), said[0].status, said[1].status), (2, 200, status), "{said:?}");
    }
    assert_eq!(place.without_key("GET", "/health").send().await.unwrap().status(), 200);
    place.server.close().await;
}

/// After a pause, so that the first answer has gone out when the second head comes.
#[tokio::test]
async fn a_kept_connection_is_refused_in_the_same_shape() {
    let place = Place::new().await;
    let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
    stream.write_all(GET.as_bytes()).await.unwrap();
    let mut first = vec![0; 4096];
    let got = tokio::time::timeout(SOON, stream.read(&mut first)).await.unwrap().unwrap();
    assert!(first[..got].ends_with(b"}"), "{:?}", String::from_utf8_lossy(&first[..got]));
    stream.write_all(b"what?\r\n\r\n").await.unwrap();
    let mut second = String::new();
    tokio::time::timeout(SOON, stream.read_to_string(&mut second)).await.unwrap().unwrap();
    let (head, body) = second.split_once("\r\n\r\n").unwrap();
    Said { status: 400, head: head.to_owned(), body: body.to_owned() }.refused(400);
    place.server.close().await;
}

#[tokio::test]
async fn several_requests_at_once_are_answered_in_turn() {
    let place = Place::new().await;
    let one = format!("GET /v1/profiles HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n");
    let all: String = (0..50).map(|n| format!("{one}x-request-id: n{n}\r\n\r\n")).collect();
    let all = format!("{all}{one}connection: close\r\n\r\n");
    let said = say(&place, all.as_bytes()).await;
    assert_eq!(said.len(), 51);
    for (n, said) in said.iter().take(50).enumerate() {
        assert!(said.status == 200 && said.head.contains(&format!("x-request-id: n{n}\r\n")), "{n}: {said:?}");
    }
    place.server.close().await;
}

/// What a request says twice is what a proxy in front may have read otherwise: it is refused, or only one reading is possible.
#[tokio::test]
async fn doubled_headers_and_keys_are_not_guessed_at() {
    let place = Place::new().await;
    let request = |more: &str, body: &str| {
        let length = body.len();
        format!(
            "POST /v1/cargos HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}"
        )
    };
    let check = async |bytes: String, status: u16| {
        let said = say(&place, bytes.as_bytes()).await;
        assert_eq!(said.first().map(|said| said.status), Some(status), "{said:?}");
    };
    check(request("authorization: Bearer wrong\r\n", "{}"), 401).await;
    check(request("idempotency-key: a\r\nidempotency-key: b\r\n", "{}"), 400).await;
    check(request("content-type: application/json\r\ncontent-type: text/plain\r\n", "{}"), 422).await;
    check(request("", r#"{"size_limit_mb": 1, "size_limit_mb": 2}"#), 422).await;
    check(request("content-type: application/json; charset=utf-16\r\n", "{}"), 422).await;
    check(request("content-type: application/json; charset=UTF-8\r\n", "{}"), 201).await;
    check(request("", "{\"size_limit_mb\": \"\u{0}\"}"), 422).await;
    check(request("", &"[".repeat(200_000)), 422).await;
    check(request("", &format!("{{\"a\": {}", "{\"a\": ".repeat(200_000))), 422).await;
    // A length and chunks at once: the chunks count, and the connection ends.
    let both = request("transfer-encoding: chunked\r\n", "0\r\n\r\nGET /health HTTP/1.1\r\n\r\n");
    let said = say(&place, both.as_bytes()).await;
    assert!(said.len() == 1 || said[0].status == 400, "smuggled: {said:?}");
    place.server.close().await;
}

/// Bytes that are no UTF-8 are not JSON, and not a name in a path.
#[tokio::test]
async fn what_is_no_text_is_refused() {
    let place = Place::new().await;
    let request = place.ask("POST", "/v1/cargos").header("content-type", "application/json");
    let (status, body) = read(request.body(vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']).send().await.unwrap()).await;
    assert_eq!((status, &body["detail"][0]["type"]), (422, &json!("json_invalid")), "{body}");
    for name in ["%00", "%ff", "..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "%0d%0aX: y"] {
        for path in [
            format!("/v1/sandboxes/{name}"),
            format!("/v1/sandboxes/{name}/shell/exec"),
            format!("/v1/sandboxes/sandbox-000000000000/artifacts/{name}"),
            format!("/v1/sandboxes/sandbox-000000000000/history/{name}"),
            format!("/v1/sandboxes/sandbox-000000000000/browser/traces/{name}"),
            format!("/v1/cargos/{name}"),
            format!("/v1/skills/payloads/{name}"),
            format!("/v1/skills/candidates/{name}"),
            format!("/v1/skills/releases/{name}"),
        ] {
            let method = if path.ends_with("exec") { "POST" } else { "GET" };
            let bytes = format!(
                "{method} {} HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
                path.replace(' ', "%20")
            );
            let said = say(&place, bytes.as_bytes()).await;
            // An empty body to `exec` is told before the sandbox is looked for. A payload's name is a reference, of any
            // kind: what is none of ours is an invalid value.
            let payload = path.contains("/payloads/") && said[0].status == 400;
            assert!(payload || matches!(said[0].status, 404 | 422), "{path}: {said:?}");
        }
    }
    place.server.close().await;
}

/// A body that never ends is let go, however it drips; one that does not come at all too.
#[tokio::test]
async fn bodies_that_do_not_come_hold_nothing() {
    let place = Place::with(|options| options.body_read = Duration::from_millis(300)).await;
    let head = format!("POST /v1/cargos HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n");
    let never = say(&place, format!("{head}connection: close\r\ncontent-length: 100\r\n\r\n{{").as_bytes()).await;
    assert!(never[0].status == 408 && never[0].json()["error"]["code"] == "timeout", "{never:?}");
    // One byte now and then, for ever.
    let mut stream = TcpStream::connect(place.server.address()).await.unwrap();
    stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    // The pause is what is tested: a client that writes slowly, for as long as it is listened to.
    let drip = tokio::spawn(async move {
        while writer.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut said = Vec::new();
    let _ = tokio::time::timeout(SOON, reader.read_to_end(&mut said)).await.expect("it was listened to for ever");
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("x-request-id"), "{said}");
    drip.abort();
    place.server.close().await;
}

#[tokio::test]
async fn methods_that_are_not_for_a_path() {
    let place = Place::new().await;
    for (method, path, status) in [
        ("HEAD", "/health", 200),
        ("HEAD", "/v1/profiles", 200),
        ("OPTIONS", "/v1/sandboxes", 405),
        ("TRACE", "/v1/sandboxes", 405),
        ("BREW", "/v1/sandboxes", 405),
        ("OPTIONS", "/nowhere", 404),
        ("POST", "/health", 405),
    ] {
        let response = place.ask(method, path).send().await.unwrap();
        assert!(response.headers().contains_key("x-request-id"), "{method} {path}");
        let (seen, body) = read(response).await;
        assert_eq!(seen, status, "{method} {path}: {body}");
        assert!(status == 200 || body["error"]["request_id"].is_string(), "{method} {path}: {body}");
    }
    place.server.close().await;
}

/// What is no id names nothing; the answer says what an id looks like.
#[tokio::test]
async fn an_id_of_another_form_is_told_with_the_form() {
    let place = Place::new().await;
    for (path, form) in [
        ("/v1/sandboxes/nonsense", "expected `sandbox-` and twelve hex digits"),
        ("/v1/cargos/nonsense", "expected `ws-` and twelve hex digits"),
    ] {
        let (status, body) = read(place.ask("GET", path).send().await.unwrap()).await;
        let error = &body["error"];
        assert_eq!((status, &error["details"]["id"]), (404, &json!("nonsense")), "{body}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(form)), "{body}");
    }
    place.server.close().await;
}
