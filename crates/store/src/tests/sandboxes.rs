//! Sandboxes, cargos, keys and quotas.

use cove_api::{Moment, Owner, SandboxStatus};
use cove_core::{CargoId, SandboxId};
use serde_json::json;

use super::place::{PLENTY, answer, key, once};
use crate::testkit::{TestStore, id};
use crate::{CargoChoice, CargoRemoval, Cursor, Done, Extension, NewCargo, NewSandbox, Once, StoreError};

pub(crate) async fn a_sandbox_comes_with_its_cargo_and_goes_with_it(place: TestStore) {
    let store = &place.store;
    let made = place.sandbox("python-default", Some(place.at(60))).await;
    assert_eq!(place.get(&made.id).await, Some(made.clone()));
    assert_eq!(made.status(place.now), SandboxStatus::Idle);
    assert_eq!(made.status(place.at(60)), SandboxStatus::Expired);
    let cargo = store.cargo(&place.owner, &made.cargo_id).await.unwrap().unwrap();
    assert_eq!(cargo.info.managed_by_sandbox_id.as_deref(), Some(made.id.as_str()));
    assert_eq!((cargo.info.managed, cargo.info.size_limit_mb, cargo.info.backend.as_str()), (true, 10, "local"));
    place.run(&made.id, |_| ()).await;

    let gone = store.delete_sandbox(Some(&place.owner), &made.id, place.now).await.unwrap().unwrap();
    assert_eq!((gone.cargo_gone, gone.again, &gone.sandbox.id), (true, false, &made.id));
    assert_eq!(place.get(&made.id).await, None);
    assert_eq!(store.any_sandbox(&made.id).await.unwrap(), None);
    assert_eq!(store.cargo(&place.owner, &made.cargo_id).await.unwrap(), None);
    assert_eq!(place.found(&made.id, Default::default()).await, (vec![], 0));
    let again = store.delete_sandbox(Some(&place.owner), &made.id, place.now).await.unwrap().unwrap();
    assert!(again.again && !again.cargo_gone);

    // The folder's turn: it is remembered until it is gone.
    assert!(store.cargo_known(&made.cargo_id).await.unwrap());
    assert_eq!(store.deleted_cargos(10).await.unwrap().len(), 1);
    store.forget_cargo(&made.cargo_id).await.unwrap();
    assert!(!store.cargo_known(&made.cargo_id).await.unwrap());
}

pub(crate) async fn owners_do_not_see_each_other(place: TestStore) {
    let made = place.sandbox("p", Some(place.at(60))).await;
    let other = TestStore { owner: Owner::new("other"), ..place.clone() };
    let store = &place.store;
    assert_eq!(other.get(&made.id).await, None);
    assert_eq!(store.delete_sandbox(Some(&other.owner), &made.id, place.now).await.unwrap(), None);
    assert_eq!(store.extend_sandbox(&other.owner, &made.id, 5, None, place.now).await.unwrap(), Extension::Missing);
    assert_eq!(store.cargo(&other.owner, &made.cargo_id).await.unwrap(), None);
    let removal = store.delete_cargo(&other.owner, &made.cargo_id, place.now).await.unwrap();
    assert_eq!(removal, CargoRemoval::Missing);
    assert!(store.list_sandboxes(&other.owner, None, None, 10, place.now).await.unwrap().items.is_empty());
    assert!(store.list_cargos(&other.owner, true, None, 10).await.unwrap().items.is_empty());
    // Another's cargo cannot be mounted either.
    let sandbox = id::<SandboxId>();
    let cargo = CargoChoice::Existing(&made.cargo_id);
    let new = NewSandbox { id: &sandbox, profile: "p", cargo, expires_at: None, attributes: None, max_sandboxes: None };
    let refused = store.insert_sandbox(&other.owner, &new, None, place.now).await.unwrap_err();
    assert!(matches!(refused, StoreError::Missing { what: "cargo", .. }), "{refused}");
    // The same key of two owners is two keys.
    let key = key("k");
    let mine = place.create("p", None, Some(&once(&key, "x")), None).await.unwrap();
    let theirs = other.create("p", None, Some(&once(&key, "y")), None).await.unwrap();
    assert!(matches!((mine, theirs), (Done::Now(_), Done::Now(_))));
    assert!(place.get(&made.id).await.is_some());
}

