//! Many at once: whoever wins, the work is done once.
//!
//! Every race is run through two stores on one database, as two Bays would.

use std::collections::HashSet;
use std::sync::Arc;

use cove_api::{Promote, ReleaseStage};
use cove_core::{CargoId, SandboxId, SessionId};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::place::{PLENTY, key, once};
use crate::testkit::{TestStore, id};
use crate::{Begin, CargoChoice, CargoRemoval, Done, Extension, NewCargo, NewSandbox, StoreError, WarmClaim};

/// Runs `work` so many times at once, half of them on another store.
async fn together<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    place: &TestStore,
    times: usize,
    work: impl Fn(TestStore, usize) -> F,
) -> Vec<T> {
    let other = place.another().await;
    let start = Arc::new(Barrier::new(times));
    let mut all = JoinSet::new();
    for number in 0..times {
        let (start, place) = (start.clone(), if number % 2 == 0 { place.clone() } else { other.clone() });
        let work = work(place, number);
        all.spawn(async move {
            start.wait().await;
            work.await
        });
    }
    let results = all.join_all().await;
    other.store.close().await;
    results
}

pub(crate) async fn one_key_makes_one_sandbox(place: TestStore) {
    let results = together(&place, 50, |place, _| async move {
        let key = key("the-key");
        let once = once(&key, "create");
        match place.create("p", None, Some(&once), None).await.unwrap() {
            Done::Now(row) => (true, row.id),
            Done::Before(answer) => (false, answer["id"].as_str().unwrap().parse().unwrap()),
        }
    })
    .await;
    assert_eq!(results.iter().filter(|(made, _)| *made).count(), 1);
    assert_eq!(results.iter().map(|(_, id)| id).collect::<HashSet<_>>().len(), 1, "all hear of the same");
    assert_eq!(place.store.count_sandboxes(&place.owner, place.now).await.unwrap(), 1);
    assert_eq!(place.store.list_cargos(&place.owner, true, None, 100).await.unwrap().items.len(), 1);
    // With different requests under one key, one wins and the others are told.
    let results = together(&place, 20, |place, number| async move {
        let key = key("another-key");
        let request = format!("create {}", number % 2);
        let made = place.create("p", None, Some(&once(&key, &request)), None).await;
        (number % 2, made.map(|done| matches!(done, Done::Now(_))))
    })
    .await;
    let winner = results.iter().find_map(|(side, made)| matches!(made, Ok(true)).then_some(*side)).unwrap();
    for (side, made) in results {
        assert_eq!(made.is_ok(), side == winner);
        assert!(made.is_ok() || matches!(made, Err(StoreError::KeyReused)));
    }
}

pub(crate) async fn warm_sandboxes_are_never_claimed_twice(place: TestStore) {
    for bay in ["one", "two"] {
        place.bay(bay).await;
    }
    let mut warm = HashSet::new();
    for number in 0..10 {
        warm.insert(place.warm(if number % 2 == 0 { "one" } else { "two" }).await);
    }
    let claimed = together(&place, 64, |place, number| async move {
        let claim = WarmClaim {
            profile: "warm",
            instance_id: if number % 2 == 0 { "one" } else { "two" },
            alive_since: place.at(-30),
            expires_at: None,
            idle_expires_at: place.at(60),
            attributes: None,
            max_sandboxes: None,
        };
        let text = format!("claim-{number}");
        let key = key(&text);
        match place.store.claim_warm(&place.owner, &claim, Some(&once(&key, "create")), place.now).await.unwrap() {
            Some(Done::Now(row)) => Some(row.id),
            Some(Done::Before(answer)) => panic!("{answer}"),
            None => None,
        }
    })
    .await;
    let winners: Vec<SandboxId> = claimed.into_iter().flatten().collect();
    assert_eq!(winners.len(), 10);
    assert_eq!(winners.into_iter().collect::<HashSet<_>>(), warm, "each of them once");
}

pub(crate) async fn one_starter(place: TestStore) {
    place.bay("one").await;
    let made = place.sandbox("p", None).await;
    for round in 0..3 {
        let sandbox = made.id.clone();
        let begun = together(&place, 32, |place, _| {
            let sandbox = sandbox.clone();
            async move { place.begin(&sandbox, "one").await }
        })
        .await;
        let mine: Vec<&SessionId> = begun.iter().filter(|(_, begun)| *begun == Begin::Mine).map(|(id, _)| id).collect();
        assert_eq!(mine.len(), 1, "round {round}");
        for (_, begun) in &begun {
            if let Begin::Other(other) = begun {
                assert_eq!(&other.id, mine[0], "the others see who starts");
            }
        }
        // The next round begins with a failed session, the last with none.
        match round {
            0 => assert!(place.store.session_failed(mine[0], "no").await.unwrap()),
            _ => assert!(place.store.end_session(mine[0]).await.unwrap()),
        }
    }
}

