//! Sessions, the Bays that have them, and warm sandboxes.

use cove_api::SandboxStatus;
use cove_core::{CargoId, SandboxId, SessionId};
use serde_json::{Value, json};

use super::place::{answer, key, once};
use crate::sessions::SessionState;
use crate::testkit::{TestStore, id};
use crate::warm::WarmCount;
use crate::{Begin, Done, NewCargo, StoreError, WarmClaim};

pub(crate) async fn a_session_from_start_to_end(place: TestStore) {
    let (store, now) = (&place.store, place.now);
    place.bay("bay").await;
    let made = place.sandbox("p", Some(place.at(100))).await;
    let status = async || place.get(&made.id).await.unwrap().status(now);
    assert!(!store.touch_session(&made.id, place.at(9), now).await.unwrap(), "nothing to keep alive");

    let (first, begun) = place.begin(&made.id, "bay").await;
    assert_eq!((begun, status().await), (Begin::Mine, SandboxStatus::Starting));
    let (_, Begin::Other(other)) = place.begin(&made.id, "bay").await else { panic!("one starter") };
    assert_eq!(
        (other.id.as_str(), other.state, other.instance_id.as_str()),
        (first.as_str(), SessionState::Starting, "bay")
    );
    assert_eq!(store.stale_starting(place.at(1)).await.unwrap().len(), 1);
    assert!(store.stale_starting(now).await.unwrap().is_empty());

    assert!(store.session_failed(&first, "no memory").await.unwrap());
    let failed = place.get(&made.id).await.unwrap();
    assert_eq!(failed.status(now), SandboxStatus::Failed);
    assert_eq!(failed.session.unwrap().error.as_deref(), Some("no memory"));
    let (second, begun) = place.begin(&made.id, "bay").await;
    assert_eq!(begun, Begin::Mine, "a failed start may be tried again");
    assert!(!store.session_ready(&first, &json!([]), place.at(9), now).await.unwrap(), "too late");
    let containers = json!([{ "name": "ship", "pid": 7 }]);
    assert!(store.session_ready(&second, &containers, place.at(9), now).await.unwrap());
    let ready = place.get(&made.id).await.unwrap();
    assert_eq!((ready.status(now), ready.idle_expires_at()), (SandboxStatus::Ready, Some(place.at(9))));
    let session = ready.session.unwrap();
    assert_eq!((session.error.as_ref(), session.containers::<Value>().unwrap()), (None, vec![containers[0].clone()]));
    assert!(store.touch_session(&made.id, place.at(20), place.at(2)).await.unwrap());
    let touched = place.get(&made.id).await.unwrap().session.unwrap();
    assert_eq!((touched.idle_expires_at, touched.last_used_at), (Some(place.at(20)), place.at(2)));
    assert!(store.update_containers(&second, &json!([])).await.unwrap());
    assert!(!store.end_if_idle(&second, place.at(19)).await.unwrap(), "a call came in time");
    assert!(store.end_if_idle(&second, place.at(20)).await.unwrap());
    assert_eq!(status().await, SandboxStatus::Idle);
    assert!(!store.end_session(&second).await.unwrap());

    // No session where there is no sandbox, or none any more.
    assert_eq!(place.begin("sandbox-000000000000", "bay").await.1, Begin::Over);
    let late = TestStore { now: place.at(100), ..place.clone() };
    assert_eq!(late.begin(&made.id, "bay").await.1, Begin::Over);
    let (third, _) = place.begin(&made.id, "bay").await;
    store.delete_sandbox(Some(&place.owner), &made.id, now).await.unwrap();
    assert_eq!(place.begin(&made.id, "bay").await.1, Begin::Over);
    assert!(!store.session_ready(&third, &json!([]), place.at(9), now).await.unwrap(), "deleted while it started");
}

