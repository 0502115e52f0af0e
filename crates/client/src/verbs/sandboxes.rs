//! Sandboxes, profiles, health, the collector.

use std::time::Duration;

use cove_api::{
    CreateSandbox, ExtendTtl, GcReport, GcRequest, GcStatus, Health, ProfileList, SandboxInfo, SandboxList,
    SandboxQuery, Status,
};
use reqwest::Method;
use serde_json::json;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// Whether Bay is there.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.get("/health", &NOTHING).await
    }

    /// A new sandbox; tried again safely where the answer is lost.
    pub async fn create_sandbox(&self, wish: &CreateSandbox) -> Result<SandboxInfo, ClientError> {
        self.post_once("/v1/sandboxes", wish).await
    }

    /// A page of sandboxes.
    pub async fn list_sandboxes(&self, query: &SandboxQuery) -> Result<SandboxList, ClientError> {
        self.get("/v1/sandboxes", query).await
    }

    /// One sandbox.
    pub async fn sandbox(&self, id: &str) -> Result<SandboxInfo, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}"), &NOTHING).await
    }

    /// More time.
    pub async fn extend_ttl(&self, id: &str, wish: &ExtendTtl) -> Result<SandboxInfo, ClientError> {
        self.post_once(&format!("/v1/sandboxes/{id}/extend_ttl"), wish).await
    }

    /// Still needed.
    pub async fn keepalive(&self, id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/keepalive");
        self.post::<_, Status>(&path, &json!({}), Duration::ZERO, Retry::Always).await.map(drop)
    }

    /// Ends its session; the cargo stays.
    pub async fn stop_sandbox(&self, id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/stop");
        self.post::<_, Status>(&path, &json!({}), Duration::ZERO, Retry::Always).await.map(drop)
    }

    /// Deletes it.
    pub async fn delete_sandbox(&self, id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}");
        self.send(Retry::Always, || self.request(Method::DELETE, &path)).await.map(drop)
    }

    /// The profiles from which sandboxes are created.
    pub async fn profiles(&self, detail: bool) -> Result<ProfileList, ClientError> {
        self.get("/v1/profiles", &[("detail", detail)]).await
    }

    /// Runs the collector.
    pub async fn run_collector(&self, request: &GcRequest) -> Result<GcReport, ClientError> {
        self.post("/v1/admin/gc/run", request, Duration::ZERO, Retry::Always).await
    }

    /// What the collector does and did.
    pub async fn collector(&self) -> Result<GcStatus, ClientError> {
        self.get("/v1/admin/gc/status", &NOTHING).await
    }
}
