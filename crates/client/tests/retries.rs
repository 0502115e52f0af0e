//! What is tried again, and what is not: against a server that answers by a list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::{Arc, Mutex};

use cove_api::{CreateSandbox, ErrorCode, ShellExecRequest};
use cove_client::{Client, ClientError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

/// What the server does with one request.
#[derive(Clone, Copy)]
enum Act {
    /// Answers: status, further headers, body.
    Say(u16, &'static str, &'static str),
    /// Hangs up without a word.
    HangUp,
}

const SANDBOX: &str = r#"{"id":"sandbox-0123456789ab","status":"idle","profile":"p","cargo_id":"ws-0123456789ab","capabilities":[],"created_at":"2026-11-15T12:00:00Z","expires_at":null,"idle_expires_at":null}"#;
const SAID: &str = r#"{"success":true,"output":"","error":null,"exit_code":0,"execution_id":null,"execution_time_ms":null,"command":null}"#;
const NOT_READY: &str =
    r#"{"error":{"code":"session_not_ready","message":"starting","request_id":"r1","details":{"retry_after_ms":1}}}"#;
const CONFLICT: &str = r#"{"error":{"code":"conflict","message":"no","request_id":"r2"}}"#;

/// Plays the list; gives the heads of what came.
async fn play(acts: Vec<Act>) -> (Client, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    tokio::spawn(async move {
        for act in acts {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (read, mut write) = stream.split();
            let mut reader = BufReader::new(read);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).await.unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).await.unwrap();
            seen.lock().unwrap().push(head.to_ascii_lowercase());
            if let Act::Say(status, headers, body) = act {
                let size = body.len();
                let text = format!(
                    "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {size}\r\n{headers}\r\n{body}"
                );
                write.write_all(text.as_bytes()).await.unwrap();
            }
        }
    });
    (Client::new(&url, Some("k")).unwrap(), heads)
}

fn key(head: &str) -> String {
    head.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).unwrap().to_owned()
}

fn shell() -> ShellExecRequest {
    ShellExecRequest {
        command: "x".to_owned(),
        timeout: 1,
        cwd: None,
        include_code: false,
        description: None,
        tags: None,
        output_tag: None,
    }
}

#[tokio::test]
async fn a_creation_is_tried_again_with_the_same_key() {
    let acts = vec![Act::HangUp, Act::Say(503, "retry-after: 0\r\n", NOT_READY), Act::Say(201, "", SANDBOX)];
    let (bay, heads) = play(acts).await;
    assert_eq!(bay.create_sandbox(&CreateSandbox::default()).await.unwrap().id, "sandbox-0123456789ab");
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 3);
    assert!(
        heads.iter().all(|head| key(head) == key(&heads[0]) && head.contains("authorization: bearer k")),
        "{heads:?}"
    );
}

#[tokio::test]
async fn what_may_have_begun_is_not_tried_again() {
    let (bay, heads) = play(vec![Act::HangUp, Act::Say(200, "", SAID)]).await;
    let error = bay.exec_shell("sandbox-0123456789ab", &shell()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert_eq!(heads.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_certainly_not_begun_is_tried_again() {
    let (bay, heads) = play(vec![Act::Say(503, "retry-after: 0\r\n", NOT_READY), Act::Say(200, "", SAID)]).await;
    assert!(bay.exec_shell("sandbox-0123456789ab", &shell()).await.unwrap().success);
    assert_eq!(heads.lock().unwrap().len(), 2);
}

/// Refusals as they are told.
#[tokio::test]
async fn refusals_keep_their_code_and_their_request() {
    let (bay, heads) = play(vec![Act::Say(409, "", CONFLICT)]).await;
    let error = bay.delete_cargo("ws-0123456789ab").await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (Some(ErrorCode::Conflict), "conflict: no (request r2)"));
    assert_eq!(heads.lock().unwrap().len(), 1, "a conflict stays one");

    let problems = r#"{"detail":[{"loc":["body","ttl"],"msg":"too small","type":"x"}]}"#;
    let (bay, _) = play(vec![Act::Say(422, "", problems)]).await;
    let error = bay.create_sandbox(&CreateSandbox::default()).await.unwrap_err();
    assert!(error.to_string().contains("too small"), "{error}");

    let (bay, _) = play(vec![Act::Say(404, "", "<html>")]).await;
    assert!(matches!(bay.sandbox("x").await.unwrap_err(), ClientError::Odd { status: 404, .. }));
    let nobody = Client::new("http://127.0.0.1:9", None).unwrap();
    assert!(matches!(nobody.sandbox("x").await.unwrap_err(), ClientError::Unreachable { .. }));
}

#[tokio::test]
async fn events_are_read_across_pieces_and_comments() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let _ = socket.read(&mut head).await.unwrap();
        for piece in [
            stream,
            ":\n\nid: 7\nevent: con",
            "sole\ndata: {\"seq\":7,\"kind\":\"console\",\"at\":\"2026-11-15T12:00:00Z\",\"data\":{\"text\":\"hi\"}}\n",
            "\n",
        ] {
            socket.write_all(piece.as_bytes()).await.unwrap();
            socket.flush().await.unwrap();
        }
    });
    let mut events = Client::new(&url, None).unwrap().events("sandbox-0123456789ab", Some(6)).await.unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert_eq!((event.seq, &event.data["text"]), (7, &"hi".into()));
    assert!(events.next().await.unwrap().is_none(), "the stream is over");
}