pub(crate) async fn pages_are_exact(place: TestStore) {
    let store = &place.store;
    place.bay("bay").await;
    let mut made = Vec::new();
    for n in 0..12_i64 {
        // Pairs share a moment: the id decides between them.
        let here = TestStore { now: place.at(n / 2), ..place.clone() };
        made.push(here.sandbox("p", (n % 4 == 0).then(|| place.at(100))).await);
    }
    for row in made.iter().filter(|row| row.expires_at.is_none()).take(3) {
        let (session, _) = place.begin(&row.id, "bay").await;
        assert!(store.session_ready(&session, &json!([]), place.at(60), place.now).await.unwrap());
    }
    let mut expected: Vec<_> = made.iter().map(|row| (row.created_at, row.id.clone())).collect();
    expected.sort();
    expected.reverse();
    let expected: Vec<SandboxId> = expected.into_iter().map(|(_, id)| id).collect();

    let later = place.at(100);
    for limit in [1, 5, 11, 12, 13] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = store.list_sandboxes(&place.owner, None, cursor.as_ref(), limit, later).await.unwrap();
            assert!(page.items.len() <= limit as usize);
            seen.extend(page.items.into_iter().map(|row| row.id));
            pages += 1;
            let Some(next) = page.next else { break };
            let text = next.to_string();
            cursor = Cursor::parse(Some(&text)).unwrap();
            assert_eq!(cursor, Some(next));
        }
        assert_eq!(seen, expected, "{limit}");
        assert_eq!(pages, 12_u32.div_ceil(limit), "{limit}: no empty page at the end");
    }
    for (status, count) in [
        (SandboxStatus::Expired, 3),
        (SandboxStatus::Ready, 3),
        (SandboxStatus::Idle, 6),
        (SandboxStatus::Starting, 0),
        (SandboxStatus::Failed, 0),
    ] {
        let mut rows = Vec::new();
        let mut cursor = None;
        loop {
            let page = store.list_sandboxes(&place.owner, Some(status), cursor.as_ref(), 2, later).await.unwrap();
            assert!(page.items.len() == 2 || page.next.is_none(), "{status:?}: a full page");
            rows.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(rows.len(), count, "{status:?}");
        assert!(rows.iter().all(|row| row.status(later) == status), "{status:?}");
    }
    let cargos = store.list_cargos(&place.owner, true, None, 7).await.unwrap();
    let rest = store.list_cargos(&place.owner, true, cargos.next.as_ref(), 7).await.unwrap();
    assert_eq!((cargos.items.len(), rest.items.len(), rest.next), (7, 5, None));
    let own = id::<CargoId>();
    let new = NewCargo { id: &own, backend: "local", size_limit_mb: 1 };
    store.insert_cargo(&place.owner, &new, PLENTY, None, place.now).await.unwrap();
    let own_list = store.list_cargos(&place.owner, false, None, 7).await.unwrap();
    assert_eq!(
        own_list.items.iter().map(|row| &row.info.id).collect::<Vec<_>>(),
        [&own],
        "no sandbox's cargo among them"
    );
    for wrong in ["x", "12.", ".a", "zz.a", "1.a'b", "1.\0"] {
        let parsed = Cursor::parse(Some(wrong));
        assert!(parsed.is_err() || wrong == "12.", "{wrong}");
    }
}

