//! Watches the browser's memory where no control group counts it: all its processes, shared memory included.
//!
//! The kernel limits each process; this limits their sum. A process that takes everything between two checks is faster,
//! so `/meta` says `watchdog`, and Bay reports that memory is watched and not enforced.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::governor::family;

/// A page takes new memory at some 2 GB/s.
const INTERVAL: Duration = Duration::from_millis(100);

/// One process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ProcessMemory {
    pid: u32,
    private_bytes: u64,
    /// Shared with at least one other process: the browser passes it between its own.
    shared_bytes: u64,
}

/// Watches a browser until it has gone.
pub(crate) fn start(root: u32, limit_bytes: u64) {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let looked = tokio::task::spawn_blocking(move || look(root, limit_bytes)).await;
            if !matches!(looked, Ok(true)) {
                return;
            }
        }
    });
}

/// One look; `false` when the browser has gone.
fn look(root: u32, limit_bytes: u64) -> bool {
    let mut held: Vec<ProcessMemory> = family(root).into_iter().filter_map(read).collect();
    if !held.iter().any(|process| process.pid == root) {
        return false;
    }
    if total(&held) > limit_bytes {
        for process in &mut held {
            look_closely(process);
        }
    }
    if total(&held) > limit_bytes {
        // A page before the browser itself, which is ended only where nobody else is left.
        let weight = |process: &&ProcessMemory| (process.pid != root, process.private_bytes + process.shared_bytes);
        let largest = held.iter().max_by_key(weight);
        if let Some(pid) = largest.and_then(|process| Pid::from_raw(process.pid.cast_signed())) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    true
}

/// Shared memory counts for two, so half of the sum is the least that there is, and so is what one process has.
fn total(held: &[ProcessMemory]) -> u64 {
    let private: u64 = held.iter().map(|process| process.private_bytes).sum();
    let shared: u64 = held.iter().map(|process| process.shared_bytes).sum();
    let most = held.iter().map(|process| process.shared_bytes).max().unwrap_or(0);
    private + most.max(shared / 2)
}

fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

fn read(pid: u32) -> Option<ProcessMemory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let sum = |names: &[&str]| names.iter().filter_map(|name| kib(&status, name)).sum();
    Some(ProcessMemory { pid, private_bytes: sum(&["RssAnon", "VmSwap", "VmPTE"]), shared_bytes: sum(&["RssShmem"]) })
}

/// Pages that several share (copies of one zygote) count once, where the kernel lets us see.
fn look_closely(process: &mut ProcessMemory) {
    let Ok(rollup) = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.pid)) else { return };
    if let (Some(private), Some(shared)) = (kib(&rollup, "Pss_Anon"), kib(&rollup, "Pss_Shmem")) {
        process.private_bytes = private + kib(&rollup, "SwapPss").unwrap_or(0);
        // Already a share of it; `total` halves what is not.
        process.shared_bytes = shared * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_counts_once() {
        let held = |private_bytes, shared_bytes| ProcessMemory { pid: 1, private_bytes, shared_bytes };
        assert_eq!(total(&[held(10, 100), held(5, 100)]), 115);
        assert_eq!(total(&[held(10, 100), held(5, 0)]), 115);
        assert_eq!(total(&[held(0, 60), held(0, 60), held(0, 60), held(0, 60)]), 120);
    }

    #[test]
    fn own_memory_is_read() {
        let own = read(std::process::id()).unwrap();
        assert!(own.private_bytes > 0, "{own:?}");
        assert!(!look(u32::MAX / 2, 1), "nobody has this number");
    }
}
