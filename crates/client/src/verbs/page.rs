//! Links that open the page.

use std::time::Duration;

use cove_api::Moment;
use serde::Deserialize;

use crate::client::Retry;
use crate::{Client, ClientError};

/// A link that opens the page.
#[derive(Debug, Clone, Deserialize)]
pub struct PageLink {
    /// Where, at the server's address. Its fragment holds what logs in: it is never sent in a request.
    pub path: String,
    /// Until when it works.
    pub expires_at: Moment,
}

impl Client {
    /// A link that logs the page in, once.
    pub async fn page_link(&self) -> Result<PageLink, ClientError> {
        self.post("/page/links", &serde_json::json!({}), Duration::ZERO, Retry::Always).await
    }

    /// Where this client asks.
    pub fn address(&self) -> &str {
        self.base()
    }
}
