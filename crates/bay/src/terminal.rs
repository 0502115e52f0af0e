//! A terminal in a sandbox: the runtime's own WebSocket, passed through Bay.
//!
//! While a terminal is open its session is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cove_api::SandboxId;
use cove_api::{BayError, ErrorCode};
use cove_runtime_api::{CallError, TerminalSize};
use hyper::header::HeaderValue;

use crate::router::broken;
use crate::websocket::RuntimeSocket;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

/// How long the runtime may take to answer.
const SHAKE: Duration = Duration::from_secs(15);
/// Terminals of one session; each is a shell with programs of its own.
const MAX_OF_SESSION: usize = 16;
/// One of the places at a session.
#[derive(Debug)]
struct TerminalSlot(Arc<AtomicUsize>);

impl TerminalSlot {
    fn take(count: &Arc<AtomicUsize>) -> BayResult<Self> {
        if count.fetch_add(1, Ordering::SeqCst) >= MAX_OF_SESSION {
            count.fetch_sub(1, Ordering::SeqCst);
            let message = format!("too many terminals in this sandbox: the limit is {MAX_OF_SESSION}");
            return Err(BayError::new(ErrorCode::QuotaExceeded, message));
        }
        Ok(Self(Arc::clone(count)))
    }
}

impl Drop for TerminalSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Bay {
    /// Opens a terminal of so many columns and rows; `key` is the WebSocket handshake's.
    pub async fn open_terminal(
        &self,
        owner: &Owner,
        id: &SandboxId,
        (cols, rows): (u16, u16),
        key: &HeaderValue,
    ) -> BayResult<RuntimeSocket> {
        let call = self.admit_for(owner, id, Capability::Terminal, SHAKE).await?;
        let mut route = self.route(&call).await?;
        let place = TerminalSlot::take(&route.session.terminals)?;
        let connected = self.ask(&call, &mut route, |container| async move { container.client.connect().await });
        let opening = connected.await?.terminal(TerminalSize { cols, rows }, key);
        let opened = tokio::time::timeout_at(call.work_deadline().at().into(), opening).await;
        let opened = opened.unwrap_or(Err(CallError::Timeout(SHAKE)));
        let opened = opened.map_err(|error| broken(&error))?;
        Ok(RuntimeSocket::new(opened, &call.profile, (route, place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted() {
        let count = Arc::default();
        let taken: Vec<_> = (0..MAX_OF_SESSION).map(|_| TerminalSlot::take(&count).unwrap()).collect();
        assert_eq!(TerminalSlot::take(&count).unwrap_err().code, ErrorCode::QuotaExceeded);
        drop(taken);
        assert!(TerminalSlot::take(&count).is_ok());
    }
}
