//! Skills, from a payload to a release and back.

use cove_api::{
    BayError, CandidateInfo, CandidateQuery, CandidateStatus, CreateCandidate, CreatePayload, ErrorCode, Evaluate,
    ExecType, Owner, Promote, ReleaseStage,
};
use cove_config::SkillsConfig;
use cove_core::ExecutionId;
use cove_store::testkit::TestStore;
use cove_store::{NewBlob, ReleaseFilter, StoreError, blob_ref};
use serde_json::{Value, json};

use super::canary::{Fate, settle_canary};
use super::candidates::{create_candidate, evaluate, list_candidates};
use super::health::release_health;
use super::payloads::{create_payload, payload};
use super::releases::promote;
use super::replay::{commands_to_replay, skill_to_replay};

fn wish(skill_key: &str, sources: &[&ExecutionId]) -> CreateCandidate {
    CreateCandidate {
        skill_key: skill_key.to_owned(),
        source_execution_ids: sources.iter().map(ToString::to_string).collect(),
        scenario_key: None,
        payload_ref: None,
        summary: None,
        usage_notes: None,
        preconditions: None,
        postconditions: None,
    }
}

fn verdict(passed: bool, score: Option<f64>) -> Evaluate {
    Evaluate { passed, score, benchmark_id: None, report: None }
}

fn to(stage: ReleaseStage) -> Promote {
    Promote { stage, upgrade_of_release_id: None, upgrade_reason: None, change_summary: None }
}

/// A candidate that has passed.
async fn passed(place: &TestStore, skill_key: &str) -> CandidateInfo {
    let made = place.sandbox("p", None).await;
    let ran =
        place.run(&made.id, |new| (new.exec_type, new.code) = (ExecType::Browser, "open https://example.com")).await;
    let made = create_candidate(&place.store, &place.owner, wish(skill_key, &[&ran])).await.unwrap();
    evaluate(&place.store, &place.owner, &made.id, &verdict(true, Some(1.0))).await.unwrap();
    made
}

async fn candidate(place: &TestStore, id: &str) -> CandidateInfo {
    place.store.candidate(&place.owner, id).await.unwrap().unwrap()
}

/// The active releases of a skill: version and stage.
async fn active(place: &TestStore, skill_key: &str) -> Vec<(i64, ReleaseStage)> {
    let filter =
        ReleaseFilter { skill_key: Some(skill_key), active_only: true, limit: 100, ..ReleaseFilter::default() };
    let (items, total) = place.store.releases(&place.owner, &filter).await.unwrap();
    assert_eq!(total as usize, items.len());
    let mut items: Vec<_> = items.into_iter().map(|info| (info.version, info.stage)).collect();
    items.sort_unstable_by_key(|(version, _)| *version);
    items
}

fn code<T: std::fmt::Debug>(result: Result<T, impl Into<BayError>>) -> ErrorCode {
    result.unwrap_err().into().code
}

pub(crate) async fn payloads_come_back_as_they_were(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let body = json!({ "b": [1, 2.5, null, "\u{0}"], "a": { "ü": true } });
    for body in [body.clone(), json!([body]), json!({}), json!([])] {
        let wish = CreatePayload { payload: body.clone(), kind: "generic".to_owned() };
        let made = create_payload(store, owner, wish).await.unwrap();
        assert!(made.payload_ref.starts_with("blob:blob-"), "{}", made.payload_ref);
        let found = payload(store, owner, &made.payload_ref).await.unwrap();
        assert_eq!((found.payload.to_string(), found.kind.as_str()), (body.to_string(), "generic"));
        assert_eq!(code(payload(store, &Owner::new("other"), &made.payload_ref).await), ErrorCode::NotFound);
    }
    for (body, kind) in [(json!("text"), "k"), (json!(1), "k"), (Value::Null, "k"), (json!({}), ""), (json!({}), "a\0")]
    {
        let wish = CreatePayload { payload: body, kind: kind.to_owned() };
        assert_eq!(code(create_payload(store, owner, wish).await), ErrorCode::ValidationError);
    }
    let large = CreatePayload { payload: json!(["x".repeat(5_000_000)]), kind: "k".to_owned() };
    assert_eq!(code(create_payload(store, owner, large).await), ErrorCode::ValidationError);
    for unknown in ["blob:blob-000000000000", "blob-000000000000", "blob:x", "blob:"] {
        assert_eq!(code(payload(store, owner, unknown).await), ErrorCode::NotFound, "{unknown}");
    }
    for other in ["s3:bucket/key", "https://example.com", "x", "", "\0"] {
        let refused = payload(store, owner, other).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ValidationError, "{other}");
        assert!(refused.message.contains("Unsupported payload_ref"), "{refused}");
    }
}

