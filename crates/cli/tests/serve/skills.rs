//! Skills over HTTP: kept, tried, released, replayed, taken back.

use serde_json::{Value, json};

use crate::Served;
use crate::asked::Seen;

/// A skill from an execution in this sandbox, from its payload to its end.
pub(crate) async fn life(served: &Served, s: &mut Seen, id: &str) {
    let payload = s
        .check(served, "create_payload", &[], "", json!({ "payload": { "a": [1, 2] }, "kind": "notes" }), "success")
        .await;
    let reference = payload["payload_ref"].as_str().unwrap();
    let kept = s.check(served, "get_payload", &[("payload_ref", reference)], "", Value::Null, "success").await;
    assert_eq!(kept["payload"], json!({ "a": [1, 2] }));
    s.check(served, "get_payload", &[("payload_ref", "blob:blob-000000000000")], "", Value::Null, "not_found").await;
    let other = [("payload_ref", "s3%3Abucket%2Fkey")];
    let other = s.check(served, "get_payload", &other, "", Value::Null, "validation_error").await;
    assert!(other["error"]["message"].as_str().unwrap().contains("Unsupported payload_ref"), "{other}");
    s.check(served, "create_payload", &[], "", json!({ "payload": 3 }), "422").await;
    let last = s.check(served, "get_last_execution", &[("id", id)], "", Value::Null, "success").await;
    let wish = json!({ "skill_key": "sum", "source_execution_ids": [last["id"]], "payload_ref": reference });
    let made = s.check(served, "create_candidate", &[], "", wish, "success").await;
    let first = [("id", made["id"].as_str().unwrap())];
    s.check(
        served,
        "create_candidate",
        &[],
        "",
        json!({ "skill_key": "", "source_execution_ids": ["exec-000000000000"] }),
        "422",
    )
    .await;
    s.check(
        served,
        "create_candidate",
        &[],
        "",
        json!({ "skill_key": "x", "source_execution_ids": ["exec-000000000000"] }),
        "validation_error",
    )
    .await;
    let nobody = [("id", "sc-000000000000")];
    s.check(served, "get_candidate", &first, "", Value::Null, "success").await;
    s.check(served, "get_candidate", &nobody, "", Value::Null, "not_found").await;
    let list = s.check(served, "list_candidates", &[], "skill_key=sum&limit=500", Value::Null, "success").await;
    assert_eq!(list["total"], 1, "{list}");
    s.check(served, "list_candidates", &[], "limit=501", Value::Null, "422").await;
    s.check(served, "list_candidates", &[], "status=nonsense", Value::Null, "validation_error").await;
    s.check(served, "list_releases", &[], "stage=nonsense", Value::Null, "validation_error").await;
    s.check(served, "promote_candidate", &first, "", json!({}), "conflict").await;
    s.check(served, "evaluate_candidate", &first, "", json!({ "passed": true, "score": 0.9 }), "success").await;
    s.check(served, "evaluate_candidate", &first, "", json!({}), "422").await;
    s.check(served, "promote_candidate", &first, "", json!({ "stage": "nonsense" }), "validation_error").await;
    s.check(served, "evaluate_candidate", &nobody, "", json!({ "passed": true }), "not_found").await;
    let one = s.check(served, "promote_candidate", &first, "", json!({ "stage": "stable" }), "success").await;
    assert_eq!((&one["stage"], &one["is_active"]), (&json!("stable"), &json!(true)), "{one}");
    s.check(served, "promote_candidate", &nobody, "", json!({}), "not_found").await;

    let wish = json!({ "skill_key": "sum", "source_execution_ids": [last["id"]] });
    let second = s.check(served, "create_candidate", &[], "", wish, "success").await;
    let second = [("id", second["id"].as_str().unwrap())];
    s.check(served, "evaluate_candidate", &second, "", json!({ "passed": true }), "success").await;
    let two = s.check(served, "promote_candidate", &second, "", json!({ "stage": "canary" }), "success").await;
    let release = [("id", two["id"].as_str().unwrap())];
    let nobody_released = [("id", "sr-000000000000")];
    s.check(served, "get_release", &release, "", Value::Null, "success").await;
    s.check(served, "get_release", &nobody_released, "", Value::Null, "not_found").await;
    let list = s.check(served, "list_releases", &[], "skill_key=sum&active_only=true", Value::Null, "success").await;
    assert_eq!((&list["items"][0]["id"], &list["total"]), (&two["id"], &json!(1)), "{list}");
    s.check(served, "get_release_health", &release, "", Value::Null, "success").await;
    s.check(served, "get_release_health", &nobody_released, "", Value::Null, "not_found").await;
    let back = s.check(served, "rollback_release", &release, "", Value::Null, "success").await;
    assert_eq!((&back["rollback_of"], &back["candidate_id"]), (&two["id"], &made["id"]), "{back}");
    let list = s.check(served, "list_releases", &[], "skill_key=sum&active_only=true", Value::Null, "success").await;
    assert_eq!((&list["items"][0]["id"], &list["total"]), (&back["id"], &json!(1)), "{list}");
    let taken = s.check(served, "get_candidate", &second, "", Value::Null, "success").await;
    assert_eq!((&taken["status"], &taken["promotion_release_id"]), (&json!("rolled_back"), &two["id"]), "{taken}");
    s.check(served, "rollback_release", &nobody_released, "", Value::Null, "not_found").await;
    let deleted = s.check(served, "delete_release", &release, "", json!({ "reason": "old" }), "success").await;
    assert_eq!((&deleted["id"], &deleted["delete_reason"]), (&two["id"], &json!("old")), "{deleted}");
    let left = s.check(served, "get_candidate", &second, "", Value::Null, "success").await;
    assert_eq!(left["promotion_release_id"], Value::Null, "{left}");
    s.check(served, "delete_release", &nobody_released, "", Value::Null, "not_found").await;
    s.check(served, "delete_candidate", &second, "", json!({}), "success").await;
    s.check(served, "delete_candidate", &nobody, "", json!({}), "not_found").await;
}

