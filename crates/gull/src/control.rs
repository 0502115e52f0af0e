//! Who has control of the browser: commands, or one person.
//!
//! A person who has control has the turn that commands wait for, so no command can run beside them. Whoever held it and
//! did something leaves a note for the next command: refs of an earlier snapshot may mean nothing any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedMutexGuard, watch};

use crate::gull::Inner;
use crate::live::Live;

/// Told to the command after.
const ACTED: &str = "a person had control of this browser and used it; the page may have changed: take a new snapshot before using refs";

/// Who holds it, by the watcher's number.
#[derive(Debug)]
pub(crate) struct Control {
    holder: watch::Sender<Option<u64>>,
    ending: watch::Sender<bool>,
    watchers: AtomicU64,
}

impl Default for Control {
    fn default() -> Self {
        Self { holder: watch::channel(None).0, ending: watch::channel(false).0, watchers: AtomicU64::new(0) }
    }
}

impl Control {
    /// A number for a watcher.
    pub(crate) fn number(&self) -> u64 {
        self.watchers.fetch_add(1, Ordering::Relaxed)
    }

    /// Who holds it.
    pub(crate) fn holder(&self) -> Option<u64> {
        *self.holder.borrow()
    }

    /// Whether a person does.
    pub(crate) fn is_held(&self) -> bool {
        self.holder().is_some()
    }

    /// Hears of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<Option<u64>> {
        self.holder.subscribe()
    }

    /// Gull ends: nobody holds it any longer.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Waits until Gull ends.
    pub(crate) async fn ended(&self) {
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }
}

/// Control in a person's hands. Dropping it hands it back.
pub(crate) struct HeldControl {
    inner: Arc<Inner>,
    acted: bool,
    _turn: OwnedMutexGuard<Live>,
}

impl HeldControl {
    pub(crate) fn new(inner: Arc<Inner>, watcher: u64, turn: OwnedMutexGuard<Live>) -> Self {
        inner.control.holder.send_replace(Some(watcher));
        Self { inner, acted: false, _turn: turn }
    }

    /// The person does something.
    pub(crate) fn act(&mut self) {
        self.acted = true;
        self.inner.used();
    }
}

impl Drop for HeldControl {
    fn drop(&mut self) {
        if self.acted {
            self.inner.note(ACTED.to_owned());
            self.inner.cookies_changed();
        }
        self.inner.used();
        self.inner.control.holder.send_replace(None);
    }
}
