//! What one owner's records may take in sum, and how a file gets smaller.

use std::sync::Arc;

use cove_api::{Annotation, CreateCandidate, ErrorCode, Evaluate, Owner};
use cove_core::CargoId;
use serde_json::json;

use super::place::PLENTY;
use crate::bounds::{MAX_CANDIDATES, MAX_EVALUATIONS};
use crate::testkit::{TestStore, id};
use crate::{Bounds, CargoQuota, NewBlob, NewCargo, Store, StoreError, ask::ask};

/// A mebibyte of everything.
fn small(place: &TestStore) -> TestStore {
    TestStore { store: Store { bounds: Arc::new(Bounds::mebibytes(1, 1, 1)), ..place.store.clone() }, ..place.clone() }
}

async fn sum(store: &Store, owner: &Owner) -> i64 {
    let question = "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS n FROM executions WHERE owner = $1";
    ask(question).text(owner.as_str()).number(&store.read).await.unwrap()
}

/// All sandboxes of an owner count together, the oldest entries go first, and nobody else loses any.
pub(crate) async fn an_owners_history_is_bounded_in_sum(place: TestStore) {
    let place = small(&place);
    let other = TestStore { owner: Owner::new("other"), ..place.clone() };
    let theirs = other.sandbox("p", None).await;
    let kept = other.run(&theirs.id, |_| ()).await;
    let (first, second) = (place.sandbox("p", None).await, place.sandbox("p", None).await);
    let code = "x".repeat(100 << 10);
    let mut ids = Vec::new();
    for n in 0..60 {
        let sandbox = if n % 2 == 0 { &first } else { &second };
        let at = place.at(n);
        ids.push((sandbox, place.run(&sandbox.id, |new| (new.code, new.created_at) = (&code, at)).await));
        let held = sum(&place.store, &place.owner).await;
        assert!(held <= (1 << 20) + (1 << 17) + (101 << 10), "{n}: {held}");
    }
    let found = async |n: usize| {
        let (sandbox, id) = &ids[n];
        place.store.execution(&place.owner, &sandbox.id, id).await.unwrap().is_some()
    };
    assert!(found(59).await && found(58).await && found(52).await && !found(0).await && !found(40).await);
    assert!(other.store.execution(&other.owner, &theirs.id, &kept).await.unwrap().is_some());

    // Notes count, and what was there before the limit is cut by the collector.
    let note = Annotation { notes: Some("n".repeat(16 << 10)), ..Annotation::default() };
    let before = sum(&place.store, &place.owner).await;
    for _ in 0..3 {
        place.store.annotate(&place.owner, &ids[59].0.id, &ids[59].1, &note).await.unwrap().unwrap();
    }
    assert_eq!(sum(&place.store, &place.owner).await - before, 16 << 10, "a note that is written anew counts once");
    let tight = Store { bounds: Arc::new(Bounds::mebibytes(0, 1, 1)), ..place.store.clone() };
    assert!(tight.trim_histories().await.unwrap() > 5);
    assert_eq!(sum(&place.store, &place.owner).await, 0);
}

/// A cargo too many is refused with the limit's name; those that go with a sandbox do not count, the deleted neither.
pub(crate) async fn an_owners_cargos_are_bounded(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    place.sandbox("p", None).await;
    let quota = CargoQuota { count: 3, mebibytes: 5_000 };
    let make = async |owner: &Owner, size_limit_mb: u32, quota: CargoQuota| {
        let id = id::<CargoId>();
        let new = NewCargo { id: &id, backend: "local", size_limit_mb };
        store.insert_cargo(owner, &new, quota, None, place.now).await.map(|_| id)
    };
    let large = make(owner, 65_536, quota).await.unwrap_err();
    assert!(matches!(&large, StoreError::Quota { name: "limits.max_cargo_total_mb", .. }), "{large}");
    let first = make(owner, 4_000, quota).await.unwrap();
    assert!(make(owner, 1_001, quota).await.is_err());
    make(owner, 500, quota).await.unwrap();
    make(owner, 500, quota).await.unwrap();
    let refused = make(owner, 1, CargoQuota { mebibytes: i64::MAX, ..quota }).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Quota { name: "limits.max_cargos", limit: 3, .. }), "{refused}");
    let told = cove_api::BayError::from(refused);
    assert_eq!((told.code, &told.details["limit"]), (ErrorCode::QuotaExceeded, &json!("limits.max_cargos")));
    assert!(told.message.contains("delete cargos"), "{told}");
    make(&Owner::new("other"), 500, quota).await.unwrap();
    store.delete_cargo(owner, &first, place.now).await.unwrap();
    make(owner, 4_000, quota).await.unwrap();
    // Of many at once no more get through than may.
    let others = Owner::new("many");
    let made = futures_util::future::join_all((0..20).map(|_| make(&others, 1, quota))).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 3);
    assert!(make(&others, 1, PLENTY).await.is_ok());
}

