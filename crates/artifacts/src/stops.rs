//! Tests of `store.rs`: a process that stops after any step of a save leaves the artifact or nothing.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::*;
use crate::meta::PictureSource;
use crate::sweep::STALE_AFTER;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and the rest";

fn picture_meta() -> PictureMeta {
    PictureMeta { message_id: None, agent_id: None, width: 1, height: 1, source: PictureSource::Canvas }
}

/// What is on the disk after each stop, and that nobody is shown half of it.
#[test]
fn a_stop_after_any_step_leaves_the_artifact_or_nothing() {
    for (step, files, visible) in
        [(Step::MetaWritten, 1, 0), (Step::DataWritten, 2, 0), (Step::MetaPublished, 2, 0), (Step::DataPublished, 2, 1)]
    {
        let dir = tempfile::tempdir().unwrap();
        let mut store = ArtifactStore::open(dir.path(), StoreLimits::default()).unwrap();
        store.stop_after = Some(step);
        store.save_picture(PNG, picture_meta()).unwrap_err();
        let left = || {
            let names = store.folder.names().unwrap();
            names.into_iter().filter(|name| Entry::parse(name).is_some()).count()
        };
        assert_eq!(left(), files, "files after {step:?}");
        assert_eq!(store.list().unwrap().len(), visible, "visible after {step:?}");

        // A store opened at once leaves the files alone: their writer may still be at work.
        sweep(&store.folder, SystemTime::now()).unwrap();
        assert_eq!(left(), files, "a young file was removed after {step:?}");
        sweep(&store.folder, SystemTime::now() + STALE_AFTER + Duration::from_secs(60)).unwrap();
        assert_eq!(left(), 2 * visible, "something stale stayed after {step:?}");

        // The next writer counts what is really there.
        store.stop_after = None;
        store.save_json(&json!(1)).unwrap();
        let usage = store.tally.lock(|| panic!("what was counted is remembered")).unwrap().usage();
        assert_eq!(usage, store.count().unwrap(), "the count is wrong after {step:?}");
    }
}

/// A failure that is not a stop cleans up after itself.
#[test]
fn a_refused_save_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let limits = StoreLimits { max_artifact_bytes: 100, max_total_bytes: 120, max_count: 9 };
    let store = ArtifactStore::open(dir.path(), limits).unwrap();
    store.save_picture(PNG, picture_meta()).unwrap_err();
    store.save_json(&json!("x".repeat(99))).unwrap_err();
    let names = store.folder.names().unwrap();
    assert!(names.iter().all(|name| Entry::parse(name).is_none()), "{names:?}");
}