/// A browser skill, learnt from a batch and replayed.
pub(crate) async fn replay(served: &Served, s: &mut Seen, id: &str) {
    let commands = json!(["open data:text/html,<title>Replayed</title>", "get title"]);
    let batch = json!({ "commands": commands, "learn": true, "include_trace": true });
    let batch = s.check(served, "exec_browser_batch", &[("id", id)], "", batch, "success").await;
    let payload = json!({ "kind": "browser_steps", "payload": { "commands": commands } });
    let payload = s.check(served, "create_payload", &[], "", payload, "success").await;
    let wish = json!({
        "skill_key": "look", "source_execution_ids": [batch["execution_id"]], "payload_ref": payload["payload_ref"],
    });
    let made = s.check(served, "create_candidate", &[], "", wish, "success").await;
    let candidate = [("id", made["id"].as_str().unwrap())];
    s.check(served, "evaluate_candidate", &candidate, "", json!({ "passed": true }), "success").await;
    s.check(served, "promote_candidate", &candidate, "", json!({}), "success").await;
    let skill = [("id", id), ("skill_key", "look")];
    let done = s.check(served, "run_browser_skill", &skill, "", json!({}), "success").await;
    assert_eq!((&done["success"], &done["completed_steps"]), (&json!(true), &json!(2)), "{done}");
    assert!(done["results"][1]["stdout"].as_str().unwrap().contains("Replayed"), "{done}");
    let nothing = [("id", id), ("skill_key", "nothing")];
    let none = s.check(served, "run_browser_skill", &nothing, "", json!({}), "not_found").await;
    assert!(none["error"]["message"].as_str().unwrap().contains("No active release found"), "{none}");
    let wish = json!({ "skill_key": "look", "source_execution_ids": [batch["execution_id"]], "payload_ref": "s3:a/b" });
    let made = s.check(served, "create_candidate", &[], "", wish, "success").await;
    let candidate = [("id", made["id"].as_str().unwrap())];
    s.check(served, "evaluate_candidate", &candidate, "", json!({ "passed": true }), "success").await;
    s.check(served, "promote_candidate", &candidate, "", json!({ "stage": "stable" }), "success").await;
    let other = s.check(served, "run_browser_skill", &skill, "", json!({}), "validation_error").await;
    assert!(other["error"]["message"].as_str().unwrap().contains("Unsupported payload_ref"), "{other}");
}
