//! Other Bays: the way to them, and whether they still answer while a call is with them.
//!
//! A Bay that is frozen (stopped, swapped out, its machine paused) still takes connections: the kernel does that for it. A
//! call may take minutes, so silence alone says nothing. While calls are with another Bay it is asked every second
//! whether it is there; if it is not, all calls with it end, long before their own deadlines.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// Between two questions to one Bay.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// How long it may take to say that it is there.
const ASK_LIMIT: Duration = Duration::from_secs(3);

/// So many questions in a row without an answer: it is not there. Counted, not timed, because this Bay may have been the
/// one that was frozen. A silent Bay is given up after 9 to 12 s, and no sooner than [`FRESH`](super::seal::FRESH).
const MISSES: u32 = 3;

/// How long a Bay without calls is still asked, so that the next call need not find out again that it is silent.
const REMEMBERED: u32 = 60;

/// The ways to other Bays, made when they are first needed.
#[derive(Default)]
pub(crate) struct Peers {
    client: OnceLock<Option<reqwest::Client>>,
    peers: Arc<Mutex<HashMap<String, Arc<Peer>>>>,
}

/// One other Bay.
#[derive(Debug)]
pub(super) struct Peer {
    /// Questions in a row that it has not answered.
    missed: watch::Sender<u32>,
}

impl Peer {
    /// Whether it has not answered for too long.
    pub(super) fn is_silent(&self) -> bool {
        *self.missed.borrow() >= MISSES
    }

    /// Waits until it has not answered for too long.
    pub(super) async fn silent(&self) {
        // The sender is this very value: it outlives the wait.
        let _ = self.missed.subscribe().wait_for(|missed| *missed >= MISSES).await;
    }
}

impl Peers {
    pub(super) fn client(&self) -> Option<&reqwest::Client> {
        let made = self.client.get_or_init(|| {
            // Fails only where a provider is there already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let builder = reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(Duration::from_secs(5));
            builder.build().ok()
        });
        made.as_ref()
    }

    /// A Bay, asked whether it is there for as long as somebody holds this.
    pub(super) fn peer(&self, client: &reqwest::Client, base: &str) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = peers.get(base) {
            return Arc::clone(known);
        }
        let peer = Arc::new(Peer { missed: watch::Sender::new(0) });
        peers.insert(base.to_owned(), Arc::clone(&peer));
        tokio::spawn(keep_asking(client.clone(), base.to_owned(), Arc::clone(&peer), Arc::clone(&self.peers)));
        peer
    }
}

async fn keep_asking(
    client: reqwest::Client,
    base: String,
    peer: Arc<Peer>,
    peers: Arc<Mutex<HashMap<String, Arc<Peer>>>>,
) {
    let mut alone = 0;
    loop {
        tokio::time::sleep(ASK_EVERY).await;
        // Whatever it says, it is there.
        let answered = client.get(format!("{base}/health")).timeout(ASK_LIMIT).send().await.is_ok();
        peer.missed.send_modify(|missed| *missed = if answered { 0 } else { missed.saturating_add(1) });
        if *peer.missed.borrow() == MISSES {
            tracing::warn!(%base, "another Bay does not answer; calls that are with it end");
        }
        let mut peers = peers.lock().unwrap_or_else(PoisonError::into_inner);
        // The list holds one, and this task another: nobody can take a third while the list is locked.
        alone = if Arc::strong_count(&peer) > 2 { 0 } else { alone + 1 };
        if alone > 0 && (answered || alone >= REMEMBERED) {
            peers.remove(&base);
            return;
        }
    }
}