pub(crate) async fn candidates_need_their_own_executions(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let code_run = place.run(&made.id, |_| ()).await;
    let browser_run = place.run(&made.id, |new| new.exec_type = ExecType::BrowserBatch).await;
    let kept = create_payload(store, owner, CreatePayload { payload: json!([]), kind: "k".to_owned() }).await.unwrap();

    let other = Owner::new("other");
    let unknown: ExecutionId = "exec-000000000000".parse().unwrap();
    let many = vec![&code_run; 101];
    let with_ref =
        |reference: &str| CreateCandidate { payload_ref: Some(reference.to_owned()), ..wish("login", &[&code_run]) };
    for (who, wish, expected) in [
        (&other, wish("login", &[&code_run]), ErrorCode::ValidationError),
        (owner, wish("login", &[&code_run, &unknown]), ErrorCode::ValidationError),
        (owner, wish("login", &[]), ErrorCode::ValidationError),
        (owner, wish("login", &many), ErrorCode::ValidationError),
        (owner, wish(" ", &[&code_run]), ErrorCode::ValidationError),
        (owner, wish("a\0b", &[&code_run]), ErrorCode::ValidationError),
        (owner, wish(&"k".repeat(201), &[&code_run]), ErrorCode::ValidationError),
        (owner, with_ref("blob:blob-000000000000"), ErrorCode::NotFound),
        (owner, with_ref("blob:anything"), ErrorCode::NotFound),
        (
            &other,
            CreateCandidate { source_execution_ids: vec![], ..with_ref(&kept.payload_ref) },
            ErrorCode::ValidationError,
        ),
    ] {
        assert_eq!(code(create_candidate(store, who, wish.clone()).await), expected, "{wish:?}");
    }
    assert!(create_candidate(store, owner, with_ref("s3://mine/1")).await.is_ok(), "a reference of the caller's own");

    let Value::Object(conditions) = json!({ "logged_in": false, "n": [1] }) else { panic!() };
    let full = CreateCandidate {
        scenario_key: Some("shop".to_owned()),
        summary: Some("signs in".to_owned()),
        usage_notes: Some("mind the\0gap".to_owned()),
        preconditions: Some(conditions.clone()),
        payload_ref: Some(kept.payload_ref.clone()),
        ..wish("login", &[&browser_run])
    };
    let made = create_candidate(store, owner, full).await.unwrap();
    assert_eq!((made.status, made.skill_type.as_str(), made.latest_pass), (CandidateStatus::Draft, "browser", None));
    assert_eq!((made.preconditions.clone(), made.postconditions.clone()), (Some(conditions), None));
    assert_eq!((made.usage_notes.as_deref(), made.created_by.as_deref()), (Some("mind the␀gap"), Some("default")));
    assert_eq!(
        (made.source_execution_ids.clone(), made.payload_ref.clone()),
        (vec![browser_run.to_string()], Some(kept.payload_ref))
    );
    assert_eq!(candidate(&place, &made.id).await, made);
    assert_eq!(create_candidate(store, owner, wish("sum", &[&code_run])).await.unwrap().skill_type, "code");

    for (query, total, shown) in [
        (CandidateQuery::default(), 3, 3),
        (CandidateQuery { skill_key: Some("login".to_owned()), ..Default::default() }, 2, 2),
        (CandidateQuery { skill_key: Some("log".to_owned()), ..Default::default() }, 0, 0),
        (CandidateQuery { status: Some(CandidateStatus::Draft), limit: Some(1), ..Default::default() }, 3, 1),
        (CandidateQuery { status: Some(CandidateStatus::Rejected), ..Default::default() }, 0, 0),
        (CandidateQuery { offset: Some(2), ..Default::default() }, 3, 1),
    ] {
        let list = list_candidates(store, owner, &query).await.unwrap();
        assert_eq!((list.total, list.items.len()), (total, shown), "{query:?}");
        assert_eq!(list_candidates(store, &other, &query).await.unwrap().total, 0);
    }
}

