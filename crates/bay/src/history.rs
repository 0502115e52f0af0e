//! The record of what ran.

use cove_api::{Annotation, HistoryEntry, HistoryList, HistoryQuery};

use crate::{Answer, Bay, Owner};

impl Bay {
    /// A page of it.
    pub async fn history(&self, owner: &Owner, id: &str, query: HistoryQuery) -> Answer<HistoryList> {
        let _ = (owner, id, query);
        Err(crate::bay::unbuilt())
    }

    /// The last entry (of a kind).
    pub async fn last_execution(&self, owner: &Owner, id: &str, exec_type: Option<&str>) -> Answer<HistoryEntry> {
        let _ = (owner, id, exec_type);
        Err(crate::bay::unbuilt())
    }

    /// One entry.
    pub async fn execution(&self, owner: &Owner, id: &str, execution_id: &str) -> Answer<HistoryEntry> {
        let _ = (owner, id, execution_id);
        Err(crate::bay::unbuilt())
    }

    /// Notes something with an entry.
    pub async fn annotate(
        &self,
        owner: &Owner,
        id: &str,
        execution_id: &str,
        note: Annotation,
    ) -> Answer<HistoryEntry> {
        let _ = (owner, id, execution_id, note);
        Err(crate::bay::unbuilt())
    }
}
