//! The history and blobs.

use cove_api::{Annotation, Barrier, ExecType, Moment, Owner};
use cove_core::{BlobId, ExecutionId};
use serde_json::json;

use crate::executions::{MAX_ENTRIES, MAX_OUTPUT_BYTES};
use crate::testkit::{TestStore, id};
use crate::{ExecutionFilter, NewBlob, StoreError, ask::ask, blob_id, blob_ref};

pub(crate) async fn entries_are_written_found_and_filtered(place: TestStore) {
    let made = place.sandbox("p", None).await;
    let long = "x".repeat(MAX_OUTPUT_BYTES + 10);
    let a = place.run(&made.id, |new| new.description = Some("first")).await;
    let b = place
        .run(&made.id, |new| {
            (new.exec_type, new.success, new.error) = (ExecType::Shell, false, Some(long.as_str()));
            new.barrier = Some(Barrier::TimeLimit);
        })
        .await;
    let c = place.run(&made.id, |new| (new.learn, new.session_id, new.output) = (true, Some("sess-1"), None)).await;
    let d = place.run(&made.id, |new| (new.exec_type, new.description) = (ExecType::Shell, Some(""))).await;
    let note = Annotation { notes: Some("n".into()), ..Default::default() };
    place.store.annotate(&place.owner, &made.id, &a, &note).await.unwrap().unwrap();

    let all = ExecutionFilter::default();
    let table: Vec<(ExecutionFilter<'_>, Vec<&ExecutionId>, i64)> = vec![
        (all, vec![&d, &c, &b, &a], 4),
        (ExecutionFilter { exec_type: Some(ExecType::Shell), ..all }, vec![&d, &b], 2),
        (ExecutionFilter { success_only: true, ..all }, vec![&d, &c, &a], 3),
        (ExecutionFilter { success_only: true, exec_type: Some(ExecType::Shell), ..all }, vec![&d], 1),
        (ExecutionFilter { barred: true, ..all }, vec![&b], 1),
        (ExecutionFilter { has_notes: Some(true), ..all }, vec![&a], 1),
        (ExecutionFilter { has_notes: Some(false), ..all }, vec![&d, &c, &b], 3),
        (ExecutionFilter { has_description: Some(true), ..all }, vec![&a], 1),
        (ExecutionFilter { has_description: Some(false), limit: 2, ..all }, vec![&d, &c], 3),
        (ExecutionFilter { limit: 2, offset: 1, ..all }, vec![&c, &b], 4),
        (ExecutionFilter { limit: 2, offset: 9, ..all }, vec![], 4),
    ];
    for (filter, ids, total) in table {
        let (found, count) = place.found(&made.id, filter).await;
        assert_eq!((found.iter().collect::<Vec<_>>(), count), (ids, total), "{filter:?}");
    }
    let (store, owner) = (&place.store, &place.owner);
    let entry = store.execution(owner, &made.id, &b).await.unwrap().unwrap();
    assert_eq!((entry.success, entry.execution_time_ms, entry.created_at), (false, 5, place.now));
    assert_eq!(entry.barrier, Some(Barrier::TimeLimit));
    let error = entry.error.unwrap();
    assert!(error.len() < MAX_OUTPUT_BYTES + 100 && error.contains("bytes left out"), "{}", error.len());
    let entry = store.execution(owner, &made.id, &c).await.unwrap().unwrap();
    assert_eq!((entry.learn_enabled, entry.learn_status.as_deref()), (true, Some("pending")));
    assert_eq!((entry.session_id.as_deref(), entry.output), (Some("sess-1"), None));

    // Another owner, another sandbox.
    let other = Owner::new("other");
    assert_eq!(store.execution(&other, &made.id, &b).await.unwrap(), None);
    assert_eq!(store.source(&other, &b).await.unwrap(), None);
    assert_eq!(store.source(owner, &b).await.unwrap().unwrap().exec_type, ExecType::Shell);
    assert_eq!(store.execution(owner, "sandbox-000000000000", &b).await.unwrap(), None);
}