pub(crate) async fn from_draft_to_release_and_back(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let made = place.sandbox("p", None).await;
    let ran = place.run(&made.id, |_| ()).await;
    let first = create_candidate(store, owner, wish("login", &[&ran])).await.unwrap();
    let canary = to(ReleaseStage::Canary);
    assert_eq!(code(promote(store, owner, &first.id, &canary).await), ErrorCode::Conflict, "not evaluated");
    for score in [-0.1, 1.1, f64::NAN] {
        let wrong = evaluate(store, owner, &first.id, &verdict(true, Some(score))).await;
        assert_eq!(code(wrong), ErrorCode::ValidationError);
    }
    let evaluation = evaluate(store, owner, &first.id, &verdict(false, Some(0.1))).await.unwrap();
    assert_eq!((evaluation.passed, evaluation.score, &evaluation.candidate_id), (false, Some(0.1), &first.id));
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::Rejected);
    assert_eq!(code(promote(store, owner, &first.id, &canary).await), ErrorCode::Conflict, "did not pass");
    evaluate(store, owner, &first.id, &verdict(true, Some(0.875))).await.unwrap();
    let seen = candidate(&place, &first.id).await;
    assert_eq!(
        (seen.status, seen.latest_score, seen.latest_pass),
        (CandidateStatus::Evaluating, Some(0.875), Some(true))
    );
    evaluate(store, owner, &first.id, &verdict(true, None)).await.unwrap();
    assert_eq!(candidate(&place, &first.id).await.latest_score, None);

    let one = promote(store, owner, &first.id, &canary).await.unwrap();
    assert_eq!((one.version, one.is_active, one.release_mode.as_str()), (1, true, "manual"));
    assert!(one.health_window_end_at > Some(one.promoted_at));
    let seen = candidate(&place, &first.id).await;
    assert_eq!((seen.status, seen.promotion_release_id.as_ref()), (CandidateStatus::PromotedCanary, Some(&one.id)));
    let two = promote(store, owner, &first.id, &to(ReleaseStage::Stable)).await.unwrap();
    assert_eq!(active(&place, "login").await, [(2, ReleaseStage::Stable)], "exactly one");
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::PromotedStable);
    evaluate(store, owner, &first.id, &verdict(false, None)).await.unwrap();
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::PromotedStable, "it is still released");
    assert_eq!(code(promote(store, owner, &first.id, &canary).await), ErrorCode::Conflict, "but not once more");

    // An upgrade of what is there, of the same skill.
    let second = passed(&place, "login").await;
    let upgrade = |id: &str| Promote {
        upgrade_of_release_id: Some(id.to_owned()),
        upgrade_reason: Some("faster".to_owned()),
        ..to(ReleaseStage::Stable)
    };
    let alien = passed(&place, "other-skill").await;
    let alien = promote(store, owner, &alien.id, &canary).await.unwrap();
    assert_eq!(alien.version, 1, "each skill counts for itself");
    assert_eq!(code(promote(store, owner, &second.id, &upgrade("sr-000000000000")).await), ErrorCode::NotFound);
    assert_eq!(code(promote(store, owner, &second.id, &upgrade(&alien.id)).await), ErrorCode::Conflict);
    let three = promote(store, owner, &second.id, &upgrade(&two.id)).await.unwrap();
    assert_eq!((three.version, three.upgrade_of_release_id.as_ref()), (3, Some(&two.id)));
    assert_eq!(active(&place, "login").await, [(3, ReleaseStage::Stable)]);
    assert!(!store.release(owner, &two.id).await.unwrap().unwrap().info.is_active);

    // And back: what was before is active again, as a version of its own.
    assert_eq!(code(store.rollback(&Owner::new("other"), &three.id, now).await), ErrorCode::NotFound);
    assert_eq!(code(store.rollback(owner, &two.id, now).await), ErrorCode::Conflict, "not active");
    assert_eq!(code(store.rollback(owner, &one.id, now).await), ErrorCode::Conflict, "not active either");
    let four = store.rollback(owner, &three.id, now).await.unwrap();
    assert_eq!((four.version, four.is_active, four.rollback_of.as_ref()), (4, true, Some(&three.id)));
    assert_eq!(four.candidate_id, first.id);
    assert_eq!(active(&place, "login").await, [(4, ReleaseStage::Stable)]);
    assert_eq!(candidate(&place, &second.id).await.status, CandidateStatus::RolledBack);
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::PromotedStable);
    assert_eq!(code(store.rollback(owner, &three.id, now).await), ErrorCode::Conflict, "once");
    assert_eq!(store.release_to_replay(owner, "login", 20).await.unwrap().unwrap().id, four.id);
    // Of the first candidate, only its canary is left to go back to; it is what was taken back all the same.
    let five = store.rollback(owner, &four.id, now).await.unwrap();
    assert_eq!((five.version, five.stage, &five.candidate_id), (5, ReleaseStage::Canary, &first.id));
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::RolledBack);
    assert_eq!(active(&place, "login").await, [(5, ReleaseStage::Canary)]);
    assert_eq!(code(store.rollback(owner, &five.id, now).await), ErrorCode::Conflict, "nothing before the first");

    let all = ReleaseFilter { limit: 2, stage: Some(ReleaseStage::Stable), ..ReleaseFilter::default() };
    let (items, total) = store.releases(owner, &all).await.unwrap();
    assert_eq!((items.len(), total), (2, 3));
    assert_eq!(store.releases(&Owner::new("other"), &all).await.unwrap().1, 0);
}