/// Traces lose their oldest, payloads are refused; empty ones count, too.
pub(crate) async fn an_owners_blobs_are_bounded(place: TestStore) {
    let place = small(&place);
    let (store, owner) = (&place.store, &place.owner);
    let (first, second) = (place.sandbox("p", None).await, place.sandbox("p", None).await);
    let body = json!({ "steps": "x".repeat(200 << 10) });
    let mut ids = Vec::new();
    for n in 0..12 {
        let sandbox = if n % 2 == 0 { &first } else { &second };
        let trace = NewBlob { sandbox_id: Some(&sandbox.id), execution_id: None, kind: "t", body: &body };
        ids.push(store.keep_blob(owner, &trace, place.at(n)).await.unwrap());
    }
    let mut left = 0;
    for id in &ids {
        left += usize::from(store.blob(owner, id).await.unwrap().is_some());
    }
    assert_eq!(left, 5, "a mebibyte of them");
    assert!(store.blob(owner, &ids[11]).await.unwrap().is_some());
    let empty = json!({});
    let payload = NewBlob { sandbox_id: None, execution_id: None, kind: "p", body: &empty };
    let mut kept = 0;
    let refused = loop {
        match store.keep_blob(owner, &payload, place.now).await {
            Ok(_) => kept += 1,
            Err(refused) => break refused,
        }
        assert!(kept < 5_000, "nothing bounds how many there are");
    };
    assert!(matches!(&refused, StoreError::Quota { name: "limits.max_payloads_mb", .. }) && kept > 1_000, "{refused}");
    assert!(store.keep_blob(&Owner::new("other"), &payload, place.now).await.is_ok());
    // A trace that would become a payload counts with them, and stays what it is.
    let refused = store.keep_as_payload(owner, &ids[11]).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Quota { name: "limits.max_payloads_mb", .. }), "{refused}");
    assert!(store.blob(owner, &ids[11]).await.unwrap().unwrap().sandbox_id.is_some());
}

/// Candidates are refused beyond a number, a candidate's evaluations lose their oldest.
pub(crate) async fn an_owners_skills_are_bounded(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let run = place.run(&made.id, |_| ()).await;
    let wish: CreateCandidate =
        serde_json::from_value(json!({ "skill_key": "s", "source_execution_ids": [run] })).unwrap();
    let one = store.insert_candidate(owner, &wish, "code", place.now).await.unwrap();
    let found = Evaluate { passed: true, score: None, benchmark_id: None, report: None };
    for _ in 0..MAX_EVALUATIONS + 5 {
        store.evaluate(owner, &one.id, &found, place.now).await.unwrap();
    }
    let count = "SELECT COUNT(*) AS n FROM evaluations";
    assert_eq!(ask(count).number(&store.read).await.unwrap(), MAX_EVALUATIONS);
    let fill = "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < $2) \
                INSERT INTO candidates (id, owner, skill_key, skill_type, source_execution_ids, status, created_at, \
                updated_at) SELECT 'sc-' || (100000000000 + i), $1, 's', 'code', '[]', 'draft', 1, 1 FROM numbers";
    ask(fill).text(owner.as_str()).int(MAX_CANDIDATES - 1).run(&store.write).await.unwrap();
    let refused = store.insert_candidate(owner, &wish, "code", place.now).await.map_err(cove_api::BayError::from);
    let refused = refused.unwrap_err();
    assert_eq!((refused.code, &refused.details["limit"]), (ErrorCode::QuotaExceeded, &json!("candidates")));
    store.delete_candidate(owner, "sc-100000000001", None, place.now).await.unwrap();
    store.insert_candidate(owner, &wish, "code", place.now).await.unwrap();
}

