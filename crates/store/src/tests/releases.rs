//! Releases of a database that an earlier Cove has written.

use cove_api::{Promote, ReleaseInfo, ReleaseStage};
use cove_core::ExecutionId;
use serde_json::json;

use crate::testkit::TestStore;
use crate::{ReleaseFilter, ask};

async fn released(place: &TestStore, ran: &ExecutionId, stage: ReleaseStage) -> ReleaseInfo {
    let wish = serde_json::from_value(json!({ "skill_key": "s", "source_execution_ids": [ran] })).unwrap();
    let made = place.store.insert_candidate(&place.owner, &wish, "code", place.now).await.unwrap();
    let verdict = serde_json::from_value(json!({ "passed": true })).unwrap();
    place.store.evaluate(&place.owner, &made.id, &verdict, place.now).await.unwrap();
    let wish = Promote { stage, upgrade_of_release_id: None, upgrade_reason: None, change_summary: None };
    place.store.promote(&place.owner, &made.id, &wish, place.now).await.unwrap()
}

/// There, a stable release and a canary were active at once: the canary is the one in use now, beside the stable one.
pub(crate) async fn of_two_active_releases_one_stays(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let ran = place.run(&place.sandbox("p", None).await.id, |_| ()).await;
    let stable = released(&place, &ran, ReleaseStage::Stable).await;
    let canary = released(&place, &ran, ReleaseStage::Canary).await;
    for step in [
        "DROP INDEX releases_in_use",
        "ALTER TABLE releases DROP COLUMN stable_before",
        "UPDATE releases SET is_active = 1, replaces = NULL",
        "ALTER TABLE executions DROP COLUMN barrier",
        "ALTER TABLE executions DROP COLUMN artifacts",
        "DROP TABLE port_links",
        "DROP TABLE kept_processes",
        "ALTER TABLE sandboxes DROP COLUMN metadata",
        "ALTER TABLE sandboxes DROP COLUMN note",
        "ALTER TABLE sandboxes DROP COLUMN keeps_session",
        "ALTER TABLE sandboxes DROP COLUMN network",
        "DROP INDEX sandboxes_session_ends",
        "ALTER TABLE sandboxes DROP COLUMN session_ends_at",
        "DELETE FROM bay_schema WHERE version >= 5",
    ] {
        ask(step).run(&store.write).await.unwrap();
    }
    store.migrate().await.unwrap();
    let filter = ReleaseFilter { active_only: true, limit: 10, ..ReleaseFilter::default() };
    let (active, _) = store.releases(owner, &filter).await.unwrap();
    assert_eq!(active.iter().map(|info| &info.id).collect::<Vec<_>>(), [&canary.id]);
    for (percent, expected) in [(100, &canary.id), (0, &stable.id)] {
        assert_eq!(store.release_to_replay(owner, "s", percent).await.unwrap().unwrap().id, *expected, "{percent}");
    }
    let back = store.rollback(owner, &canary.id, place.now).await.unwrap();
    assert_eq!((back.candidate_id, back.stage), (stable.candidate_id, ReleaseStage::Stable));
}
