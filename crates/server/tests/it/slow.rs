//! Slow clients, many clients, and an end in peace.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{KEY, Place};

/// A generous bound for what should take a moment.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn whoever_never_ends_a_head_is_let_go() {
    let place = Place::with(|options| options.head_read = Duration::from_millis(300)).await;
    let mut loris = TcpStream::connect(place.server.address()).await.unwrap();
    loris.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(SOON, loris.read_to_end(&mut rest)).await.expect("the connection was kept").unwrap();
    let quiet = TcpStream::connect(place.server.address()).await.unwrap();
    let mut quiet = quiet;
    let mut rest = Vec::new();
    tokio::time::timeout(SOON, quiet.read_to_end(&mut rest)).await.expect("an idle connection was kept").unwrap();
    assert_eq!(place.without_key("GET", "/health").send().await.unwrap().status(), 200);
    place.server.close().await;
}

/// Silent connections, more than there are places for, keep nobody out; one that is being answered stays.
#[tokio::test]
async fn a_crowd_of_silent_connections_keeps_nobody_out() {
    let place = Place::with(|options| options.max_connections = 8).await;
    let made = place.ask("POST", "/v1/sandboxes").send().await.unwrap();
    let id = made.json::<serde_json::Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let address = place.server.address();
    let mut events = place.ask("GET", &format!("/v1/sandboxes/{id}/events")).send().await.unwrap();
    let mut silent = Vec::new();
    for n in 0..100 {
        let mut one = TcpStream::connect(address).await.unwrap();
        if n % 2 == 0 {
            one.write_all(b"GET /health HTTP/1.1\r\n").await.unwrap();
        }
        silent.push(one);
    }
    let asked = reqwest::Client::builder().no_proxy().timeout(SOON).build().unwrap();
    for _ in 0..10 {
        assert_eq!(asked.get(format!("http://{address}/health")).send().await.unwrap().status(), 200);
    }
    // The stream of events is still there: what is done to the sandbox is heard on it.
    assert_eq!(place.ask("POST", &format!("/v1/sandboxes/{id}/stop")).send().await.unwrap().status(), 200);
    let heard = tokio::time::timeout(SOON, events.chunk()).await.expect("nothing was heard").unwrap().unwrap();
    assert!(String::from_utf8_lossy(&heard).contains("state"), "{heard:?}");
    drop((events, silent));
    place.server.close().await;
}

#[tokio::test]
async fn too_many_requests_at_once_are_told_to_come_back() {
    let place = Place::with(|options| options.max_requests = 0).await;
    let response = place.ask("GET", "/v1/profiles").send().await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"1".parse().unwrap()));
    assert_eq!(place.without_key("GET", "/health").send().await.unwrap().status(), 200, "health is always told");
    place.server.close().await;
}

#[tokio::test]
async fn a_server_that_ends_refuses_new_connections_and_ends_streams() {
    let place = Place::new().await;
    let address = place.server.address();
    let made = place.ask("POST", "/v1/sandboxes").send().await.unwrap();
    let id = made.json::<serde_json::Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let events = place.http.get(format!("http://{address}/v1/sandboxes/{id}/events")).bearer_auth(KEY);
    let stream = events.send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let began = Instant::now();
    let reader = tokio::spawn(stream.text());
    place.server.close().await;
    tokio::time::timeout(SOON, reader).await.expect("the stream went on").unwrap().unwrap();
    assert!(began.elapsed() < SOON);
    assert!(TcpStream::connect(address).await.is_err(), "somebody still listens");
}