pub(crate) async fn dead_bays_lose_their_sessions(place: TestStore) {
    let (store, now) = (&place.store, place.now);
    place.bay("old").await;
    let (first, second) = (place.sandbox("p", None).await, place.sandbox("p", None).await);
    let (session, _) = place.begin(&first.id, "old").await;
    place.begin(&second.id, "old").await;
    assert_eq!(store.sessions_of("old").await.unwrap().len(), 2);
    let row = store.live_instance("old", place.at(-1)).await.unwrap().unwrap();
    assert_eq!((row.advertise_url.as_deref(), row.started_at), (Some("http://bay"), now));
    assert!(store.heartbeat("old", place.at(5)).await.unwrap());
    assert!(!store.heartbeat("unknown", now).await.unwrap());
    assert!(store.live_instance("old", place.at(5)).await.unwrap().is_none());
    assert_eq!(store.retire_instance("old", place.at(4)).await.unwrap(), 0, "it was heard after that");

    // A minute later another Bay takes one over by starting it, and the rest when the dead Bay is retired.
    let later = TestStore { now: place.at(60), ..place.clone() };
    later.bay("new").await;
    let (_, begun) = later.begin(&first.id, "new").await;
    assert_eq!(begun, Begin::Mine);
    assert!(!store.session_ready(&session, &json!([]), later.at(9), later.now).await.unwrap(), "not its any more");
    assert_eq!(store.dead_instances(later.at(-30)).await.unwrap(), ["old"]);
    assert_eq!(store.retire_instance("old", later.at(-30)).await.unwrap(), 1);
    assert!(place.get(&second.id).await.unwrap().session.is_none());
    assert_eq!(place.get(&first.id).await.unwrap().session.unwrap().instance_id, "new");
    // A Bay that never registered, or was forgotten, is dead too.
    store
        .begin_session(&crate::NewSession { id: "sess-0", sandbox_id: &second.id, instance_id: "ghost" }, now, now)
        .await
        .unwrap();
    assert_eq!(store.dead_instances(later.at(-30)).await.unwrap(), ["ghost"]);
    assert_eq!(store.remove_instance("new").await.unwrap(), 1);
}

/// A session's id is its fencing token: whatever its Bay writes after another has taken over, the row stays as it is.
pub(crate) async fn a_session_that_was_taken_over_writes_nothing(place: TestStore) {
    let store = &place.store;
    place.bay("frozen").await;
    let made = place.sandbox("p", None).await;
    let (old, _) = place.begin(&made.id, "frozen").await;
    assert!(store.session_ready(&old, &json!([]), place.at(9), place.now).await.unwrap());
    assert_eq!(store.wanted_sessions("frozen").await.unwrap(), [old.as_str()]);
    let later = TestStore { now: place.at(60), ..place.clone() };
    later.bay("next").await;
    let (new, begun) = later.begin(&made.id, "next").await;
    assert_eq!(begun, Begin::Mine);
    assert!(store.session_ready(&new, &json!([{ "name": "ship" }]), later.at(9), later.now).await.unwrap());
    let row = place.get(&made.id).await.unwrap().session.unwrap();

    assert!(!store.session_ready(&old, &json!([]), later.at(99), later.now).await.unwrap());
    assert!(!store.update_containers(&old, &json!([])).await.unwrap());
    assert!(!store.touch_own_session(&old, later.at(99), later.now).await.unwrap());
    assert!(!store.end_if_idle(&old, later.at(999)).await.unwrap());
    assert!(!store.session_failed(&old, "late").await.unwrap());
    assert!(!store.end_session(&old).await.unwrap());
    assert_eq!(place.get(&made.id).await.unwrap().session.unwrap(), row, "the row is the next one's");
    assert_eq!(store.retire_instance("frozen", later.at(-30)).await.unwrap(), 0, "it has no session to take along");

    // What a Bay may go on with: its own, while their sandboxes are there.
    assert!(store.wanted_sessions("frozen").await.unwrap().is_empty());
    assert_eq!(store.wanted_sessions("next").await.unwrap(), [new.as_str()]);
    store.delete_sandbox(Some(&place.owner), &made.id, later.now).await.unwrap();
    assert!(store.wanted_sessions("next").await.unwrap().is_empty(), "deleted, by whomever");
}

pub(crate) async fn a_secret_is_made_once_for_all(place: TestStore) {
    let another = place.another().await;
    let (first, second) = tokio::join!(
        place.store.shared_secret("s", "one", place.now),
        another.store.shared_secret("s", "two", place.now)
    );
    let kept = first.unwrap();
    assert!(kept == second.unwrap() && ["one", "two"].contains(&kept.as_str()), "{kept}");
    assert_eq!(place.store.shared_secret("s", "three", place.now).await.unwrap(), kept);
    assert_eq!(place.store.shared_secret("other", "four", place.now).await.unwrap(), "four");
    place.bay("bay").await;
    assert_eq!(place.store.live_addresses(place.at(-1)).await.unwrap(), ["http://bay"]);
    assert!(place.store.live_addresses(place.at(1)).await.unwrap().is_empty());
}

