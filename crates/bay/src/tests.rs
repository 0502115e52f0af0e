//! Verbs that need records and nothing else, each on an empty database of its own, in SQLite and in a real PostgreSQL.

use cove_store::testkit::TestStore;
use cove_testkit::{Case, Postgres, cases, run_cases};

use crate::{history, skills};

const ALL: &[Case<TestStore>] = cases![
    history::tests::entries_are_found_and_refused,
    history::tests::notes_are_added_within_bounds,
    skills::tests::payloads_come_back_as_they_were,
    skills::tests::candidates_need_their_own_executions,
    skills::tests::from_draft_to_release_and_back,
    skills::tests::health_compares_with_what_was_before,
    skills::tests::a_release_says_what_to_replay,
    skills::tests::one_release_is_in_use_whatever_its_stage,
    skills::tests::a_skill_outlives_the_sandbox_it_was_learnt_in,
    skills::tests::canaries_are_tried_and_settled,
    skills::tests::deletions,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn verbs_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = |number| format!("sqlite:{}/{number}.db", folder.path().display());
    run_cases(ALL, async |number| TestStore::open(url(number)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn verbs_on_postgres() {
    let mut server = Postgres::start();
    let mut url = |number| server.create(&format!("case{number}"));
    run_cases(ALL, async |number| TestStore::open(url(number)).await).await;
}
