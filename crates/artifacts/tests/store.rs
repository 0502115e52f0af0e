//! The store from outside: what is saved comes back, limits hold, names and symlinks lead nowhere, nobody sees half.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cove_artifacts::{
    ArtifactError, ArtifactKind, ArtifactName, ArtifactStore, PictureMeta, PictureSource, StoreLimits,
};
use cove_core::ArtifactId;
use proptest::prelude::*;
use serde_json::{Value, json};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

fn png(fill: u8, len: usize) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    bytes.resize(SIGNATURE.len() + len, fill);
    bytes
}

fn meta() -> PictureMeta {
    PictureMeta {
        message_id: Some("msg".to_owned()),
        agent_id: None,
        width: 800,
        height: 600,
        source: PictureSource::Canvas,
    }
}

fn open(dir: &Path) -> ArtifactStore {
    ArtifactStore::open(dir, StoreLimits::default()).unwrap()
}

fn file_names(dir: &Path) -> BTreeSet<String> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_picture_is_two_files_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("made/on/demand"));
    let saved = store.save_picture(&png(7, 100), meta()).unwrap();
    assert_eq!(saved.file_name, format!("{}.png", saved.id));

    let folder = dir.path().join("made/on/demand");
    let names = file_names(&folder);
    assert!(names.contains(&saved.file_name) && names.contains(&format!("{}.meta", saved.id)), "{names:?}");
    assert!(names.iter().all(|name| !name.ends_with(".draft")), "{names:?}");

    let text = std::fs::read_to_string(folder.join(format!("{}.meta", saved.id))).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let contract = ["id", "extension", "type", "createdAt", "messageId", "agentId", "width", "height", "source"];
    assert_eq!(keys, contract);
    assert_eq!(text, serde_json::to_string_pretty(&value).unwrap());
    let created = value["createdAt"].as_str().unwrap();
    assert!(created.len() == 24 && created.ends_with('Z') && created.as_bytes()[19] == b'.', "{created}");

    assert_eq!(store.read(saved.id).unwrap().bytes, png(7, 100));
    assert_eq!(store.meta(saved.id).unwrap().message_id.as_deref(), Some("msg"));
    assert_eq!(store.list().unwrap().len(), 1);
    store.delete(saved.id).unwrap();
    assert_eq!(file_names(&folder), BTreeSet::from([".cove-artifacts.lock".to_owned()]));
    for code in [store.read(saved.id).unwrap_err().code(), store.delete(saved.id).unwrap_err().code()] {
        assert_eq!(code, "artifact_not_found");
    }
}

#[test]
fn a_json_value_is_one_file_and_has_no_metadata() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let reference = store.save_json(&json!({"b": [1, null], "a": "ü"})).unwrap();
    assert_eq!(reference.to_string(), format!("artifact:{}", reference.0));
    let read = store.read(reference.0).unwrap();
    assert_eq!(read.name, ArtifactName { id: reference.0, kind: ArtifactKind::Json });
    assert_eq!(String::from_utf8(read.bytes).unwrap(), r#"{"b":[1,null],"a":"ü"}"#);
    assert_eq!(store.meta(reference.0).unwrap_err().code(), "artifact_not_found");
}

#[test]
fn limits_are_clear_errors_and_room_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let limits = StoreLimits { max_artifact_bytes: 1000, max_total_bytes: 2000, max_count: 3 };
    let store = ArtifactStore::open(dir.path(), limits).unwrap();
    let refused = store.save_picture(&png(0, 993), meta()).unwrap_err();
    assert_eq!(refused.code(), "artifact_too_large");
    assert_eq!(refused.to_string(), "the artifact has 1001 bytes; the limit is 1000");
    assert_eq!(store.save_picture(b"GIF89a", meta()).unwrap_err().code(), "not_a_png");
    let long = PictureMeta { agent_id: Some("x".repeat(20_000)), ..meta() };
    assert_eq!(store.save_picture(&png(0, 1), long).unwrap_err().code(), "meta_too_large");

    let first = store.save_json(&json!("x".repeat(900))).unwrap();
    store.save_json(&json!("x".repeat(900))).unwrap();
    let refused = store.save_json(&json!("x".repeat(900))).unwrap_err();
    assert_eq!(refused.code(), "store_full");
    assert_eq!(
        refused.to_string(),
        "the artifact store is full: with this artifact it would hold 2706 bytes; the limit is 2000"
    );
    // Another process (here: another store) sees the same limit.
    let other = ArtifactStore::open(dir.path(), limits).unwrap();
    assert_eq!(other.save_json(&json!("x".repeat(900))).unwrap_err().code(), "store_full");
    store.delete(first.0).unwrap();
    other.save_json(&json!("x".repeat(900))).unwrap();
    assert_eq!(store.save_json(&json!("x".repeat(900))).unwrap_err().code(), "store_full");
    // Files that a person removed make room too.
    for name in file_names(dir.path()) {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    for _ in 0..3 {
        store.save_json(&json!(1)).unwrap();
    }
    assert!(store.save_json(&json!(1)).unwrap_err().to_string().contains("holds 3 artifacts; the limit is 3"));
}

