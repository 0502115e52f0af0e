//! The watch over memory: what a guest's heap limit cannot see.
//!
//! V8 counts its own heap; array buffers, pictures and the heaps of workers lie outside it. The kernel's limit on every
//! process of the browser holds in any case, but it is one for all; a session's own, lower limit is held here, by
//! looking at what its renderer has come to hold since the session began.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::renderer::{Renderers, Resident, resident};
use crate::tab_events::{TabEnd, TabEvents};

/// Time between two looks. A page can fill about 100 MB in it.
const INTERVAL: Duration = Duration::from_millis(40);

/// What a renderer may grow by itself in the service of a modest guest: code, caches, an encoder's buffers.
const OWN_GROWTH_BYTES: u64 = 48 << 20;

/// Shared pages (mostly the browser's own code, read in as it is used) that are not the guest's doing.
const SHARED_GROWTH_BYTES: u64 = 96 << 20;

/// One session's memory under watch.
pub(crate) struct Watched {
    renderers: Arc<Renderers>,
    events: Arc<TabEvents>,
    limit_bytes: u64,
    before: Resident,
    peak_bytes: AtomicU64,
    faults: AtomicU64,
}

impl Watched {
    /// Begins the watch: what the renderer holds now is not the guest's.
    pub(crate) fn new(renderers: Arc<Renderers>, events: Arc<TabEvents>, limit_bytes: u64) -> Self {
        let before = renderers.resident().unwrap_or_default();
        Self { renderers, events, limit_bytes, before, peak_bytes: AtomicU64::new(0), faults: AtomicU64::new(0) }
    }

    /// The most that the guest was seen to hold.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }

    /// Whether a crash now is most likely the end of its memory.
    pub(crate) fn was_near_its_limit(&self) -> bool {
        self.peak_bytes() > self.limit_bytes / 2
    }

    /// Looks once more, so that a short run has a figure too.
    pub(crate) fn look(&self) {
        let Some(now) = self.renderers.resident() else { return };
        let held = grown(self.before, now);
        self.peak_bytes.fetch_max(held, Ordering::Relaxed);
        if held > self.limit_bytes.saturating_add(OWN_GROWTH_BYTES) {
            self.end();
        }
    }

    /// Pages touched since the last time this was asked.
    fn fresh_faults(&self) -> u64 {
        let now = self.renderers.faults().unwrap_or_default();
        now.saturating_sub(self.faults.swap(now, Ordering::Relaxed))
    }

    fn end(&self) {
        self.events.end(TabEnd::Memory);
        self.renderers.kill();
    }
}

fn grown(before: Resident, now: Resident) -> u64 {
    let shared = now.shared.saturating_sub(before.shared).saturating_sub(SHARED_GROWTH_BYTES);
    now.private.saturating_sub(before.private) + shared
}

/// What the processes that all sessions share (the browser itself, graphics, network) may grow by together.
///
/// A guest can fill them: blobs live in the browser, textures in graphics. Far below the kernel's limit, at which the
/// browser would die and take everyone's runs with it.
const SHARED_PROCESSES_GROWTH_BYTES: u64 = 384 << 20;

/// What every session adds to that by being there, and not by doing anything: 1.5 MB were seen.
const SHARED_BYTES_PER_SESSION: u64 = 4 << 20;

/// Looks between two sessions ended for the same growth: time enough for a context's blobs to be given back.
const LOOKS_AFTER_AN_END: u32 = 15;

/// All sessions of one browser that are under watch.
#[derive(Default)]
pub(crate) struct Watch {
    sessions: Mutex<Vec<Weak<Watched>>>,
    wake: Notify,
}

/// The processes that all sessions share, and what they held before the first guest.
pub(crate) struct SharedProcesses {
    pids: Vec<u32>,
    before_bytes: u64,
    patience: u32,
}

impl SharedProcesses {
    pub(crate) fn new(pids: Vec<u32>) -> Self {
        let before_bytes = held(&pids);
        Self { pids, before_bytes, patience: 0 }
    }

    /// Ends the session that fills what others need: the one that has touched the most pages since the last look.
    ///
    /// No process says for whom it holds memory, so this is a judgement; whoever merely computes touches no new pages.
    fn look(&mut self, sessions: &[Arc<Watched>]) {
        let most = sessions.iter().map(|session| (session.fresh_faults(), session)).max_by_key(|(faults, _)| *faults);
        self.patience = self.patience.saturating_sub(1);
        let by_number = SHARED_BYTES_PER_SESSION * sessions.len() as u64;
        if self.patience == 0 && held(&self.pids) > self.before_bytes + SHARED_PROCESSES_GROWTH_BYTES + by_number {
            self.patience = LOOKS_AFTER_AN_END;
            if let Some((_, session)) = most {
                session.end();
            }
        }
    }
}

fn held(pids: &[u32]) -> u64 {
    pids.iter().filter_map(|pid| resident(*pid)).map(|resident| resident.private).sum()
}

impl Watch {
    /// Watches a session until it is dropped.
    pub(crate) fn add(&self, watched: &Arc<Watched>) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(watched));
        self.wake.notify_one();
    }

    /// Looks at every session again and again; sleeps while there is none.
    pub(crate) async fn keep(&self, mut shared: SharedProcesses) {
        loop {
            let sessions: Vec<Arc<Watched>> = {
                let mut list = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                list.retain(|session| session.strong_count() > 0);
                list.iter().filter_map(Weak::upgrade).collect()
            };
            if sessions.is_empty() {
                self.wake.notified().await;
                continue;
            }
            for session in &sessions {
                session.look();
            }
            shared.look(&sessions);
            drop(sessions);
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_guests_growth_counts() {
        let before = Resident { private: 15 << 20, shared: 80 << 20 };
        let check = |private: u64, shared: u64, expected: u64| {
            assert_eq!(grown(before, Resident { private: private << 20, shared: shared << 20 }), expected << 20);
        };
        check(15, 80, 0);
        check(10, 70, 0);
        check(115, 100, 100);
        check(15, 80 + 96 + 30, 30);
    }
}