pub(crate) async fn health_compares_with_what_was_before(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let canary = to(ReleaseStage::Canary);
    let old = promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap();
    let new = promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap();
    let fresh = release_health(store, owner, &new.id, new.promoted_at).await.unwrap();
    assert_eq!((fresh.samples, fresh.healthy, fresh.should_rollback, fresh.window_complete), (0, true, false, false));
    let replays = async |release: &str, fails: i64, total: i64| {
        for n in 0..total {
            store.record_replay(release, n >= fails, 100 + n, new.promoted_at).await.unwrap();
        }
    };
    replays(&old.id, 1, 20).await;
    replays(&new.id, 4, 4).await;
    let few = release_health(store, owner, &new.id, new.promoted_at).await.unwrap();
    assert_eq!((few.samples, few.error_rate, few.healthy), (4, 1.0, true), "too few to say");
    replays(&new.id, 0, 16).await;
    let end = new.health_window_end_at.unwrap();
    let seen = release_health(store, owner, &new.id, end).await.unwrap();
    assert_eq!(
        (seen.samples, seen.success_rate, seen.baseline_samples, seen.baseline_success_rate),
        (20, 0.8, 20, 0.95)
    );
    assert!((seen.success_drop - 0.15).abs() < 1e-9 && (seen.error_rate_multiplier - 4.0).abs() < 1e-9, "{seen:?}");
    assert_eq!(seen.rollback_reasons, ["success_rate_dropped", "error_rate_multiplied"]);
    assert!(seen.should_rollback && !seen.healthy && seen.window_complete);
    assert_eq!((seen.p95_duration, seen.stage.as_str()), (114, "canary"));
    store.record_replay(&new.id, false, 1, end.plus_secs(1)).await.unwrap();
    let after = release_health(store, owner, &new.id, end.plus_secs(2)).await.unwrap();
    assert_eq!(after.samples, 20, "after its window nothing counts");
    let first = release_health(store, owner, &old.id, end).await.unwrap();
    assert_eq!((first.baseline_samples, first.healthy, first.error_rate_multiplier), (0, true, 1.0));
    assert_eq!(code(release_health(store, &Owner::new("other"), &new.id, end).await), ErrorCode::NotFound);
    assert_eq!(store.purge_replays(end).await.unwrap(), 40);
}