/// Whatever lies under one of our names and is not a plain file is nothing to us, and what it points to stays.
#[test]
fn symlinks_fifos_and_folders_are_not_artifacts() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, png(1, 1)).unwrap();
    let store = open(dir.path());
    let name = |n: u8, ext: &str| dir.path().join(format!("a1b2c3d4-e5f6-4890-abcd-ef12345678{n:02}.{ext}"));

    symlink(&secret, name(10, "png")).unwrap();
    std::fs::write(name(10, "meta"), "{}").unwrap();
    std::fs::write(name(11, "png"), png(1, 1)).unwrap();
    symlink(&secret, name(11, "meta")).unwrap();
    symlink(&secret, name(12, "json")).unwrap();
    std::fs::create_dir(name(13, "json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        name(14, "json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    symlink(name(15, "json"), name(15, "json")).unwrap();
    assert_eq!(store.list().unwrap(), []);
    for n in 10..16 {
        let id: ArtifactId = format!("a1b2c3d4-e5f6-4890-abcd-ef12345678{n}").parse().unwrap();
        assert!(matches!(store.read(id), Err(ArtifactError::NotFound { .. })), "{n} was read");
        assert!(matches!(store.meta(id), Err(ArtifactError::NotFound { .. })), "{n} has metadata");
        // A folder under our name cannot be unlinked; that is an error, and harmless.
        assert!(store.delete(id).is_err(), "{n} was found");
    }
    assert_eq!(std::fs::read(&secret).unwrap(), png(1, 1));
}

#[test]
fn a_lock_file_that_leads_out_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path().join("lock"), dir.path().join(".cove-artifacts.lock")).unwrap();
    assert_eq!(ArtifactStore::open(dir.path(), StoreLimits::default()).unwrap_err().code(), "store_io_error");
    assert_eq!(file_names(outside.path()).len(), 0);
}

#[test]
fn damaged_metadata_is_said_to_be_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let saved = store.save_picture(&png(0, 1), meta()).unwrap();
    std::fs::write(dir.path().join(format!("{}.meta", saved.id)), "{").unwrap();
    assert_eq!(store.meta(saved.id).unwrap_err().code(), "artifact_damaged");
}

/// Writers in several stores on one folder, readers beside them: no half file, no lost one, the limit is exact.
#[test]
fn concurrent_readers_never_see_half_a_file() {
    const WRITERS: u8 = 4;
    const EACH: u8 = 15;
    let dir = tempfile::tempdir().unwrap();
    let limits = StoreLimits { max_count: u64::from(WRITERS * EACH) - 5, ..StoreLimits::default() };
    let done = AtomicBool::new(false);
    let store = || ArtifactStore::open(dir.path(), limits).unwrap();
    let (saved, seen) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let store = store();
                    let mut seen = 0;
                    loop {
                        let last = done.load(Ordering::Acquire);
                        for listed in store.list().unwrap() {
                            let bytes = store.read(listed.name.id).unwrap().bytes;
                            assert_eq!(bytes, png(bytes[8], usize::from(bytes[8]) * 1000));
                            assert_eq!(store.meta(listed.name.id).unwrap().id, listed.name.id);
                            seen += 1;
                        }
                        if last {
                            return seen;
                        }
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let store = store();
                    let fill = |n| writer * EACH + n + 1;
                    (0..EACH)
                        .filter(|n| {
                            let saved = store.save_picture(&png(fill(*n), usize::from(fill(*n)) * 1000), meta());
                            if let Err(error) = &saved {
                                assert_eq!(error.code(), "store_full", "{error}");
                            }
                            saved.is_ok()
                        })
                        .count()
                })
            })
            .collect();
        let saved: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        done.store(true, Ordering::Release);
        (saved, readers.into_iter().map(|reader| reader.join().unwrap()).sum::<usize>())
    });
    assert_eq!(saved as u64, limits.max_count);
    assert!(seen >= 2 * saved);
    assert!(file_names(dir.path()).iter().all(|name| !name.ends_with(".draft")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any sequence of saves and deletes: the store holds exactly what a plain list would.
    #[test]
    fn the_store_holds_what_it_was_given(steps in proptest::collection::vec((0u8..4, any::<u8>(), 0usize..300), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let mut model: Vec<(ArtifactId, Vec<u8>)> = Vec::new();
        for (what, byte, len) in steps {
            match what {
                0 => {
                    let bytes = png(byte, len);
                    model.push((store.save_picture(&bytes, meta()).unwrap().id, bytes));
                }
                1 => {
                    let value = json!({"n": byte, "text": "é".repeat(len)});
                    model.push((store.save_json(&value).unwrap().0, serde_json::to_vec(&value).unwrap()));
                }
                _ if !model.is_empty() => {
                    let (id, _) = model.remove(usize::from(byte) % model.len());
                    store.delete(id).unwrap();
                }
                _ => {}
            }
        }
        let listed: BTreeSet<_> = store.list().unwrap().into_iter().map(|listed| listed.name.id).collect();
        prop_assert_eq!(listed, model.iter().map(|(id, _)| *id).collect::<BTreeSet<_>>());
        for (id, bytes) in model {
            prop_assert_eq!(store.read(id).unwrap().bytes, bytes);
        }
    }

    /// No text but the one spelling is a name.
    #[test]
    fn no_text_escapes(text in "\\PC{0,60}|[./a-f0-9-]{0,60}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}[./a-z]{0,8}") {
        if let Ok(name) = text.parse::<ArtifactName>() {
            prop_assert_eq!(name.to_string(), text.clone());
            prop_assert!(!text.contains('/') && !text.contains(".."));
        }
    }
}
