//! Refused because of others: records that do not answer, a Bay that cannot be reached, a runtime that cannot start.

use std::time::Duration;

use cove_testkit::Postgres;
use serde_json::{Value, json};

use super::quay::{Quay, answer, config, profile};
use super::{AWAY, LOCKED, NO_PROFILE_HERE, NO_RUNTIME, NO_TABLES, UNREACHABLE};
use crate::{KEY, PATIENCE};

/// The tables, so that nobody else gets at them.
const LOCK: &str = "BEGIN;\nSELECT 'LOCK TABLE ' || string_agg(quote_ident(tablename), ', ') || \
                    ' IN ACCESS EXCLUSIVE MODE' FROM pg_tables WHERE schemaname = 'public' \\gexec\n";

#[tokio::test]
async fn what_others_make_impossible() {
    let mut postgres = Postgres::start();
    let folder = tempfile::tempdir().unwrap();
    let url = postgres.url();
    let of = |name: &str| {
        let mut config = config(&folder.path().join(name));
        config.database.url = Some(cove_config::Secret::new(&url));
        config
    };
    let quay = Quay::open(of("here"), |_| {}).await;

    // A session that could not be started, each time anew.
    let id = quay.create(json!({})).await;
    let browser = quay.create(json!({ "profile": "browser-python" })).await;
    release(&quay, &browser).await;
    quay.refuses(&NO_RUNTIME, &id, |operation, request| {
        let browses = operation.contains("browser");
        if browses { quay.fitting(operation, &browser).bearer_auth(KEY) } else { request }
    })
    .await;

    // Another Bay has the session, and cannot be reached where it says it is.
    let mut there = of("there");
    there.server.advertise_url = Some("http://127.0.0.1:1".to_owned());
    let there = Quay::open(there, |_| {}).await;
    let id = there.create(json!({})).await;
    there.fitting("exec_shell", &id).bearer_auth(KEY).send().await.unwrap();
    quay.refuses(&UNREACHABLE, &id, |_, request| request).await;
    there.close().await;

    // A third one has a profile that this one does not know, and says nothing of where it is.
    let mut third = of("third");
    third.profiles = vec![profile("theirs", &["shell"])];
    let third = Quay::open(third, |_| {}).await;
    let id = third.create(json!({ "profile": "theirs" })).await;
    third.fitting("exec_shell", &id).bearer_auth(KEY).send().await.unwrap();
    quay.refuses(&NO_PROFILE_HERE, &id, |_, request| request).await;
    third.close().await;

    // One of little patience; nobody else waits for less than what a loaded machine takes.
    let hasty = Quay::open(of("hasty"), |options| {
        options.verb = Duration::from_millis(500);
        options.beyond = Duration::ZERO;
    })
    .await;
    let lock = postgres.session(LOCK);
    hasty.refuses(&LOCKED, &id, |_, request| request).await;
    drop(lock);
    hasty.close().await;
    let alive = quay.fitting("get_sandbox", &id).bearer_auth(KEY).send().await.unwrap();
    assert_eq!(alive.status(), 200, "it goes on where it was");

    drop(postgres.session("ALTER SCHEMA public RENAME TO gone;"));
    quay.refuses(&NO_TABLES, &id, |_, request| request).await;
    drop(postgres.session("ALTER SCHEMA gone RENAME TO public;"));

    postgres.stop();
    quay.refuses(&AWAY, &id, |_, request| request).await;
    postgres.go_on();
    // While it takes its database to be away it says so at once, and when to ask again.
    let begin = std::time::Instant::now();
    loop {
        let alive = quay.fitting("get_sandbox", &id).bearer_auth(KEY).send().await.unwrap();
        if alive.status() == 200 {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "it goes on where it was, without a restart: {alive:?}");
        assert_eq!(alive.status(), 503);
        let seconds = alive.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
    quay.close().await;
}

/// A browser skill under the name that `names` gives it, so that there is something to replay.
async fn release(quay: &Quay, sandbox: &str) {
    answer(quay.fitting("exec_browser", sandbox).bearer_auth(KEY)).await;
    let (_, last) = answer(quay.fitting("get_last_execution", sandbox).bearer_auth(KEY)).await;
    let wish = json!({ "skill_key": "nothing", "source_execution_ids": [last["id"]] });
    let post = |path: &str, body: Value| answer(quay.request("POST", path).bearer_auth(KEY).json(&body));
    let (_, made) = post("/v1/skills/candidates", wish).await;
    let path = format!("/v1/skills/candidates/{}", made["id"].as_str().unwrap());
    post(&format!("{path}/evaluate"), json!({ "passed": true })).await;
    let (status, released) = post(&format!("{path}/promote"), json!({ "stage": "stable" })).await;
    assert_eq!(status, 200, "{released}");
}
