//! The client against whatever a runtime may answer: it comes from a guest's world.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::time::Duration;

use cove_core::Deadline;
use cove_runtime_api::{CallError, HealthRequest, Refusal, RefusalCode, RuntimeClient};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};

/// Far more than anything here takes.
fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

/// Reads a request's head, says these bytes, and hangs up.
async fn say(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, bytes: &[u8]) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
}

/// What the client makes of these bytes, over a socket file and over TCP.
async fn check(bytes: &'static [u8], expected: impl Fn(CallError) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let unix = UnixListener::bind(&socket).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = tcp.local_addr().unwrap();
    let (one, other) = (RuntimeClient::new(&socket), RuntimeClient::new(address));
    let by_file = async {
        let (asked, ()) = tokio::join!(one.call(&HealthRequest, patience()), async {
            say(unix.accept().await.unwrap().0, bytes).await;
        });
        asked.unwrap_err()
    };
    let by_tcp = async {
        let (asked, ()) = tokio::join!(other.call(&HealthRequest, patience()), async {
            say(tcp.accept().await.unwrap().0, bytes).await;
        });
        asked.unwrap_err()
    };
    for error in [by_file.await, by_tcp.await] {
        assert!(expected(error.clone()), "{:?}: {error:?}", String::from_utf8_lossy(bytes));
    }
}

fn refused(status: u16, code: RefusalCode, message: &str) -> CallError {
    CallError::Refused(Refusal::new(status, code, message))
}

#[tokio::test]
async fn whatever_comes_back_is_an_error_with_a_cause() {
    let without_reason = "the runtime refused the request without a reason";
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", |error| matches!(error, CallError::Unreadable(_))).await;
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", |error| matches!(error, CallError::Unreachable(_))).await;
    check(b"", |error| matches!(error, CallError::Unreachable(_))).await;
    check(b"no HTTP\r\n\r\n", |error| matches!(error, CallError::Unreachable(_))).await;
    check(b"HTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\n{}", |error| {
        error == refused(500, RefusalCode::Unknown, without_reason)
    })
    .await;
    let told =
        b"HTTP/1.1 404 No\r\ncontent-length: 52\r\n\r\n{\"error\":{\"code\":\"file_not_found\",\"message\":\"none\"}}";
    check(told, |error| error == refused(404, RefusalCode::FileNotFound, "none")).await;
}

#[tokio::test]
async fn silence_and_absence_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let client = RuntimeClient::new(&socket);
    let absent = client.call(&HealthRequest, patience()).await;
    assert!(matches!(absent, Err(CallError::NoConnection(_))), "{absent:?}");
    let _listener = UnixListener::bind(&socket).unwrap();
    let limit = Duration::from_millis(50);
    assert_eq!(client.call(&HealthRequest, Deadline::after(limit)).await, Err(CallError::Timeout(limit)));
}

#[tokio::test]
async fn a_refused_download_is_read_within_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let client = RuntimeClient::new(&socket);
    let (asked, ()) = tokio::join!(client.download("a b/ü.txt", patience()), async {
        let mut answer = b"HTTP/1.1 500 No\r\n\r\n".to_vec();
        answer.resize(2 << 20, b'x');
        say(listener.accept().await.unwrap().0, &answer).await;
    });
    assert!(matches!(asked, Err(CallError::Refused(refusal)) if refusal.code == RefusalCode::Unknown));
}
