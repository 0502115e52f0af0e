//! The memory watchdog: where no control group counts memory, somebody has to look.
//!
//! It looks often enough to catch a program that grows at an ordinary pace and ends the largest process when all
//! together are over the limit. A program that takes everything within one interval is faster; that is why this is the
//! last resort and is reported as what it is.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::resident_bytes_by_process;

const INTERVAL: Duration = Duration::from_millis(100);

/// Watches everybody in this `/proc` but ourselves, for as long as the runtime runs.
pub(crate) fn watch_memory(limit_bytes: u64) {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let used = resident_bytes_by_process();
            if used.iter().map(|(_, bytes)| bytes).sum::<u64>() <= limit_bytes {
                continue;
            }
            let largest = used.into_iter().max_by_key(|(_, bytes)| *bytes);
            if let Some(pid) = largest.and_then(|(pid, _)| Pid::from_raw(pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    });
}