pub(crate) async fn a_release_says_what_to_replay(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    for (payload, commands) in [
        (json!(["open a", "click @e1"]), Some(vec!["open a", "click @e1"])),
        (json!({ "commands": ["open a"] }), Some(vec!["open a"])),
        (json!({ "steps": [{ "cmd": "open a", "exit_code": 0 }, "snapshot"] }), Some(vec!["open a", "snapshot"])),
        (json!({ "steps": [{ "kind": "open" }] }), None),
        (json!({ "text": 1 }), None),
        (json!([1]), None),
    ] {
        let commands = commands.map(|list| list.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(commands_to_replay(&payload), commands, "{payload}");
    }
    let stable = to(ReleaseStage::Stable);
    let none = skill_to_replay(store, owner, "s", 20).await.unwrap_err();
    assert_eq!(none.code, ErrorCode::NotFound);
    assert!(none.message.contains("No active release found"), "{none}");
    let recorded = passed(&place, "s").await;
    assert_eq!(code(skill_to_replay(store, owner, "s", 20).await), ErrorCode::NotFound, "not released");
    let release = promote(store, owner, &recorded.id, &stable).await.unwrap();
    let found = skill_to_replay(store, owner, "s", 20).await.unwrap();
    assert_eq!((found.0.id, found.1), (release.id, vec!["open https://example.com".to_owned()]));
    assert_eq!(code(skill_to_replay(store, &Owner::new("other"), "s", 20).await), ErrorCode::NotFound);

    for (payload, expected) in [(json!({ "commands": ["open b", "close"] }), Some(2)), (json!({ "x": 1 }), None)] {
        let wish_payload = CreatePayload { payload, kind: "browser".to_owned() };
        let kept = create_payload(store, owner, wish_payload).await.unwrap();
        let wish = CreateCandidate {
            payload_ref: Some(kept.payload_ref),
            source_execution_ids: recorded.source_execution_ids.clone(),
            ..wish("s", &[])
        };
        let candidate = create_candidate(store, owner, wish).await.unwrap();
        evaluate(store, owner, &candidate.id, &verdict(true, None)).await.unwrap();
        promote(store, owner, &candidate.id, &stable).await.unwrap();
        match skill_to_replay(store, owner, "s", 20).await {
            Ok((_, commands)) => assert_eq!(Some(commands.len()), expected),
            Err(error) => assert_eq!((error.code, expected), (ErrorCode::Conflict, None)),
        }
    }
    // A reference of the caller's own can be released, and not be replayed by us.
    let sources = recorded.source_execution_ids.clone();
    let elsewhere = CreateCandidate { source_execution_ids: sources, ..wish("s", &[]) };
    let elsewhere = CreateCandidate { payload_ref: Some("s3:bucket/key".to_owned()), ..elsewhere };
    let candidate = create_candidate(store, owner, elsewhere).await.unwrap();
    evaluate(store, owner, &candidate.id, &verdict(true, None)).await.unwrap();
    promote(store, owner, &candidate.id, &stable).await.unwrap();
    let refused = skill_to_replay(store, owner, "s", 20).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ValidationError);
    assert!(refused.message.contains("Unsupported payload_ref"), "{refused}");
}

/// A canary that is released while a stable release is in use takes its place, and gives it back.
pub(crate) async fn one_release_is_in_use_whatever_its_stage(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let (canary, stable) = (to(ReleaseStage::Canary), to(ReleaseStage::Stable));
    let (first, second) = (passed(&place, "s").await, passed(&place, "s").await);
    let one = promote(store, owner, &first.id, &stable).await.unwrap();
    let two = promote(store, owner, &second.id, &canary).await.unwrap();
    assert_eq!(active(&place, "s").await, [(2, ReleaseStage::Canary)], "exactly one");
    assert!(!store.release(owner, &one.id).await.unwrap().unwrap().info.is_active);
    // What stands beside a canary is in use, too.
    assert_eq!(code(store.delete_candidate(owner, &first.id, None, now).await), ErrorCode::Conflict);
    let three = store.rollback(owner, &two.id, now).await.unwrap();
    assert_eq!((&three.candidate_id, three.stage, three.is_active), (&first.id, ReleaseStage::Stable, true));
    assert_eq!(active(&place, "s").await, [(3, ReleaseStage::Stable)]);
    assert_eq!(candidate(&place, &second.id).await.status, CandidateStatus::RolledBack);
    assert_eq!(candidate(&place, &first.id).await.status, CandidateStatus::PromotedStable);

    // A canary that is deleted leaves the stable release in use; its candidate names no release any more.
    let four = promote(store, owner, &second.id, &canary).await.unwrap();
    store.delete_release(owner, &four.id, None, now).await.unwrap();
    assert_eq!(active(&place, "s").await, [(3, ReleaseStage::Stable)]);
    assert_eq!(candidate(&place, &second.id).await.promotion_release_id, None);
    assert_eq!(candidate(&place, &first.id).await.promotion_release_id, Some(three.id));

    // First as a canary, then for all: whoever takes that back wants what was before both.
    promote(store, owner, &second.id, &canary).await.unwrap();
    let six = promote(store, owner, &second.id, &stable).await.unwrap();
    let back = store.rollback(owner, &six.id, now).await.unwrap();
    assert_eq!((&back.candidate_id, back.stage), (&first.id, ReleaseStage::Stable));
}

