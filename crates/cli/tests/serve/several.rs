//! Two Bays behind one PostgreSQL: the same answers from either, and one warm sandbox for one caller.

use std::collections::BTreeSet;

use cove_testkit::{Postgres, until_some};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{Ground, Served};

async fn python(served: &Served, id: &str, code: &str) -> Value {
    let (status, body) = served.ask("POST", &format!("/v1/sandboxes/{id}/python/exec"), json!({ "code": code })).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// In the sandbox's usual session.
async fn javascript(served: &Served, id: &str, code: &str) -> Value {
    let body = json!({ "code": code, "session": true });
    let (status, body) = served.ask("POST", &format!("/v1/sandboxes/{id}/javascript/exec"), body).await;
    assert!(status == 200 && body["success"] == true, "{status} {body}");
    body
}

/// Two Bays on one PostgreSQL, with one place for their cargos.
pub(crate) fn two_bays(more: &str) -> (Postgres, Ground, Served, Served) {
    two_bays_that_say(more, |_, _| None)
}

/// The same; `say` has the name of each and the address of the one before, and says where the Bay says it is.
pub(crate) fn two_bays_that_say(
    more: &str,
    say: impl Fn(&str, Option<&str>) -> Option<String>,
) -> (Postgres, Ground, Served, Served) {
    let postgres = Postgres::start();
    let ground = Ground::new(more);
    let cargos = ground.folder.path().join("cargos");
    let text = std::fs::read_to_string(&ground.config).unwrap();
    std::fs::write(&ground.config, format!("{text}\ncargo:\n  root_path: {}\n", cargos.display())).unwrap();
    let start = |data: &str, before: Option<&str>| {
        let said = say(data, before);
        let said: Vec<(&str, &str)> = said.iter().map(|url| ("BAY_SERVER__ADVERTISE_URL", url.as_str())).collect();
        ground.serve_with(data, &["--database-url", &postgres.url()], &said)
    };
    let a = start("a", None);
    let b = start("b", Some(&a.url));
    (postgres, ground, a, b)
}

#[tokio::test]
async fn either_bay_answers_for_both() {
    let (_postgres, _ground, a, b) = two_bays(
        "profiles:\n  - id: warm\n    runtime_type: ship\n    capabilities: [python, shell, filesystem]\n    warm_pool_size: 3",
    );

    // A session that one Bay has is reached through the other, state and all.
    let id = a.create("python-default").await;
    python(&a, &id, "x = 41").await;
    assert_eq!(python(&b, &id, "x + 1").await["output"].as_str().unwrap().trim(), "42");
    let (_, seen) = b.ask("GET", &format!("/v1/sandboxes/{id}"), Value::Null).await;
    assert_eq!(seen["status"], "ready", "{seen}");
    let upload = json!({ "path": "f.txt", "content": "from b" });
    assert_eq!(b.ask("PUT", &format!("/v1/sandboxes/{id}/filesystem/files"), upload).await.0, 200);
    assert_eq!(a.shell(&id, "cat f.txt").await, "from b");
    let (_, history) = b.ask("GET", &format!("/v1/sandboxes/{id}/history"), Value::Null).await;
    assert_eq!(history["total"], 3, "{history}");

    // Stopped by the one, started by the other, used through the first.
    assert_eq!(b.ask("POST", &format!("/v1/sandboxes/{id}/stop"), Value::Null).await.0, 200);
    assert_eq!(python(&b, &id, "y = 6").await["success"], true);
    assert_eq!(python(&a, &id, "y * 7").await["output"].as_str().unwrap().trim(), "42");

    // JavaScript's state and pictures have the same home, whoever is asked.
    let id = b.create("javascript").await;
    javascript(&b, &id, "var n = 41").await;
    assert_eq!(javascript(&a, &id, "n + 1").await["data"]["result"], 42);
    let drawn = javascript(&a, &id, "getCanvas(8, 8).getContext('2d').fillRect(0, 0, 8, 8)").await;
    let name = drawn["data"]["images"][0]["name"].as_str().unwrap_or_else(|| panic!("{drawn}"));
    for served in [&a, &b] {
        let asked = served.request(crate::KEY, "GET", &format!("/v1/sandboxes/{id}/artifacts/{name}"));
        let picture = asked.send().await.unwrap().bytes().await.unwrap();
        assert!(picture.starts_with(b"\x89PNG"), "{picture:?}");
    }

    // At once, through both, with one key each: one sandbox for each key.
    let both = [&a, &b];
    let made = join_all((0..20).map(|n| {
        let request =
            both[n % 2].request(crate::KEY, "POST", "/v1/sandboxes").header("idempotency-key", format!("k-{}", n / 4));
        async move { request.json(&json!({})).send().await.unwrap().json::<Value>().await.unwrap()["id"].clone() }
    }))
    .await;
    let distinct: BTreeSet<String> = made.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 5, "{made:?}");

    // Warm ones are claimed once: nobody finds another's file.
    let claimed = join_all((0..12).map(|n| async move {
        let served = both[n % 2];
        let id = served.create("warm").await;
        let found = served.shell(&id, &format!("cat mark 2>/dev/null; echo {n} > mark")).await;
        (id, found)
    }))
    .await;
    let ids: BTreeSet<&String> = claimed.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 12, "{claimed:?}");
    assert!(claimed.iter().all(|(_, found)| found.is_empty()), "{claimed:?}");
    for (n, (id, _)) in claimed.iter().enumerate() {
        assert_eq!(both[(n + 1) % 2].shell(id, "cat mark").await, n.to_string());
    }

    // One Bay is killed: the other goes on with its sandboxes once it is known to be gone, at the latest.
    let mut a = a;
    a.child.kill().unwrap();
    a.child.wait().unwrap();
    let path = format!("/v1/sandboxes/{}/shell/exec", claimed[0].0);
    let body = until_some("the other Bay has taken the sandbox over", async || {
        let (status, body) = b.ask("POST", &path, json!({ "command": "cat mark" })).await;
        assert!(matches!(status, 200 | 502 | 503), "{body}");
        (status == 200).then_some(body)
    });
    assert_eq!(body.await["output"], "0\n", "the cargo is there");
    b.close();
}
