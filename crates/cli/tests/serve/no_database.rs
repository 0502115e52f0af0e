//! A PostgreSQL that goes away and comes back, under calls and under runs.

use std::time::{Duration, Instant};

use cove_testkit::{Postgres, until};
use serde_json::{Value, json};

use crate::{Ground, KEY};

/// What a caller is told: come back, and when; at once, not after the patience of whoever waits for a connection.
#[tokio::test]
async fn a_database_that_is_away_is_said_at_once_with_when_to_come_back() {
    let mut postgres = Postgres::start();
    let ground = Ground::new("warm_pool:\n  enabled: false\n");
    let served = ground.serve("data", &["--database-url", &postgres.url()]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;
    // A run that began before, and ends while the database is away.
    let command = "echo > begun; until [ -e go ]; do sleep 0.05; done; echo ran";
    let body = json!({ "command": command, "timeout": 60 });
    let path = format!("/v1/sandboxes/{id}/shell/exec");
    let running = tokio::spawn(served.request(KEY, "POST", &path).json(&body).send());
    let cargos = ground.folder.path().join("data/cargos");
    let cargo = std::fs::read_dir(&cargos).unwrap().flatten().map(|entry| entry.path());
    let cargo = cargo.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("ws-")).last().unwrap();
    until("it has begun", async || cargo.join("begun").exists()).await;
    postgres.stop();
    let calls = [
        ("GET", "/v1/sandboxes".to_owned(), Value::Null),
        ("POST", "/v1/sandboxes".to_owned(), json!({})),
        ("GET", format!("/v1/sandboxes/{id}"), Value::Null),
        ("POST", path.clone(), json!({ "command": "true" })),
        ("GET", format!("/v1/sandboxes/{id}/history"), Value::Null),
        ("POST", "/v1/cargos".to_owned(), json!({})),
        ("DELETE", format!("/v1/sandboxes/{id}"), Value::Null),
    ];
    let mut slowest = Duration::ZERO;
    for round in 0..2 {
        for (method, path, body) in &calls {
            let began = Instant::now();
            let mut request = served.request(KEY, method, path);
            if !body.is_null() {
                request = request.json(body);
            }
            let answer = request.send().await.unwrap();
            let (status, retry) = (answer.status().as_u16(), answer.headers().get("retry-after").cloned());
            let said: Value = answer.json().await.unwrap();
            assert_eq!((status, &said["error"]["code"]), (503, &json!("session_not_ready")), "{method} {path}: {said}");
            assert!(
                retry.is_some() && said["error"]["details"]["retry_after_ms"].is_number(),
                "{method} {path}: {said}"
            );
            if round > 0 {
                slowest = slowest.max(began.elapsed());
            }
        }
    }
    // Known to be away it is not waited for; a second is generous.
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    // Health says that the server is there.
    assert_eq!(served.request(KEY, "GET", "/health").send().await.unwrap().status(), 200);
    std::fs::write(cargo.join("go"), "").unwrap();
    let done: Value = running.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!((&done["output"], &done["recorded"]), (&json!("ran\n"), &json!(false)), "{done}");
    postgres.go_on();
    let entry = format!("/v1/sandboxes/{id}/history/{}", done["execution_id"].as_str().unwrap());
    until("it is written", async || served.ask("GET", &entry, Value::Null).await.0 == 200).await;
    assert_eq!(served.shell(&id, "echo back").await, "back");
    served.close();
}
