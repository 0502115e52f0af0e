//! Repeated requests do their work once, and owners are kept apart.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{Ground, KEY, OTHER};

#[tokio::test]
async fn twenty_at_once_with_one_key_make_one_sandbox() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let create = |key: &'static str, owner: &'static str, body: Value| {
        let request = served.request(owner, "POST", "/v1/sandboxes").header("idempotency-key", key).json(&body);
        async move {
            let response = request.send().await.unwrap();
            (response.status().as_u16(), response.json::<Value>().await.unwrap())
        }
    };
    let answers = join_all((0..20).map(|_| create("once-1", KEY, json!({ "ttl": 600 })))).await;
    let bodies: BTreeSet<String> = answers.iter().map(|(status, body)| format!("{status} {body}")).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let (_, list) = served.ask("GET", "/v1/sandboxes", Value::Null).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    let (status, body) = create("once-1", KEY, json!({ "ttl": 601 })).await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("conflict")), "another request with the same key");
    let (status, other) = create("once-1", OTHER, json!({ "ttl": 600 })).await;
    assert_eq!(status, 201, "another owner's key is another key: {other}");
    assert_ne!(other["id"], answers[0].1["id"]);

    let id = answers[0].1["id"].as_str().unwrap();
    let extend = || {
        let request = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/extend_ttl"));
        request.header("idempotency-key", "more-1").json(&json!({ "extend_by": 100 })).send()
    };
    let ends = join_all(
        (0..20).map(|_| async { extend().await.unwrap().json::<Value>().await.unwrap()["expires_at"].clone() }),
    )
    .await;
    assert!(ends.iter().all(|end| *end == ends[0] && end.is_string()), "{ends:?}");
    served.close();
}