pub(crate) async fn tags_match_whole(place: TestStore) {
    let made = place.sandbox("p", None).await;
    let a = place.run(&made.id, |new| new.tags = Some("etl, Daily ,100%")).await;
    let b = place.run(&made.id, |new| new.tags = Some("etl-old,etl")).await;
    let c = place.run(&made.id, |new| new.tags = Some("daily")).await;
    place.run(&made.id, |_| ()).await;
    for (tags, expected) in [
        ("etl", vec![&b, &a]),
        ("et", vec![]),
        ("etl-old", vec![&b]),
        ("etl,etl-old", vec![&b]),
        ("etl, Daily", vec![&a]),
        ("Daily,etl-old", vec![]),
        ("daily", vec![&c]),
        ("%", vec![]),
        ("100%", vec![&a]),
        ("e_l", vec![]),
        ("' OR 1=1 --", vec![]),
    ] {
        let (found, total) = place.found(&made.id, ExecutionFilter { tags: Some(tags), ..Default::default() }).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{tags}");
        assert_eq!(total as usize, expected.len(), "{tags}");
    }
    for (with, without, expected) in [
        (None, "etl", 2),
        (None, "etl-old, daily", 2),
        (None, "100%,%", 3),
        (None, " , ", 4),
        (Some("etl"), "etl-old", 1),
        (Some("etl"), "etl", 0),
    ] {
        let filter = ExecutionFilter { tags: with, without_tags: Some(without), ..Default::default() };
        assert_eq!(place.found(&made.id, filter).await.1, expected, "{with:?} without {without}");
    }
    let (found, _) = place.found(&made.id, ExecutionFilter { tags: Some(" , "), ..Default::default() }).await;
    assert_eq!(found.len(), 4, "no tag is no question");
    assert_eq!(
        place.store.execution(&place.owner, &made.id, &a).await.unwrap().unwrap().tags.unwrap(),
        "etl, Daily ,100%"
    );
}

pub(crate) async fn notes_are_added_and_the_rest_stays(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let a = place.run(&made.id, |new| (new.description, new.tags) = (Some("d"), Some("t"))).await;
    let note = Annotation { notes: Some("n".into()), ..Default::default() };
    let entry = store.annotate(owner, &made.id, &a, &note).await.unwrap().unwrap();
    let parts = |entry: &cove_api::HistoryEntry| (entry.description.clone(), entry.tags.clone(), entry.notes.clone());
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(parts(&entry), (some("d"), some("t"), some("n")));
    let note = Annotation { tags: Some("u,v".into()), description: Some(String::new()), notes: None };
    let entry = store.annotate(owner, &made.id, &a, &note).await.unwrap().unwrap();
    assert_eq!(parts(&entry), (some(""), some("u,v"), some("n")));
    let by = async |tag: &'static str| {
        place.found(&made.id, ExecutionFilter { tags: Some(tag), ..Default::default() }).await.1
    };
    assert_eq!((by("t").await, by("v").await), (0, 1), "found by its new tags alone");
    assert_eq!(store.execution(owner, &made.id, &a).await.unwrap(), Some(entry));
    assert_eq!(store.annotate(owner, &made.id, "exec-000000000000", &note).await.unwrap(), None);
}

pub(crate) async fn the_oldest_go(place: TestStore) {
    let made = place.sandbox("p", None).await;
    let other = place.sandbox("p", None).await;
    let kept = place.run(&other.id, |_| ()).await;
    let first = place.run(&made.id, |_| ()).await;
    // As if so many had been before.
    let question = "UPDATE executions SET seq = $2 WHERE id = $1";
    ask(question).text(&first).int(MAX_ENTRIES).run(&place.store.write).await.unwrap();
    let second = place.run(&made.id, |_| ()).await;
    let (found, _) = place.found(&made.id, ExecutionFilter::default()).await;
    assert_eq!(found, [second.clone(), first.clone()]);
    let question = "UPDATE executions SET seq = 1 WHERE id = $1";
    ask(question).text(&first).run(&place.store.write).await.unwrap();
    let third = place.run(&made.id, |_| ()).await;
    let (found, _) = place.found(&made.id, ExecutionFilter::default()).await;
    assert_eq!(found, [third, second], "the first is too old now");
    assert_eq!(place.found(&other.id, ExecutionFilter::default()).await.0, [kept]);
}

