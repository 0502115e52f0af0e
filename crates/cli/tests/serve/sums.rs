//! What one owner may take of everybody's disk in sum: history, cargos, pictures.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Ground, OTHER};

fn database_bytes(data: &Path) -> u64 {
    ["bay.db", "bay.db-wal"].iter().filter_map(|name| Some(data.join(name).metadata().ok()?.len())).sum()
}

/// A sandbox that runs large code in a loop: its owner's history stays within its limit, the newest entry is there, and
/// another owner's first one, too.
#[tokio::test]
async fn a_loop_does_not_fill_the_disk_with_its_history() {
    let ground = Ground::new("limits:\n  max_history_mb: 4\nwarm_pool:\n  enabled: false\n");
    let served = ground.serve("data", &[]);
    let theirs = served.request(OTHER, "POST", "/v1/sandboxes").json(&json!({ "profile": "javascript" }));
    let theirs: Value = theirs.send().await.unwrap().json().await.unwrap();
    let theirs = theirs["id"].as_str().unwrap().to_owned();
    let run = served.request(OTHER, "POST", &format!("/v1/sandboxes/{theirs}/javascript/exec"));
    assert_eq!(run.json(&json!({ "code": "return 1" })).send().await.unwrap().status(), 200);
    let id = served.create("javascript").await;
    let path = format!("/v1/sandboxes/{id}/javascript/exec");
    let code = format!("return 1; // {}", "x".repeat(250_000));
    let mut last = Value::Null;
    for _ in 0..15 {
        let body = json!({ "code": code });
        let runs = futures_util::future::join_all((0..8).map(|_| served.ask("POST", &path, body.clone()))).await;
        for (status, done) in runs {
            assert_eq!((status, &done["recorded"]), (200, &json!(true)), "{done}");
            last = done;
        }
    }
    let held = database_bytes(&ground.folder.path().join("data"));
    assert!(held < 20 << 20, "30 MB were written, and {held} bytes are held");
    let entry = format!("/v1/sandboxes/{id}/history/{}", last["execution_id"].as_str().unwrap());
    assert_eq!(served.ask("GET", &entry, Value::Null).await.0, 200);
    let history = served.request(OTHER, "GET", &format!("/v1/sandboxes/{theirs}/history")).send().await.unwrap();
    let history: Value = history.json().await.unwrap();
    assert_eq!(history["total"], 1, "{history}");
    served.close();
}

/// Cargos that belong to no sandbox are counted, and what they may hold is added up.
#[tokio::test]
async fn cargos_are_counted_and_added_up() {
    let ground = Ground::new("limits:\n  max_sandboxes: 5\n  max_cargos: 10\n  max_cargo_total_mb: 20000\n");
    let served = ground.serve("data", &[]);
    let (status, large) = served.ask("POST", "/v1/cargos", json!({ "size_limit_mb": 65536 })).await;
    let error = &large["error"];
    assert_eq!((status, &error["code"]), (429, &json!("quota_exceeded")), "{large}");
    assert_eq!(error["details"]["limit"], "limits.max_cargo_total_mb", "{large}");
    let mut made = Vec::new();
    let refused = loop {
        match served.ask("POST", "/v1/cargos", json!({})).await {
            (201, cargo) => made.push(cargo["id"].as_str().unwrap().to_owned()),
            refused => break refused,
        }
        assert!(made.len() < 50, "nobody counts them");
    };
    let error = &refused.1["error"];
    assert_eq!((refused.0, &error["code"], made.len()), (429, &json!("quota_exceeded"), 10), "{refused:?}");
    assert_eq!(error["details"]["limit"], "limits.max_cargos", "{refused:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("10") && message.contains("delete cargos"), "{message}");
    let folders = std::fs::read_dir(ground.folder.path().join("data/cargos")).unwrap().flatten();
    let folders = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("ws-")).count();
    assert_eq!(folders, 10, "what was refused leaves no folder");
    // Somebody else has its own, and one that is deleted makes room.
    let theirs = served.request(OTHER, "POST", "/v1/cargos").json(&json!({})).send().await.unwrap();
    assert_eq!(theirs.status(), 201);
    assert_eq!(served.ask("DELETE", &format!("/v1/cargos/{}", made[0]), Value::Null).await.0, 204);
    assert_eq!(served.ask("POST", "/v1/cargos", json!({})).await.0, 201);
    served.close();
}

/// Pictures of all of an owner's sandboxes count together; a run that may keep none says so and keeps its value.
#[tokio::test]
async fn pictures_are_added_up() {
    let ground = Ground::new("limits:\n  max_artifacts_mb: 1\nwarm_pool:\n  enabled: false\n");
    let served = ground.serve("data", &[]);
    // Noise does not get smaller in a PNG.
    let draw = "const c = getCanvas(400, 400); const x = c.getContext('2d'); const d = x.createImageData(400, 400); \
                let s = 1; for (let i = 0; i < d.data.length; i++) { s = (s * 1103515245 + 12345) % 2147483648; \
                d.data[i] = i % 4 === 3 ? 255 : (s >> 16) & 255; } x.putImageData(d, 0, 0); return 7";
    let mut sandboxes = Vec::new();
    let refused = loop {
        let id = served.create("javascript").await;
        let path = format!("/v1/sandboxes/{id}/javascript/exec");
        let (status, done) = served.ask("POST", &path, json!({ "code": draw })).await;
        assert_eq!(status, 200, "{done}");
        if done["success"] == false {
            break done;
        }
        sandboxes.push(id);
        assert!(sandboxes.len() < 20, "nobody adds them up");
    };
    assert!(refused.to_string().contains("limits.max_artifacts_mb"), "{refused}");
    assert!(sandboxes.len() > 1, "{sandboxes:?}");
    for id in &sandboxes {
        assert_eq!(served.ask("DELETE", &format!("/v1/sandboxes/{id}"), Value::Null).await.0, 204);
    }
    let id = served.create("javascript").await;
    let path = format!("/v1/sandboxes/{id}/javascript/exec");
    let (_, done) = served.ask("POST", &path, json!({ "code": draw })).await;
    assert_eq!(done["success"], true, "{done}");
    served.close();
}