/// What is only remembered is forgotten beyond a number, the oldest first, and each owner's by itself.
pub(crate) async fn what_is_only_remembered_is_bounded(place: TestStore) {
    let store = &place.store;
    let many = 10_020;
    let numbers = "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < $1) ";
    for (rest, count) in [
        (
            "INSERT INTO idempotency (owner, idempotency_key, request, answer, expires_at) \
             SELECT 'a', 'k' || i, 'r', 'null', i FROM numbers",
            many,
        ),
        (
            "INSERT INTO idempotency (owner, idempotency_key, request, answer, expires_at) \
             SELECT 'b', 'k' || i, 'r', 'null', i FROM numbers",
            5,
        ),
        (
            "INSERT INTO sandboxes (id, owner, profile, cargo_id, created_at, deleted_at) \
             SELECT 'd' || i, 'a', 'p', 'c', 1, i FROM numbers",
            many,
        ),
        (
            "INSERT INTO candidates (id, owner, skill_key, skill_type, source_execution_ids, status, created_at, \
             updated_at, deleted_at) SELECT 'c' || i, 'a', 's', 'code', '[]', 'draft', 1, 1, i FROM numbers",
            many,
        ),
    ] {
        ask(sqlx::AssertSqlSafe(format!("{numbers}{rest}"))).int(count).run(&store.write).await.unwrap();
    }
    let alive = place.sandbox("p", None).await;
    assert_eq!(store.purge_excess().await.unwrap(), 60);
    let left = async |question: &'static str| ask(question).number(&store.read).await.unwrap();
    assert_eq!(left("SELECT COUNT(*) AS n FROM idempotency WHERE owner = 'a'").await, 10_000);
    assert_eq!(left("SELECT MIN(expires_at) AS n FROM idempotency WHERE owner = 'a'").await, 21);
    assert_eq!(left("SELECT COUNT(*) AS n FROM idempotency WHERE owner = 'b'").await, 5);
    assert_eq!(left("SELECT MIN(deleted_at) AS n FROM sandboxes").await, 21);
    assert_eq!(left("SELECT MIN(deleted_at) AS n FROM candidates").await, 21);
    assert!(place.get(&alive.id).await.is_some());
    assert_eq!(store.purge_excess().await.unwrap(), 0);
}

fn bytes(folder: &tempfile::TempDir) -> u64 {
    ["bay.db", "bay.db-wal"].iter().filter_map(|name| Some(folder.path().join(name).metadata().ok()?.len())).sum()
}

/// A file that was large becomes small again, also one that an earlier Cove has made.
#[tokio::test]
async fn a_file_shrinks_when_its_records_go() {
    for old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/bay.db", folder.path().display());
        if old {
            sqlx::any::install_default_drivers();
            let file = folder.path().join("bay.db");
            std::fs::File::create(&file).unwrap();
            let pool = sqlx::AnyPool::connect(&format!("sqlite://{}", file.display())).await.unwrap();
            sqlx::raw_sql("CREATE TABLE old (a TEXT); INSERT INTO old VALUES ('kept')").execute(&pool).await.unwrap();
            pool.close().await;
        }
        let place = TestStore::open(url).await;
        place.store.make_shrinkable().await.unwrap();
        let made = place.sandbox("p", None).await;
        let code = "x".repeat(200 << 10);
        for _ in 0..150 {
            place.run(&made.id, |new| new.code = &code).await;
        }
        let full = bytes(&folder);
        place.store.compact().await.unwrap();
        assert!(full > 30 << 20 && bytes(&folder) >= full / 2, "what is in use stays: {full}");
        place.store.delete_sandbox(Some(&place.owner), &made.id, place.now).await.unwrap();
        place.store.compact().await.unwrap();
        assert!(bytes(&folder) < 8 << 20, "old {old}: {full} bytes became {}", bytes(&folder));
        if old {
            assert!(ask("SELECT a FROM old").one(&place.store.read).await.unwrap().is_some());
        }
    }
}

/// A file that is no database, or has a hole, is said to be damaged at once; it is not touched.
#[tokio::test]
async fn a_damaged_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bay.db");
    let url = format!("sqlite:{}", file.display());
    let place = TestStore::open(url.clone()).await;
    let made = place.sandbox("p", None).await;
    for _ in 0..200 {
        place.run(&made.id, |new| new.code = "some code that takes a little room").await;
    }
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&place.store.write).await.unwrap();
    place.store.close().await;
    let whole = std::fs::read(&file).unwrap();
    assert!(whole.len() > 40_000);
    let with = |at: usize, what: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + what.len()].copy_from_slice(what);
        bytes
    };
    for (what, bytes) in [
        ("no database", b"this is a text and no database, and long enough to be looked at as one ".repeat(20)),
        ("another head", with(0, b"NOT a database!!")),
        ("a hole", with(8_192, &[0xff; 20_000])),
        ("cut off", whole[..whole.len() / 2].to_vec()),
    ] {
        std::fs::write(&file, &bytes).unwrap();
        let begun = std::time::Instant::now();
        let refused = Store::connect(&url, Bounds::mebibytes(1, 1, 1)).await.map(|_| ()).unwrap_err();
        assert!(matches!(&refused, StoreError::Damaged { .. }), "{what}: {refused}");
        let said = refused.to_string();
        assert!(said.contains("bay.db is corrupt") && said.contains("--start-empty"), "{what}: {said}");
        assert!(begun.elapsed().as_secs() < 5, "{what}");
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{what}: it was written to");
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(TestStore::open(url).await.get(&made.id).await.is_some());
}
