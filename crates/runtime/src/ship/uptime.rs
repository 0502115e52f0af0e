//! The file behind the sandbox's `/proc/uptime`, which Ship writes: each second while there is somebody to read it.

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use cove_cell::{MemoryLedger, tell_uptime};

/// `ps` reckons in seconds with what it reads there.
const EVERY: Duration = Duration::from_secs(1);

/// The file, and who waits until somebody comes.
#[derive(Debug, Clone)]
pub(super) struct Uptime(Arc<(Mutex<File>, Notify)>);

impl Uptime {
    pub(super) fn new(file: File) -> Self {
        Self(Arc::new((Mutex::new(file), Notify::new())))
    }

    fn tell(&self) {
        let _ = tell_uptime(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Somebody is about to be started: what it reads is true from its beginning.
    pub(super) fn go_on(&self) {
        self.tell();
        self.0.1.notify_one();
    }

    /// Keeps it up to date from now on. While the watch over memory sleeps, there is nobody but Ship.
    pub(super) fn keep(self, memory: Option<MemoryLedger>) {
        tokio::spawn(async move {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                ticks.tick().await;
                self.tell();
                if memory.as_ref().is_some_and(MemoryLedger::watch_sleeps) {
                    self.0.1.notified().await;
                }
            }
        });
    }
}