/// What was learnt in a sandbox can be replayed when that is gone.
pub(crate) async fn a_skill_outlives_the_sandbox_it_was_learnt_in(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let run =
        place.run(&made.id, |new| (new.exec_type, new.code) = (ExecType::BrowserBatch, "open a\nclick @e1")).await;
    let candidate = create_candidate(store, owner, wish("s", &[&run])).await.unwrap();
    evaluate(store, owner, &candidate.id, &verdict(true, None)).await.unwrap();
    promote(store, owner, &candidate.id, &to(ReleaseStage::Stable)).await.unwrap();
    store.delete_sandbox(Some(owner), &made.id, place.at(0)).await.unwrap();
    assert_eq!(skill_to_replay(store, owner, "s", 20).await.unwrap().1, ["open a", "click @e1"]);

    // Also where its payload is the trace of a run.
    let made = place.sandbox("p", None).await;
    let run = place.run(&made.id, |new| (new.exec_type, new.code) = (ExecType::Browser, "open b")).await;
    let body = json!({ "steps": [{ "cmd": "open b" }] });
    let trace =
        NewBlob { sandbox_id: Some(&made.id), execution_id: Some(&run), kind: "browser_exec_trace", body: &body };
    let trace = store.keep_blob(owner, &trace, place.now).await.unwrap();
    let candidate = CreateCandidate { payload_ref: Some(blob_ref(&trace)), ..wish("t", &[&run]) };
    let candidate = create_candidate(store, owner, candidate).await.unwrap();
    evaluate(store, owner, &candidate.id, &verdict(true, None)).await.unwrap();
    promote(store, owner, &candidate.id, &to(ReleaseStage::Stable)).await.unwrap();
    store.delete_sandbox(Some(owner), &made.id, place.at(0)).await.unwrap();
    assert_eq!(skill_to_replay(store, owner, "t", 20).await.unwrap().1, ["open b"]);
}

/// A canary gets its part of the replays and no more, is taken back when it does badly, and released when it did well.
pub(crate) async fn canaries_are_tried_and_settled(place: TestStore) {
    let (store, owner, config) = (&place.store, &place.owner, &SkillsConfig::default());
    let (canary, stable) = (to(ReleaseStage::Canary), to(ReleaseStage::Stable));
    let next = async || store.release_to_replay(owner, "s", 20).await.unwrap().unwrap().id;
    let old = promote(store, owner, &passed(&place, "s").await.id, &stable).await.unwrap();
    for _ in 0..10 {
        store.record_replay(&old.id, true, 10, old.promoted_at).await.unwrap();
    }
    let bad = promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap();
    let mut own = 0;
    for _ in 0..20 {
        let chosen = next().await;
        own += usize::from(chosen == bad.id);
        store.record_replay(&chosen, true, 10, bad.promoted_at).await.unwrap();
    }
    assert_eq!(own, 4, "a fifth of the replays");
    let settle = async |id: &str, now| settle_canary(store, config, owner, id, now).await.unwrap();
    assert_eq!(settle(&bad.id, bad.promoted_at).await, Fate::Watched);
    for _ in 0..4 {
        store.record_replay(&bad.id, false, 10, bad.promoted_at).await.unwrap();
    }
    let left_alone = SkillsConfig { auto_rollback: false, ..config.clone() };
    let left_alone = settle_canary(store, &left_alone, owner, &bad.id, bad.promoted_at).await.unwrap();
    assert_eq!(left_alone, Fate::Watched, "switched off");
    assert_eq!(settle(&bad.id, bad.promoted_at).await, Fate::Withdrawn);
    assert_eq!(settle(&bad.id, bad.promoted_at).await, Fate::Watched, "once");
    assert_eq!(candidate(&place, &bad.candidate_id).await.status, CandidateStatus::RolledBack);
    assert_eq!(next().await, old.id, "the stable release has all replays again");
    assert_eq!(active(&place, "s").await, [(old.version, ReleaseStage::Stable)]);

    let good = promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap();
    let end = good.health_window_end_at.unwrap();
    assert_eq!(settle(&good.id, end).await, Fate::Watched, "nobody has tried it");
    for _ in 0..5 {
        store.record_replay(&good.id, true, 10, good.promoted_at).await.unwrap();
    }
    assert_eq!(settle(&good.id, end.plus_secs(-1)).await, Fate::Watched, "its window is not over");
    assert_eq!(store.active_canaries().await.unwrap(), [(owner.clone(), good.id.clone())]);
    assert_eq!(settle(&good.id, end).await, Fate::Released);
    assert_eq!(store.active_canaries().await.unwrap(), []);
    let released = store.release_to_replay(owner, "s", 20).await.unwrap().unwrap();
    assert_eq!(active(&place, "s").await, [(released.version, ReleaseStage::Stable)]);
    assert_eq!((released.auto_promoted_from.as_ref(), released.release_mode.as_str()), (Some(&good.id), "auto"));
    assert_eq!(candidate(&place, &good.candidate_id).await.status, CandidateStatus::PromotedStable);
    assert_eq!(next().await, released.id);
    let back = store.rollback(owner, &released.id, end).await.unwrap();
    assert_eq!(back.candidate_id, old.candidate_id, "what was stable before can be had back");
}