pub(crate) async fn time_is_added_once_and_only_where_there_is_an_end(place: TestStore) {
    let store = &place.store;
    let made = place.sandbox("p", Some(place.at(60))).await;
    let endless = place.sandbox("p", None).await;
    let (owner, now) = (&place.owner, place.now);
    let key = key("extend-1");
    let once = once(&key, "extend 30");
    for _ in 0..2 {
        let done = store.extend_sandbox(owner, &made.id, 30, Some(&once), now).await.unwrap();
        let expires_at = match done {
            Extension::Done(Done::Now(row)) => json!(row.expires_at),
            Extension::Done(Done::Before(answer)) => answer["expires_at"].clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(expires_at, json!(place.at(90)));
    }
    assert_eq!(place.get(&made.id).await.unwrap().expires_at, Some(place.at(90)));
    for (id, at, expected) in [
        (endless.id.as_str(), now, Extension::Infinite),
        (made.id.as_str(), place.at(90), Extension::Expired),
        ("sandbox-000000000000", now, Extension::Missing),
        ("\0' OR 1=1", now, Extension::Missing),
    ] {
        assert_eq!(store.extend_sandbox(owner, id, 30, None, at).await.unwrap(), expected, "{id}");
    }
    // As far as a calendar goes, and no further.
    for _ in 0..2 {
        store.extend_sandbox(owner, &made.id, i64::MAX, None, now).await.unwrap();
        assert_eq!(place.get(&made.id).await.unwrap().expires_at, Some(Moment::from_micros(i64::MAX)));
    }
}

pub(crate) async fn a_cargo_in_use_stays(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let cargo_id = id::<CargoId>();
    let new = NewCargo { id: &cargo_id, backend: "local", size_limit_mb: 65_536 };
    let key = key("cargo");
    let once = Once { key: &key, request: "cargo", answer: &|row: &crate::CargoRow| json!(row.info.id) };
    assert!(matches!(store.insert_cargo(owner, &new, PLENTY, Some(&once), now).await.unwrap(), Done::Now(_)));
    let again = id::<CargoId>();
    let repeated = store.insert_cargo(owner, &NewCargo { id: &again, ..new }, PLENTY, Some(&once), now).await.unwrap();
    assert_eq!(repeated, Done::Before(json!(cargo_id)));
    assert!(store.cargo(owner, &again).await.unwrap().is_none(), "the work is not done twice");

    let sandbox = id::<SandboxId>();
    let cargo = CargoChoice::Existing(&cargo_id);
    let wish =
        NewSandbox { id: &sandbox, profile: "p", cargo, expires_at: None, attributes: None, max_sandboxes: None };
    store.insert_sandbox(owner, &wish, None, place.at(5)).await.unwrap();
    assert_eq!(store.cargo(owner, &cargo_id).await.unwrap().unwrap().info.last_accessed_at, place.at(5));
    let removal = store.delete_cargo(owner, &cargo_id, now).await.unwrap();
    assert_eq!(removal, CargoRemoval::InUse(vec![sandbox.to_string()]));
    let gone = store.delete_sandbox(Some(owner), &sandbox, now).await.unwrap().unwrap();
    assert!(!gone.cargo_gone, "a cargo of its own stays");
    store.touch_cargo(&cargo_id, place.at(9)).await.unwrap();
    assert_eq!(store.cargo(owner, &cargo_id).await.unwrap().unwrap().info.last_accessed_at, place.at(9));
    assert_eq!(store.delete_cargo(owner, &cargo_id, now).await.unwrap(), CargoRemoval::Gone);
    assert_eq!(store.delete_cargo(owner, &cargo_id, now).await.unwrap(), CargoRemoval::Missing);
}

pub(crate) async fn a_shared_managed_cargo_goes_with_its_last_user(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let first = place.sandbox("p", None).await;
    let second = id::<SandboxId>();
    let cargo = CargoChoice::Existing(&first.cargo_id);
    let new = NewSandbox { id: &second, profile: "p", cargo, expires_at: None, attributes: None, max_sandboxes: None };
    store.insert_sandbox(owner, &new, None, now).await.unwrap();
    assert!(!store.delete_sandbox(Some(&place.owner), &first.id, now).await.unwrap().unwrap().cargo_gone);
    assert!(store.any_cargo(&first.cargo_id).await.unwrap().is_some());
    assert_eq!(store.drop_orphan_cargos(now).await.unwrap(), 0);
    assert!(store.delete_sandbox(Some(&place.owner), &second, now).await.unwrap().unwrap().cargo_gone);
    assert!(store.any_cargo(&first.cargo_id).await.unwrap().is_none());
}

pub(crate) async fn answers_are_kept_for_their_time(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let key = key("k");
    let once = once(&key, "POST /v1/sandboxes {}");
    let Done::Now(made) = place.create("p", None, Some(&once), None).await.unwrap() else { panic!("new") };
    let kept = store.answered(owner, &key, once.request, place.now).await.unwrap();
    assert_eq!(kept, Some(answer(&made)));
    assert!(matches!(store.answered(owner, &key, "another", place.now).await, Err(StoreError::KeyReused)));
    let another = Once { request: "another", ..once };
    assert!(matches!(place.create("p", None, Some(&another), None).await, Err(StoreError::KeyReused)));
    assert_eq!(store.count_sandboxes(owner, place.now).await.unwrap(), 1);

    // After an hour the key is free, whether it has been purged or not.
    let later = TestStore { now: place.at(3601), ..place.clone() };
    assert_eq!(store.answered(owner, &key, once.request, later.now).await.unwrap(), None);
    assert!(matches!(later.create("p", None, Some(&another), None).await.unwrap(), Done::Now(_)));
    assert_eq!(store.purge_answers(later.now).await.unwrap(), 0);
    assert_eq!(store.purge_answers(place.at(7201)).await.unwrap(), 1);
    assert_eq!(store.answered(owner, &key, "another", later.now).await.unwrap(), None);

    // Or after as many hours as the configuration says.
    let longer = TestStore { store: place.store.clone().keeping_answers(2), ..place.clone() };
    longer.create("p", None, Some(&once), None).await.unwrap();
    assert!(store.answered(owner, &key, once.request, place.at(7199)).await.unwrap().is_some());
    assert_eq!(store.answered(owner, &key, once.request, place.at(7201)).await.unwrap(), None);
}

pub(crate) async fn a_failed_request_leaves_its_key_free(place: TestStore) {
    let (store, owner, now) = (&place.store, &place.owner, place.now);
    let key = key("k");
    let once = once(&key, "r");
    let sandbox = id::<SandboxId>();
    let nowhere = "ws-000000000000".parse().unwrap();
    let cargo = CargoChoice::Existing(&nowhere);
    let new = NewSandbox { id: &sandbox, profile: "p", cargo, expires_at: None, attributes: None, max_sandboxes: None };
    store.insert_sandbox(owner, &new, Some(&once), now).await.unwrap_err();
    let missing = store.extend_sandbox(owner, &sandbox, 5, Some(&once), now).await.unwrap();
    assert_eq!(missing, Extension::Missing);
    assert!(place.create("p", None, Some(&once), Some(0)).await.is_err());
    assert_eq!(store.answered(owner, &key, "r", now).await.unwrap(), None);
    assert_eq!(store.count_sandboxes(owner, now).await.unwrap(), 0);
    assert!(store.list_cargos(owner, true, None, 10).await.unwrap().items.is_empty(), "no cargo without its sandbox");
    assert!(matches!(place.create("p", None, Some(&once), Some(1)).await.unwrap(), Done::Now(_)));
}

pub(crate) async fn quotas_count_what_is_alive(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    place.sandbox("p", Some(place.at(10))).await;
    let second = place.sandbox("p", None).await;
    let refused = place.create("p", None, None, Some(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Quota { name: "limits.max_sandboxes", limit: 2, .. }), "{refused}");
    assert_eq!(store.count_sandboxes(owner, place.at(10)).await.unwrap(), 1, "an expired one does not count");
    store.delete_sandbox(Some(owner), &second.id, place.now).await.unwrap();
    assert!(place.create("p", None, None, Some(2)).await.is_ok());
}

pub(crate) async fn the_deleted_are_forgotten_in_time(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    place.bay("bay").await;
    let (first, second) = (place.sandbox("p", Some(place.at(5))).await, place.sandbox("p", None).await);
    assert!(store.expired_sandboxes(place.at(4), 10).await.unwrap().is_empty());
    for (row, at) in [(&first, place.at(4)), (&second, place.at(99))] {
        assert!(store.delete_sandbox(None, &row.id, at).await.unwrap().is_none(), "Bay leaves what has not expired");
    }
    let expired = store.expired_sandboxes(place.at(5), 10).await.unwrap();
    assert_eq!(expired.iter().map(|row| &row.id).collect::<Vec<_>>(), [&first.id]);
    let (session, _) = place.begin(&second.id, "bay").await;
    for row in [&first, &second] {
        let (by, at) = if row.id == first.id { (None, place.at(5)) } else { (Some(owner), place.at(5)) };
        let gone = store.delete_sandbox(by, &row.id, at).await.unwrap().unwrap();
        assert_eq!(gone.sandbox.session.is_some(), row.id == second.id, "who deletes must end the session");
    }
    assert!(store.expired_sandboxes(place.at(5), 10).await.unwrap().is_empty());
    assert_eq!(store.purge_sandboxes(place.at(5)).await.unwrap(), 0, "not yet");
    assert_eq!(store.purge_sandboxes(place.at(6)).await.unwrap(), 1, "not while there is a session");
    assert!(store.delete_sandbox(Some(owner), &first.id, place.now).await.unwrap().is_none());
    store.end_session(&session).await.unwrap();
    assert_eq!(store.purge_sandboxes(place.at(6)).await.unwrap(), 1);
}