/// What a guest or a client may write, no database refuses; both keep the same.
pub(crate) async fn nul_bytes_and_odd_texts_are_kept(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("pro\0file", None).await;
    assert_eq!(place.get(&made.id).await.unwrap().profile, "pro␀file");
    for text in
        ["\0", "a\0b\0", "\u{1}\u{7f}\u{80}", "\u{feff}𝒳\u{10ffff}", "'; DROP TABLE executions; --", "$1 ? :x", "\\"]
    {
        let ran = place.run(&made.id, |new| {
            (new.code, new.output, new.error, new.description, new.tags, new.session_id) =
                (text, Some(text), Some(text), Some(text), Some(text), Some(text));
        });
        let ran = ran.await;
        let kept = text.replace('\0', "␀");
        let entry = store.execution(owner, &made.id, &ran).await.unwrap().unwrap();
        assert_eq!((&entry.code, entry.output.as_ref(), entry.tags.as_ref()), (&kept, Some(&kept), Some(&kept)));
        let note = Annotation { notes: Some(text.into()), tags: Some(text.into()), description: Some(text.into()) };
        assert_eq!(store.annotate(owner, &made.id, &ran, &note).await.unwrap().unwrap().notes, Some(kept));
        // Asked for by it, too.
        place.found(&made.id, ExecutionFilter { tags: Some(text), ..Default::default() }).await;
        assert_eq!(store.sandbox(owner, text).await.unwrap(), None);
        assert_eq!(store.sandbox(&Owner::new(text), &made.id).await.unwrap(), None);
        assert_eq!(store.execution(owner, text, text).await.unwrap(), None);
        assert_eq!(store.blob(owner, text).await.unwrap(), None);
        assert_eq!(store.delete_sandbox(Some(owner), text, place.now).await.unwrap(), None);
        assert!(matches!(store.rollback(owner, text, place.now).await, Err(StoreError::Missing { .. })));
        let body = json!({ text: [text] });
        let new = NewBlob { sandbox_id: None, execution_id: None, kind: text, body: &body };
        let blob = store.keep_blob(owner, &new, place.now).await.unwrap();
        assert_eq!(store.blob(owner, &blob).await.unwrap().unwrap().body, body, "JSON is kept to the letter");
    }
}

pub(crate) async fn blobs_are_kept_within_bounds(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let large = json!(["x".repeat(4 * 1024 * 1024)]);
    let new = NewBlob { sandbox_id: None, execution_id: None, kind: "k", body: &large };
    assert!(matches!(store.keep_blob(owner, &new, place.now).await, Err(StoreError::TooLarge { .. })));
    let body = json!([{ "cmd": "open", "n": 1.5, "none": null }]);
    let ran = id::<ExecutionId>();
    let trace = NewBlob { sandbox_id: Some(&made.id), execution_id: Some(&ran), kind: "trace", body: &body };
    let mut ids = Vec::new();
    for n in 0..103 {
        ids.push(store.keep_blob(owner, &trace, place.at(n)).await.unwrap());
    }
    let payload = NewBlob { sandbox_id: None, ..trace };
    let payload = store.keep_blob(owner, &payload, place.now).await.unwrap();
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(store.blob(owner, id).await.unwrap().is_some(), n >= 3, "the newest hundred: {n}");
    }
    let kept = store.blob(owner, &ids[102]).await.unwrap().unwrap();
    assert_eq!(
        (kept.body, kept.execution_id.as_deref(), kept.created_at),
        (body.clone(), Some(ran.as_str()), place.at(102))
    );
    assert_eq!(store.blob(&Owner::new("other"), &payload).await.unwrap(), None);
    assert_eq!(store.purge_traces(place.at(100)).await.unwrap(), 97);
    store.delete_sandbox(Some(&place.owner), &made.id, Moment::now()).await.unwrap();
    assert_eq!(store.blob(owner, &ids[102]).await.unwrap(), None, "gone with the sandbox");
    assert!(store.blob(owner, &payload).await.unwrap().is_some());

    // All payloads of one owner have a bound too.
    let question = "UPDATE blobs SET size_bytes = $2 WHERE id = $1";
    ask(question).text(&payload).int(256 * 1024 * 1024 - 10).run(&store.write).await.unwrap();
    let new = NewBlob { sandbox_id: None, execution_id: None, kind: "k", body: &body };
    assert!(matches!(store.keep_blob(owner, &new, place.now).await, Err(StoreError::Quota { .. })));
    assert!(store.keep_blob(&Owner::new("other"), &new, place.now).await.is_ok());

    let id = id::<BlobId>();
    for (reference, expected) in [
        (blob_ref(&id), Some(id.clone())),
        (id.to_string(), Some(id.clone())),
        ("blob:x".to_owned(), None),
        (format!("blob:blob:{id}"), None),
        ("s3://bucket".to_owned(), None),
    ] {
        assert_eq!(blob_id(&reference), expected, "{reference}");
    }
}
