//! All keepers of one Ship, and the rule that there is nobody else.
//!
//! Ship's direct children are keepers. When a guest kills a keeper, its orphans fall to process 1; if that is us, they
//! are ended at once: a tree without a keeper could not be ended by its command's time-out any more.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::signal::unix::{SignalKind, signal};

use super::Program;
use super::tree::{self, Keeper};
use crate::sys::keeper::{self, Start};

/// The processes that Ship has started.
#[derive(Debug)]
pub(crate) struct Family {
    keepers: Mutex<HashSet<u32>>,
    /// Whether Ship is process 1 of its sandbox, so that every other process is below it.
    init: bool,
}

impl Family {
    /// An empty family whose dead are buried by a task of the current runtime.
    pub(crate) fn found(init: bool) -> io::Result<Arc<Self>> {
        let family = Arc::new(Self { keepers: Mutex::default(), init });
        let mut ends = signal(SignalKind::child())?;
        let mourner = Arc::downgrade(&family);
        tokio::spawn(async move {
            while ends.recv().await.is_some() {
                let Some(family) = mourner.upgrade() else { break };
                family.bury();
            }
        });
        Ok(family)
    }

    /// Starts a program.
    pub(crate) fn start(self: &Arc<Self>, start: Start<'_>) -> io::Result<Program> {
        // Held while starting: otherwise a look at our children could find one that nobody has claimed yet.
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        let started = keeper::start(start)?;
        keepers.insert(started.keeper);
        Program::new(started)
    }

    /// Ends everybody.
    pub(crate) async fn end_all(&self) {
        let keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for keeper in keepers {
            Keeper::own(keeper.cast_signed()).end_below().await;
        }
    }

    fn bury(&self) {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        keepers.retain(|keeper| !keeper::reap(*keeper));
        if !self.init {
            return;
        }
        for child in tree::children(std::process::id().cast_signed()) {
            if !keepers.contains(&child.cast_unsigned()) {
                tree::kill_now(child);
                keeper::reap(child.cast_unsigned());
            }
        }
    }
}
