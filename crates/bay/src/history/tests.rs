//! The history as it is asked for.

use cove_api::{Annotation, ErrorCode, ExecType, HistoryQuery, Owner};
use cove_store::testkit::TestStore;

use super::{annotate, history, last_execution};

pub(crate) async fn entries_are_found_and_refused(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let refused = last_execution(store, owner, &made.id, None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
    let python = place.run(&made.id, |_| ()).await;
    let shell = place.run(&made.id, |new| new.exec_type = ExecType::Shell).await;
    assert_eq!(last_execution(store, owner, &made.id, None).await.unwrap().id, shell);
    assert_eq!(last_execution(store, owner, &made.id, Some(ExecType::Python)).await.unwrap().id, python);

    // Another owner, another sandbox, an expired one, and questions that are too long.
    let other = Owner::new("other");
    let ended = place.sandbox("p", Some(place.now)).await;
    let many = Some(vec!["t"; 21].join(","));
    for (owner, sandbox, query, code) in [
        (&other, &made.id, HistoryQuery::default(), ErrorCode::NotFound),
        (owner, &ended.id, HistoryQuery::default(), ErrorCode::SandboxExpired),
        (owner, &made.id, HistoryQuery { limit: Some(501), ..Default::default() }, ErrorCode::ValidationError),
        (owner, &made.id, HistoryQuery { limit: Some(0), ..Default::default() }, ErrorCode::ValidationError),
        (owner, &made.id, HistoryQuery { tags: many.clone(), ..Default::default() }, ErrorCode::ValidationError),
        (owner, &made.id, HistoryQuery { without_tags: many, ..Default::default() }, ErrorCode::ValidationError),
    ] {
        assert_eq!(history(store, owner, sandbox, &query).await.unwrap_err().code, code, "{query:?}");
    }
    let query = HistoryQuery { offset: Some(u32::MAX), limit: Some(500), ..Default::default() };
    assert_eq!(history(store, owner, &made.id, &query).await.unwrap().total, 2);
    // What a client may write is no fault of a database.
    for text in ["\0", "'; DROP TABLE executions; --", "$1 ? :x", "\\"] {
        let query = HistoryQuery { tags: Some(text.into()), ..Default::default() };
        assert_eq!(history(store, owner, &made.id, &query).await.unwrap().total, 0, "{text}");
    }
}

pub(crate) async fn notes_are_added_within_bounds(place: TestStore) {
    let (store, owner) = (&place.store, &place.owner);
    let made = place.sandbox("p", None).await;
    let ran = place.run(&made.id, |_| ()).await;
    let note = Annotation { notes: Some("n".into()), ..Default::default() };
    assert_eq!(annotate(store, owner, &made.id, &ran, &note).await.unwrap().notes.as_deref(), Some("n"));
    let refused = annotate(store, owner, &made.id, &"exec-000000000000".parse().unwrap(), &note).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
    let long = Annotation { notes: Some("x".repeat(20_000)), ..Default::default() };
    let refused = annotate(store, owner, &made.id, &ran, &long).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ValidationError);
}
