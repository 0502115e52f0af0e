//! The network of a sandbox while it runs.

use cove_api::{SandboxNetwork, SetNetwork};

use super::NOTHING;
use crate::{Client, ClientError};

impl Client {
    /// What a sandbox may reach, and what it has reached.
    pub async fn network(&self, id: &str) -> Result<SandboxNetwork, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/network"), &NOTHING).await
    }

    /// Opens these hosts and no others, at once.
    pub async fn set_network(&self, id: &str, wish: &SetNetwork) -> Result<SandboxNetwork, ClientError> {
        self.put(&format!("/v1/sandboxes/{id}/network"), wish).await
    }
}