pub(crate) async fn what_is_over_is_found(place: TestStore) {
    let (store, now) = (&place.store, place.now);
    place.bay("bay").await;
    let mut ids = Vec::new();
    for (idle_secs, ttl) in [(10, None), (50, None), (50, Some(place.at(20))), (50, None)] {
        let made = place.sandbox("p", ttl).await;
        let (session, _) = place.begin(&made.id, "bay").await;
        assert!(store.session_ready(&session, &json!([]), place.at(idle_secs), now).await.unwrap());
        ids.push((made.id, session));
    }
    place.warm("bay").await;
    store.delete_sandbox(Some(&place.owner), &ids[3].0, now).await.unwrap();
    for (secs, expected) in [(5, vec![3]), (15, vec![0, 3]), (25, vec![0, 2, 3]), (70, vec![0, 1, 2, 3])] {
        let over = store.sessions_over("bay", place.at(secs)).await.unwrap();
        let mut over: Vec<_> = over.iter().map(|row| ids.iter().position(|(_, id)| *id == row.id).unwrap()).collect();
        over.sort_unstable();
        assert_eq!(over, expected, "after {secs} s; a warm one is never idle");
    }
    assert!(store.sessions_over("other", place.at(70)).await.unwrap().is_empty());
}

pub(crate) async fn warm_sandboxes_are_counted_claimed_and_dropped(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    for bay in ["mine", "theirs", "dead"] {
        place.bay(bay).await;
    }
    let theirs = place.warm("theirs").await;
    let mine = place.warm("mine").await;
    let lost = place.warm("dead").await;
    let (starting, cargo) = (id::<SandboxId>(), id::<CargoId>());
    let cargo = NewCargo { id: &cargo, backend: "local", size_limit_mb: 1 };
    let session = id::<SessionId>();
    store.insert_warm(&starting, "warm", &cargo, &session, "mine", now).await.unwrap();
    assert_eq!(store.count_warm("warm", "mine").await.unwrap(), WarmCount { ready: 1, starting: 1 });
    assert_eq!(store.count_warm("cold", "mine").await.unwrap(), WarmCount::default());
    assert!(place.get(&mine).await.is_none(), "nobody's");
    assert_eq!(store.count_sandboxes(owner, now).await.unwrap(), 0);

    for bay in ["mine", "theirs"] {
        store.heartbeat(bay, place.at(60)).await.unwrap();
    }
    let later = place.at(60);
    let claim = WarmClaim {
        profile: "warm",
        instance_id: "mine",
        alive_since: place.at(30),
        expires_at: Some(place.at(500)),
        idle_expires_at: place.at(200),
        attributes: None,
        max_sandboxes: None,
    };
    let cold = WarmClaim { profile: "cold", ..claim };
    let key_one = key("one");
    let once_one = once(&key_one, "create");
    assert_eq!(store.claim_warm(owner, &cold, Some(&once_one), later).await.unwrap(), None);
    let full = WarmClaim { max_sandboxes: Some(0), ..claim };
    let refused = store.claim_warm(owner, &full, Some(&once_one), later).await.unwrap_err();
    assert!(matches!(refused, StoreError::Quota { .. }));
    let Some(Done::Now(row)) = store.claim_warm(owner, &claim, Some(&once_one), later).await.unwrap() else {
        panic!("the key was still free")
    };
    assert_eq!((&row.id, row.status(later)), (&mine, SandboxStatus::Ready), "one's own comes first");
    assert_eq!(
        (row.created_at, row.expires_at, row.idle_expires_at()),
        (later, Some(place.at(500)), Some(place.at(200)))
    );
    assert_eq!(place.get(&mine).await, Some(row.clone()));
    let cargo = store.cargo(owner, &row.cargo_id).await.unwrap().unwrap();
    assert_eq!((cargo.info.created_at, cargo.owner.as_deref()), (later, Some("default")));
    let again = store.claim_warm(owner, &claim, Some(&once_one), later).await.unwrap();
    assert_eq!(again, Some(Done::Before(answer(&row))), "a repeated request claims no second one");

    let Some(Done::Now(row)) = store.claim_warm(owner, &claim, None, later).await.unwrap() else { panic!("theirs") };
    assert_eq!(row.id, theirs);
    assert_eq!(store.claim_warm(owner, &claim, None, later).await.unwrap(), None, "a dead Bay's is left alone");
    assert!(!store.drop_warm(&mine, later).await.unwrap(), "claimed in the meantime");
    assert_eq!(
        store.list_warm("mine").await.unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>(),
        std::slice::from_ref(&starting)
    );
    store.session_failed(&session, "x").await.unwrap();
    store.retire_instance("dead", place.at(30)).await.unwrap();
    let mut stale: Vec<_> = store.stale_warm().await.unwrap().into_iter().map(|row| row.id).collect();
    stale.sort();
    let mut expected = vec![lost.clone(), starting.clone()];
    expected.sort();
    assert_eq!(stale, expected);
    for id in &stale {
        assert!(store.drop_warm(id, later).await.unwrap());
    }
    assert!(store.stale_warm().await.unwrap().is_empty());
    assert_eq!(store.deleted_cargos(10).await.unwrap().len(), 2, "their folders can go");
}
