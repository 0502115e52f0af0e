//! Approvals: calls of code that wait for a person.

use std::time::Duration;

use cove_api::{Approval, ApprovalDecision, ApprovalList, Status};

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// The calls that wait, oldest first.
    pub async fn approvals(&self) -> Result<Vec<Approval>, ClientError> {
        Ok(self.get::<_, ApprovalList>("/v1/approvals", &NOTHING).await?.items)
    }

    /// Approves a call that waits.
    pub async fn approve(&self, approval_id: &str, decision: &ApprovalDecision) -> Result<(), ClientError> {
        let path = format!("/v1/approvals/{approval_id}/approve");
        self.post::<_, Status>(&path, decision, Duration::ZERO, Retry::NotBegun).await.map(drop)
    }

    /// Denies a call that waits.
    pub async fn deny(&self, approval_id: &str, decision: &ApprovalDecision) -> Result<(), ClientError> {
        let path = format!("/v1/approvals/{approval_id}/deny");
        self.post::<_, Status>(&path, decision, Duration::ZERO, Retry::NotBegun).await.map(drop)
    }
}
