//! A sandbox's browser as it is seen: the runtime's own WebSocket, passed through Bay.
//!
//! Whoever only looks starts nothing and does not count as use: a session that nobody else uses ends while it is watched.
//! A connection that may take control is use, like a terminal, and starts a session where there is none.

use std::time::Duration;

use cove_api::{BayError, ErrorCode, SandboxId};
use cove_config::Capability;
use cove_runtime_api::{CallError, ViewMode};
use hyper::header::HeaderValue;

use crate::router::{broken, pick};
use crate::websocket::RuntimeSocket;
use crate::{Bay, BayResult, Owner};

/// How long the runtime may take to answer.
const SHAKE: Duration = Duration::from_secs(15);

impl Bay {
    /// Opens the view of a sandbox's browser; `key` is the WebSocket handshake's. `control`: with the right to take it over.
    pub async fn open_view(
        &self,
        owner: &Owner,
        id: &SandboxId,
        control: bool,
        key: &HeaderValue,
    ) -> BayResult<RuntimeSocket> {
        let call = self.admit_for(owner, id, Capability::Browser, SHAKE).await?;
        let (connection, kept) = if control {
            let mut route = self.route(&call).await?;
            let connected = self.ask(&call, &mut route, |container| async move { container.client.connect().await });
            (connected.await?, Some(route))
        } else {
            let live = self.inner.sessions.get(id);
            let container = live.and_then(|session| session.container(pick(&session, Capability::Browser)?));
            let Some(container) = container else {
                return Err(BayError::new(
                    ErrorCode::Conflict,
                    "this sandbox does not run: there is no browser to watch",
                ));
            };
            let connecting = tokio::time::timeout(SHAKE, container.client.connect()).await;
            (connecting.unwrap_or(Err(CallError::Timeout(SHAKE))).map_err(|error| broken(&error))?, None)
        };
        let opened = tokio::time::timeout(SHAKE, connection.view(ViewMode { control }, key)).await;
        let opened = opened.unwrap_or(Err(CallError::Timeout(SHAKE))).map_err(|error| broken(&error))?;
        Ok(RuntimeSocket::new(opened, &call.profile, kept))
    }
}
