//! The watchdog: where the kernel does not count memory for us, somebody has to look.
//!
//! It looks often enough to catch what grows at an ordinary pace. What takes everything between two looks is faster;
//! that is why a watchdog is the last resort and is reported as what it is.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::{proportional_bytes, resident_bytes_by_process};

const INTERVAL: Duration = Duration::from_millis(100);

/// Watches everybody in this `/proc` but ourselves, for as long as the runtime runs.
pub(crate) fn watch_memory(limit_bytes: u64) {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let mut used = resident_bytes_by_process();
            let sum = |used: &[(i32, u64)]| used.iter().map(|(_, bytes)| bytes).sum::<u64>();
            if sum(&used) <= limit_bytes {
                continue;
            }
            // Looked at more closely: pages that several share (libraries, copies of one interpreter) count once.
            for (pid, bytes) in &mut used {
                *bytes = proportional_bytes(*pid).unwrap_or(*bytes);
            }
            if sum(&used) <= limit_bytes {
                continue;
            }
            let largest = used.into_iter().max_by_key(|(_, bytes)| *bytes);
            if let Some(pid) = largest.and_then(|(pid, _)| Pid::from_raw(pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    });
}
