//! Ports of a sandbox, and links to them.

use std::time::Duration;

use cove_api::{CreatePortLink, CreatedPortLink, PortLinkList, PortList};
use reqwest::Method;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// On which ports programs listen.
    pub async fn ports(&self, id: &str) -> Result<PortList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/ports"), &NOTHING).await
    }

    /// A link by which whoever has it uses a port.
    pub async fn create_port_link(&self, id: &str, wish: &CreatePortLink) -> Result<CreatedPortLink, ClientError> {
        // A second link does no harm: it ends like the first.
        self.post(&format!("/v1/sandboxes/{id}/port_links"), wish, Duration::ZERO, Retry::Always).await
    }

    /// The links that work.
    pub async fn port_links(&self, id: &str) -> Result<PortLinkList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/port_links"), &NOTHING).await
    }

    /// Revokes a link.
    pub async fn revoke_port_link(&self, id: &str, link_id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/sandboxes/{id}/port_links/{link_id}");
        self.send(Retry::Always, || self.request(Method::DELETE, &path)).await.map(drop)
    }
}
