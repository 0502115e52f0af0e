//! A terminal over a WebSocket: the same key, the same owners, wherever its session lives.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::several::two_bays;
use crate::{Ground, KEY, OTHER, PATIENCE, Served};

/// Opens one; else the status that it was refused with.
async fn open(served: &Served, key: &str, id: &str) -> Result<WebSocketStream<TcpStream>, u16> {
    let place = served.url.trim_start_matches("http://");
    let mut request =
        format!("ws://{place}/v1/sandboxes/{id}/terminal?cols=100&rows=30").into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
    let stream = TcpStream::connect(place).await.unwrap();
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

/// Types something, and reads until the shell has ended: all that was printed, and its last word.
async fn type_and_read(mut socket: WebSocketStream<TcpStream>, keys: &str) -> (String, Value) {
    socket.send(Message::text(json!({ "type": "input", "data": keys }).to_string())).await.unwrap();
    let mut printed = Vec::new();
    let reading = async {
        while let Some(message) = socket.next().await {
            match message.unwrap() {
                Message::Binary(bytes) => printed.extend_from_slice(&bytes),
                Message::Text(word) => return serde_json::from_str(&word).unwrap(),
                _ => {}
            }
        }
        panic!("it ended without a word: {}", String::from_utf8_lossy(&printed));
    };
    let word = tokio::time::timeout(PATIENCE, reading).await.expect("the terminal fell silent");
    (String::from_utf8_lossy(&printed).into_owned(), word)
}

#[tokio::test]
async fn a_terminal_is_opened_by_its_owner_and_ends_with_its_shell() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let socket = open(&served, KEY, &id).await.unwrap();
    let (printed, word) = type_and_read(socket, "stty size; echo $((6 * 7)) > answer; exit 5\n").await;
    assert!(printed.contains("30 100"), "{printed}");
    assert_eq!((&word["type"], &word["code"]), (&json!("exit"), &json!(5)), "{word}");
    assert_eq!(served.shell(&id, "cat answer").await, "42", "it is the sandbox's own world");

    assert_eq!(open(&served, "wrong", &id).await.err(), Some(401));
    assert_eq!(open(&served, OTHER, &id).await.err(), Some(404));
    assert_eq!(open(&served, KEY, "sandbox-000000000000").await.err(), Some(404));
    let plain = served.create("javascript").await;
    assert_eq!(open(&served, KEY, &plain).await.err(), Some(400));
    let (status, body) = served.ask("GET", &format!("/v1/sandboxes/{id}/terminal"), Value::Null).await;
    assert_eq!((status, &body["error"]["code"]), (426, &json!("validation_error")), "{body}");

    // Stopping the sandbox ends what sits there, and nothing is left of it.
    let mut socket = open(&served, KEY, &id).await.unwrap();
    assert_eq!(served.ask("POST", &format!("/v1/sandboxes/{id}/stop"), Value::Null).await.0, 200);
    let ended = async { while let Some(Ok(_)) = socket.next().await {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("the terminal outlived its session");
    // One that is open does not keep the server from ending.
    let _open = open(&served, KEY, &id).await.unwrap();
    served.close();
}

#[tokio::test]
async fn a_terminal_is_reached_through_another_bay() {
    let (_postgres, _ground, a, b) = two_bays("");
    let id = a.create("python-default").await;
    a.shell(&id, "true").await;
    let socket = open(&b, KEY, &id).await.unwrap();
    let (_, word) = type_and_read(socket, "echo there > seen; exit 3\n").await;
    assert_eq!(word["code"], 3, "{word}");
    assert_eq!(b.shell(&id, "cat seen").await, "there");
    a.close();
    b.close();
}