pub(crate) async fn deletions(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let canary = to(ReleaseStage::Canary);
    let (first, second) = (passed(&place, "s").await, passed(&place, "s").await);
    let one = promote(store, owner, &first.id, &canary).await.unwrap();
    let two = promote(store, owner, &second.id, &canary).await.unwrap();
    let refused = store.delete_candidate(owner, &second.id, None, now).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "its release is active: {refused:?}");
    assert_eq!(code(store.delete_release(&Owner::new("other"), &one.id, None, now).await), ErrorCode::NotFound);
    let gone = store.delete_release(owner, &one.id, Some("old"), now).await.unwrap();
    assert_eq!(
        (gone.id.as_str(), gone.delete_reason.as_deref(), gone.deleted_by.as_deref()),
        (one.id.as_str(), Some("old"), Some("default"))
    );
    assert_eq!(candidate(&place, &first.id).await.promotion_release_id, None, "a deleted release is nobody's");
    assert_eq!(candidate(&place, &second.id).await.promotion_release_id, Some(two.id.clone()));
    assert_eq!(code(store.delete_release(owner, &one.id, None, now).await), ErrorCode::NotFound);
    assert_eq!(code(store.rollback(owner, &two.id, now).await), ErrorCode::Conflict, "what was before is deleted");
    store.delete_candidate(owner, &first.id, Some("\0"), now).await.unwrap();
    assert!(store.candidate(owner, &first.id).await.unwrap().is_none());
    assert_eq!(code(promote(store, owner, &first.id, &canary).await), ErrorCode::NotFound);
    assert_eq!(code(evaluate(store, owner, &first.id, &verdict(true, None)).await), ErrorCode::NotFound);
    store.delete_release(owner, &two.id, None, now).await.unwrap();
    assert!(active(&place, "s").await.is_empty(), "deleted is not active");
    assert!(store.release_to_replay(owner, "s", 20).await.unwrap().is_none());
    store.delete_candidate(owner, &second.id, None, now).await.unwrap();
    let third = promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap();
    assert_eq!(third.version, 3, "a number is never given twice");

    // A rollback goes past what is deleted, be it the release or its candidate.
    let mut made = vec![third];
    for _ in 0..3 {
        made.push(promote(store, owner, &passed(&place, "s").await.id, &canary).await.unwrap());
    }
    store.delete_release(owner, &made[2].id, None, now).await.unwrap();
    store.delete_candidate(owner, &made[1].candidate_id, None, now).await.unwrap();
    let back = store.rollback(owner, &made[3].id, now).await.unwrap();
    assert_eq!(back.candidate_id, made[0].candidate_id);
}
