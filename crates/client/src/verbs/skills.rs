//! Skills: payloads, candidates, evaluations, releases.

use std::time::Duration;

use cove_api::{
    CandidateInfo, CandidateList, CandidateQuery, CreateCandidate, CreatePayload, DeleteRequest, Deleted, Evaluate,
    EvaluationInfo, PayloadInfo, PayloadRef, Promote, ReleaseHealth, ReleaseInfo, ReleaseList, ReleaseQuery,
};
use reqwest::Method;
use serde_json::json;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// Keeps a payload.
    pub async fn create_payload(&self, wish: &CreatePayload) -> Result<PayloadRef, ClientError> {
        self.post("/v1/skills/payloads", wish, Duration::ZERO, Retry::NotBegun).await
    }

    /// A payload that was kept.
    pub async fn payload(&self, payload_ref: &str) -> Result<PayloadInfo, ClientError> {
        self.get(&format!("/v1/skills/payloads/{payload_ref}"), &NOTHING).await
    }

    /// A new candidate.
    pub async fn create_candidate(&self, wish: &CreateCandidate) -> Result<CandidateInfo, ClientError> {
        self.post("/v1/skills/candidates", wish, Duration::ZERO, Retry::NotBegun).await
    }

    /// A page of candidates.
    pub async fn list_candidates(&self, query: &CandidateQuery) -> Result<CandidateList, ClientError> {
        self.get("/v1/skills/candidates", query).await
    }

    /// One candidate.
    pub async fn candidate(&self, id: &str) -> Result<CandidateInfo, ClientError> {
        self.get(&format!("/v1/skills/candidates/{id}"), &NOTHING).await
    }

    /// Notes an evaluation.
    pub async fn evaluate(&self, id: &str, found: &Evaluate) -> Result<EvaluationInfo, ClientError> {
        self.post(&format!("/v1/skills/candidates/{id}/evaluate"), found, Duration::ZERO, Retry::NotBegun).await
    }

    /// Releases a candidate.
    pub async fn promote(&self, id: &str, wish: &Promote) -> Result<ReleaseInfo, ClientError> {
        self.post(&format!("/v1/skills/candidates/{id}/promote"), wish, Duration::ZERO, Retry::NotBegun).await
    }

    /// Deletes a candidate.
    pub async fn delete_candidate(&self, id: &str, wish: &DeleteRequest) -> Result<Deleted, ClientError> {
        self.delete_with(&format!("/v1/skills/candidates/{id}"), wish).await
    }

    /// A page of releases.
    pub async fn list_releases(&self, query: &ReleaseQuery) -> Result<ReleaseList, ClientError> {
        self.get("/v1/skills/releases", query).await
    }

    /// One release.
    pub async fn release(&self, id: &str) -> Result<ReleaseInfo, ClientError> {
        self.get(&format!("/v1/skills/releases/{id}"), &NOTHING).await
    }

    /// Takes a release back.
    pub async fn rollback(&self, id: &str) -> Result<ReleaseInfo, ClientError> {
        self.post(&format!("/v1/skills/releases/{id}/rollback"), &json!({}), Duration::ZERO, Retry::NotBegun).await
    }

    /// How a release does.
    pub async fn release_health(&self, id: &str) -> Result<ReleaseHealth, ClientError> {
        self.get(&format!("/v1/skills/releases/{id}/health"), &NOTHING).await
    }

    /// Deletes a release.
    pub async fn delete_release(&self, id: &str, wish: &DeleteRequest) -> Result<Deleted, ClientError> {
        self.delete_with(&format!("/v1/skills/releases/{id}"), wish).await
    }

    async fn delete_with(&self, path: &str, wish: &DeleteRequest) -> Result<Deleted, ClientError> {
        let response = self.send(Retry::NotBegun, || self.request(Method::DELETE, path).json(wish)).await?;
        let (url, status) = (response.url().to_string(), response.status().as_u16());
        let body = response.bytes().await.map_err(|error| ClientError::transport(self.base(), &error))?;
        serde_json::from_slice(&body).map_err(|_| ClientError::Odd { url, status })
    }
}
