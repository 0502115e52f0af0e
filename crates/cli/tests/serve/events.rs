//! Server-sent events: heard as they happen, gone on with where a reader stopped.

use cove_api::{EventKind, JavaScriptExecRequest};
use serde_json::json;

use crate::{Ground, KEY};

#[tokio::test]
async fn a_reader_goes_on_where_it_stopped() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("javascript").await;
    let bay = cove_client::Client::new(&served.url, Some(KEY)).unwrap();
    let mut first = bay.events(&id, None).await.unwrap();
    let request: JavaScriptExecRequest =
        serde_json::from_value(json!({ "code": "console.log('one'); console.log('two'); return 3" })).unwrap();
    bay.exec_javascript(&id, &request).await.unwrap();
    let mut kinds = Vec::new();
    let mut heard = Vec::new();
    while kinds.last() != Some(&EventKind::RunFinished) {
        let event = first.next().await.unwrap().unwrap();
        kinds.push(event.kind);
        heard.push(event);
    }
    let lines: Vec<&str> = heard
        .iter()
        .filter(|event| event.kind == EventKind::Console)
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    assert_eq!(lines, ["one", "two"], "{heard:?}");
    assert!(heard.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    drop(first);

    // Away, while something happened: nothing of it is lost, by either way to say where one was.
    bay.exec_javascript(&id, &request).await.unwrap();
    let last = heard.last().unwrap().seq;
    let mut again = bay.events(&id, Some(last)).await.unwrap();
    let next = again.next().await.unwrap().unwrap();
    assert_eq!((next.seq, next.kind), (last + 1, EventKind::RunStarted));
    let by_query = served.request(KEY, "GET", &format!("/v1/sandboxes/{id}/events?after={last}")).send().await.unwrap();
    assert_eq!(by_query.headers()["content-type"], "text/event-stream");
    let mut by_query = by_query;
    let chunk = by_query.chunk().await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&chunk).into_owned();
    assert!(text.contains(&format!("id: {}", last + 1)) && text.contains("event: run_started"), "{text}");

    for wrong in ["x", "-1"] {
        let request = served.request(KEY, "GET", &format!("/v1/sandboxes/{id}/events"));
        let response = request.header("last-event-id", wrong).send().await.unwrap();
        assert_eq!(response.status(), 400, "{wrong}");
    }
    // The stream ends with its sandbox.
    bay.delete_sandbox(&id).await.unwrap();
    while again.next().await.unwrap().is_some() {}
    served.close();
}