/// A session that ends between the refusal and the look at who had it leaves a free place, not a lost sandbox.
pub(crate) async fn a_start_is_never_told_that_its_sandbox_is_gone(place: TestStore) {
    place.bay("one").await;
    let made = place.sandbox("p", None).await;
    let sandbox = made.id.clone();
    together(&place, 6, |place, _| {
        let sandbox = sandbox.clone();
        async move {
            for _ in 0..60 {
                match place.begin(&sandbox, "one").await {
                    (session, Begin::Mine) => assert!(place.store.end_session(&session).await.unwrap()),
                    (_, Begin::Other(_)) => {}
                    (_, Begin::Over) => panic!("it is there"),
                }
            }
        }
    })
    .await;
}

pub(crate) async fn extensions_add_up(place: TestStore) {
    let made = place.sandbox("p", Some(place.at(100))).await;
    let sandbox = made.id.clone();
    together(&place, 40, |place, number| {
        let sandbox = sandbox.clone();
        async move {
            // Every key comes twice.
            let text = format!("extend-{}", number / 2);
            let key = key(&text);
            let once = once(&key, "10");
            let done = place.store.extend_sandbox(&place.owner, &sandbox, 10, Some(&once), place.now).await.unwrap();
            assert!(matches!(done, Extension::Done(_)), "{done:?}");
        }
    })
    .await;
    assert_eq!(place.get(&made.id).await.unwrap().expires_at, Some(place.at(300)));
}

pub(crate) async fn a_quota_holds_under_pressure(place: TestStore) {
    let made =
        together(&place, 30, |place, _| async move { place.create("p", None, None, Some(7)).await.is_ok() }).await;
    assert_eq!(made.into_iter().filter(|made| *made).count(), 7);
}

pub(crate) async fn a_cargo_is_deleted_or_used_never_both(place: TestStore) {
    for _ in 0..10 {
        let cargo_id = id::<CargoId>();
        let new = NewCargo { id: &cargo_id, backend: "local", size_limit_mb: 1 };
        place.store.insert_cargo(&place.owner, &new, PLENTY, None, place.now).await.unwrap();
        let outcome = together(&place, 4, |place, number| {
            let cargo_id = cargo_id.clone();
            async move {
                if number < 2 {
                    let sandbox = id::<SandboxId>();
                    let cargo = CargoChoice::Existing(&cargo_id);
                    let new = NewSandbox {
                        id: &sandbox,
                        profile: "p",
                        cargo,
                        expires_at: None,
                        attributes: None,
                        max_sandboxes: None,
                    };
                    (place.store.insert_sandbox(&place.owner, &new, None, place.now).await.is_ok(), false)
                } else {
                    let removal = place.store.delete_cargo(&place.owner, &cargo_id, place.now).await.unwrap();
                    (false, removal == CargoRemoval::Gone)
                }
            }
        })
        .await;
        let used = outcome.iter().any(|(used, _)| *used);
        let deleted = outcome.iter().any(|(_, deleted)| *deleted);
        assert!(used != deleted, "{outcome:?}");
    }
}

pub(crate) async fn versions_count_without_a_gap(place: TestStore) {
    let made = place.sandbox("p", None).await;
    let ran = place.run(&made.id, |_| ()).await;
    let mut candidates = Vec::new();
    for _ in 0..12 {
        let wish =
            serde_json::from_value(serde_json::json!({ "skill_key": "s", "source_execution_ids": [ran] })).unwrap();
        let made = place.store.insert_candidate(&place.owner, &wish, "code", place.now).await.unwrap();
        let verdict = serde_json::from_value(serde_json::json!({ "passed": true })).unwrap();
        place.store.evaluate(&place.owner, &made.id, &verdict, place.now).await.unwrap();
        candidates.push(made.id);
    }
    let mut versions = together(&place, 12, |place, number| {
        let candidate = candidates[number].clone();
        let stage = ReleaseStage::Stable;
        let wish = Promote { stage, upgrade_of_release_id: None, upgrade_reason: None, change_summary: None };
        async move { place.store.promote(&place.owner, &candidate, &wish, place.now).await.unwrap().version }
    })
    .await;
    versions.sort_unstable();
    assert_eq!(versions, (1..=12).collect::<Vec<_>>());
    // Back through all of them, one by one: each replaced the one before.
    let mut steps = 0;
    while let Some(active) = place.store.release_to_replay(&place.owner, "s", 100).await.unwrap() {
        if place.store.rollback(&place.owner, &active.id, place.now).await.is_err() {
            break;
        }
        steps += 1;
    }
    assert_eq!(steps, 11);
}

pub(crate) async fn two_stores_start_at_once(place: TestStore) {
    // On a database that has nothing yet: the tables go, the start makes them anew, eight times at once.
    for table in [
        "replays",
        "releases",
        "evaluations",
        "candidates",
        "blobs",
        "executions",
        "idempotency",
        "sessions",
        "sandboxes",
        "cargos",
        "instances",
        "secrets",
        "port_links",
        "kept_processes",
        "bay_schema",
    ] {
        crate::ask(sqlx::AssertSqlSafe(format!("DROP TABLE {table}"))).run(&place.store.write).await.unwrap();
    }
    place.store.close().await;
    let mut all = JoinSet::new();
    for _ in 0..8 {
        let url = place.url.clone();
        all.spawn(async move { crate::testkit::open(&url).await });
    }
    for store in all.join_all().await {
        let store = store.unwrap();
        assert_eq!(store.count_sandboxes(&place.owner, place.now).await.unwrap(), 0);
        store.close().await;
    }
}
