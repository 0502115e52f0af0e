//! A terminal in a sandbox: the runtime's own WebSocket, passed through Bay.
//!
//! Bay does not read it. The caller and the runtime agree on the WebSocket themselves; Bay checks the caller, copies
//! bytes in both directions, and ends the terminal when it was silent for as long as a session may be idle, after half
//! a day, or with the session. While a terminal is open its session is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cove_api::SandboxId;
use cove_api::{BayError, ErrorCode};
use cove_runtime_api::{CallError, TerminalSize};
use hyper::header::{HeaderMap, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::router::{Route, broken};
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

/// However much is said.
const TOTAL: Duration = Duration::from_secs(12 * 3600);
/// Without a word, where the profile's sessions have no such end.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// How long the runtime may take to answer.
const SHAKE: Duration = Duration::from_secs(15);
/// Terminals of one session; each is a shell with programs of its own.
const MAX_OF_SESSION: usize = 16;
/// What is carried at once.
const BLOCK: usize = 16 << 10;

/// A terminal that the runtime has opened, and that nobody speaks to yet. Dropping it ends it.
pub struct Terminal {
    /// What the runtime answered to the handshake: the caller's answer.
    pub headers: HeaderMap,
    inner: hyper::upgrade::Upgraded,
    idle: Duration,
    /// Both go with it: while somebody sits there, the session is in use.
    _route: Route,
    _place: TerminalSlot,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("idle", &self.idle).finish_non_exhaustive()
    }
}

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
    ) -> BayResult<Terminal> {
        let call = self.admit_for(owner, id, Capability::Terminal, SHAKE).await?;
        let mut route = self.route(&call).await?;
        let place = TerminalSlot::take(&route.session.terminals)?;
        let connected = self.ask(&call, &mut route, |container| async move { container.client.connect().await });
        let opening = connected.await?.terminal(TerminalSize { cols, rows }, key);
        let opened = tokio::time::timeout_at(call.work_deadline().at().into(), opening).await;
        let opened = opened.unwrap_or(Err(CallError::Timeout(SHAKE)));
        let (headers, inner) = opened.map_err(|error| broken(&error))?;
        let idle = match call.profile.idle_timeout {
            0 => IDLE,
            seconds => Duration::from_secs(seconds),
        };
        Ok(Terminal { headers, inner, idle, _route: route, _place: place })
    }
}

impl Terminal {
    /// Carries bytes between the caller and the terminal until either goes, nobody says anything any more, or `told`.
    pub async fn carry(self, caller: impl AsyncRead + AsyncWrite + Send, told: impl Future<Output = ()> + Send) {
        let (mut from_caller, mut to_caller) = tokio::io::split(caller);
        let (mut from_inside, mut to_inside) = tokio::io::split(TokioIo::new(self.inner));
        let said = tokio::sync::watch::Sender::new(Instant::now());
        tokio::select! {
            () = pass(&mut from_caller, &mut to_inside, &said) => {}
            () = pass(&mut from_inside, &mut to_caller, &said) => {}
            () = silence(said.subscribe(), self.idle) => {}
            () = tokio::time::sleep(TOTAL) => {}
            () = told => {}
        }
        // The caller sees an end, whoever it came from; what is inside ends when its line is cut.
        let _ = tokio::time::timeout(Duration::from_secs(1), to_caller.shutdown()).await;
    }
}

async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    said: &tokio::sync::watch::Sender<Instant>,
) {
    let mut block = vec![0; BLOCK];
    while let Ok(count @ 1..) = from.read(&mut block).await {
        said.send_replace(Instant::now());
        let Some(bytes) = block.get(..count) else { return };
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

/// Comes back when nothing was said for so long.
async fn silence(mut said: tokio::sync::watch::Receiver<Instant>, idle: Duration) {
    loop {
        let last = *said.borrow_and_update();
        let quiet = tokio::time::sleep_until((last + idle).into());
        tokio::select! {
            () = quiet => return,
            changed = said.changed() => if changed.is_err() { return },
        }
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
