//! The record of what ran.

use cove_api::{Annotation, ExecType, HistoryEntry, HistoryList, HistoryQuery};
use reqwest::Method;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// A page of it.
    pub async fn history(&self, id: &str, query: &HistoryQuery) -> Result<HistoryList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/history"), query).await
    }

    /// The last entry (of a kind).
    pub async fn last_execution(&self, id: &str, exec_type: Option<ExecType>) -> Result<HistoryEntry, ClientError> {
        let query: Vec<_> = exec_type.map(|kind| ("exec_type", kind.as_str())).into_iter().collect();
        self.get(&format!("/v1/sandboxes/{id}/history/last"), &query).await
    }

    /// One entry.
    pub async fn execution(&self, id: &str, execution_id: &str) -> Result<HistoryEntry, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/history/{execution_id}"), &NOTHING).await
    }

    /// Notes something with an entry.
    pub async fn annotate(&self, id: &str, execution_id: &str, note: &Annotation) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/history/{execution_id}");
        self.send(Retry::Always, || self.request(Method::PATCH, &path).json(note)).await.map(drop)
    }
}
