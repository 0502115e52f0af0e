//! A WebSocket of a runtime, passed through Bay.
//!
//! Bay does not read it. The caller and the runtime agree on the WebSocket themselves; Bay checks the caller and copies bytes
//! in both directions, until either goes, nobody says anything for as long as a session may be idle, half a day is over, or
//! the session ends.

use std::time::{Duration, Instant};

use cove_config::Profile;
use hyper::header::HeaderMap;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// However much is said.
const TOTAL: Duration = Duration::from_secs(12 * 3600);
/// Without a word, where the profile's sessions have no such end.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// What is carried at once.
const BLOCK: usize = 16 << 10;

/// A WebSocket that the runtime has opened, and that nobody speaks to yet. Dropping it ends it.
pub struct RuntimeSocket {
    /// What the runtime answered to the handshake: the caller's answer.
    pub headers: HeaderMap,
    inner: hyper::upgrade::Upgraded,
    idle: Duration,
    /// Goes with it: what says that the session is in use, where it is.
    _kept: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for RuntimeSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuntimeSocket").field("idle", &self.idle).finish_non_exhaustive()
    }
}

impl RuntimeSocket {
    pub(crate) fn new(
        (headers, inner): (HeaderMap, hyper::upgrade::Upgraded),
        profile: &Profile,
        kept: impl Send + Sync + 'static,
    ) -> Self {
        let idle = match profile.idle_timeout {
            0 => IDLE,
            seconds => Duration::from_secs(seconds),
        };
        Self { headers, inner, idle, _kept: Box::new(kept) }
    }

    /// Carries bytes between the caller and the runtime until either goes, nobody says anything any more, or `told`.
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
