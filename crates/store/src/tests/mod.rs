//! One suite, two databases: each case gets an empty database of its own, in SQLite and in a real PostgreSQL.

mod bounds;
mod cases;
mod history;
mod place;
mod races;
mod releases;
mod sandboxes;
mod sessions;

use cove_testkit::{Postgres, run_cases};

use crate::testkit::TestStore;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_keeps_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let url = |number| format!("sqlite:{}/new folder/{number} ?#%.db", folder.path().display());
    run_cases(cases::ALL, async |number| TestStore::open(url(number)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_keeps_the_records() {
    let mut server = Postgres::start();
    // As clients of another language write it.
    let mut url = |number| server.create(&format!("case{number}")).replace("postgresql:", "postgresql+asyncpg:");
    run_cases(cases::ALL, async |number| TestStore::open(url(number)).await).await;
}

/// The file is its owner's alone, also the log beside it; a schema from the future is refused.
#[tokio::test]
async fn an_sqlite_file_is_private_and_not_newer_than_we_are() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/bay.db", folder.path().display());
    let place = TestStore::open(url.clone()).await;
    place.store.clock().await.unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()).collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.path());
    }
    crate::ask("INSERT INTO bay_schema (version) VALUES (1000)").run(&place.store.write).await.unwrap();
    let refusal = crate::testkit::open(&url).await.unwrap_err().to_string();
    assert!(refusal.contains("1000") && refusal.contains("newer Cove"), "{refusal}");
}

#[tokio::test]
async fn a_store_in_memory_is_one_database() {
    let place = TestStore::open("sqlite::memory:".to_owned()).await;
    let made = place.sandbox("a", None).await;
    assert_eq!(place.get(&made.id).await, Some(made));
}

/// Also where there is no file yet, and its log is still to be made.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_open_a_new_file_at_once() {
    for round in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/bay.db", folder.path().display());
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let url = url.clone();
            all.spawn(async move { crate::testkit::open(&url).await.map(|_| ()) });
        }
        for opened in all.join_all().await {
            assert!(opened.is_ok(), "round {round}: {opened:?}");
        }
    }
}
