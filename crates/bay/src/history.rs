//! The record of what ran.

use cove_api::{Annotation, BayError, ErrorCode, HistoryEntry, HistoryList, HistoryQuery, Moment};
use cove_api::{ExecType, ExecutionId, SandboxId};

use crate::{Bay, BayResult, Owner};
use cove_store::{ExecutionFilter, MAX_NOTE_BYTES, Store, StoreError, split_tags};

#[cfg(test)]
pub(crate) mod tests;

/// Tags that one question may name; each costs a look at every entry.
const MAX_TAGS_ASKED: usize = 20;

impl Bay {
    /// A page of it.
    pub async fn history(&self, owner: &Owner, id: &SandboxId, query: HistoryQuery) -> BayResult<HistoryList> {
        history(self.store(), owner, id, &query).await
    }

    /// The last entry (of a kind).
    pub async fn last_execution(
        &self,
        owner: &Owner,
        id: &SandboxId,
        exec_type: Option<ExecType>,
    ) -> BayResult<HistoryEntry> {
        last_execution(self.store(), owner, id, exec_type).await
    }

    /// One entry.
    pub async fn execution(
        &self,
        owner: &Owner,
        id: &SandboxId,
        execution_id: &ExecutionId,
    ) -> BayResult<HistoryEntry> {
        alive(self.store(), owner, id).await?;
        let found = self.store().execution(owner, id, execution_id).await?;
        found.ok_or_else(|| StoreError::missing("execution", execution_id).into())
    }

    /// Notes something with an entry.
    pub async fn annotate(
        &self,
        owner: &Owner,
        id: &SandboxId,
        execution_id: &ExecutionId,
        note: Annotation,
    ) -> BayResult<HistoryEntry> {
        annotate(self.store(), owner, id, execution_id, &note).await
    }
}

/// Refuses a sandbox that is not the owner's, or is over.
async fn alive(store: &Store, owner: &Owner, id: &SandboxId) -> BayResult<()> {
    let row = store.sandbox(owner, id).await?.ok_or_else(|| StoreError::missing("sandbox", id))?;
    if row.expired(Moment::now()) {
        return Err(BayError::new(ErrorCode::SandboxExpired, format!("sandbox {id} has expired")));
    }
    Ok(())
}

/// How many of a list, 1 to 500; 100 unless said otherwise.
pub(crate) fn page_size(limit: Option<u32>) -> BayResult<u32> {
    match limit.unwrap_or(100) {
        limit @ 1..=500 => Ok(limit),
        _ => Err(BayError::new(ErrorCode::ValidationError, "`limit` must be from 1 to 500")),
    }
}

pub(crate) async fn history(
    store: &Store,
    owner: &Owner,
    id: &SandboxId,
    query: &HistoryQuery,
) -> BayResult<HistoryList> {
    let (tags, without_tags) = (query.tags.as_deref(), query.without_tags.as_deref());
    for (name, tags) in [("tags", tags), ("without_tags", without_tags)] {
        if tags.is_some_and(|tags| split_tags(tags).count() > MAX_TAGS_ASKED) {
            let message = format!("`{name}` may name at most {MAX_TAGS_ASKED}");
            return Err(BayError::new(ErrorCode::ValidationError, message));
        }
    }
    let filter = ExecutionFilter {
        exec_type: query.exec_type,
        success_only: query.success_only.unwrap_or(false),
        failed_only: query.failed_only.unwrap_or(false),
        tags,
        without_tags,
        barred: query.barred.unwrap_or(false),
        // Clients that ask for nothing in particular send `false`: it must not leave anything out.
        has_notes: query.has_notes.filter(|wanted| *wanted),
        has_description: query.has_description.filter(|wanted| *wanted),
        limit: page_size(query.limit)?,
        offset: query.offset.unwrap_or(0),
    };
    alive(store, owner, id).await?;
    let (entries, total) = store.executions(owner, id, &filter).await?;
    Ok(HistoryList { entries, total })
}

pub(crate) async fn last_execution(
    store: &Store,
    owner: &Owner,
    id: &SandboxId,
    exec_type: Option<ExecType>,
) -> BayResult<HistoryEntry> {
    alive(store, owner, id).await?;
    let filter = ExecutionFilter { exec_type, limit: 1, ..ExecutionFilter::default() };
    let (entries, _) = store.executions(owner, id, &filter).await?;
    let none = || BayError::new(ErrorCode::NotFound, format!("nothing has run yet in sandbox {id}"));
    entries.into_iter().next().ok_or_else(none)
}

pub(crate) async fn annotate(
    store: &Store,
    owner: &Owner,
    id: &SandboxId,
    execution_id: &ExecutionId,
    note: &Annotation,
) -> BayResult<HistoryEntry> {
    for (name, text) in [("description", &note.description), ("tags", &note.tags), ("notes", &note.notes)] {
        if text.as_ref().is_some_and(|text| text.len() > MAX_NOTE_BYTES) {
            let message = format!("`{name}` may have at most {MAX_NOTE_BYTES} bytes");
            return Err(BayError::new(ErrorCode::ValidationError, message));
        }
    }
    alive(store, owner, id).await?;
    let found = store.annotate(owner, id, execution_id, note).await?;
    found.ok_or_else(|| StoreError::missing("execution", execution_id).into())
}
