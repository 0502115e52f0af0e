//! The watchdogs: where the kernel does not count memory or disk for us, somebody has to look.
//!
//! They look often enough to catch what grows at an ordinary pace. What takes everything between two looks is faster;
//! that is why a watchdog is the last resort and is reported as what it is.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{proportional_bytes, resident_bytes_by_process};
use crate::ship::Workspace;

const INTERVAL: Duration = Duration::from_millis(100);

/// A look at a large workspace takes long; then it is looked at less often, so that looking costs a twentieth at most.
const REST: u32 = 20;

/// Deeper folders are not counted; making them takes longer than filling a disk otherwise.
const MAX_DEPTH: usize = 128;

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

/// Ends all guests when the workspace is over its limit and still grows. Who makes room is left alone.
pub(crate) fn watch_workspace(workspace: Arc<Workspace>, limit_bytes: u64) {
    tokio::spawn(async move {
        let mut before = 0;
        loop {
            let begin = Instant::now();
            let counted = Arc::clone(&workspace);
            let used = tokio::task::spawn_blocking(move || counted.root().map_or(0, |root| bytes_below(&root, 0)));
            let Ok(used) = used.await else { return };
            if used > limit_bytes && used > before {
                for (pid, _) in resident_bytes_by_process() {
                    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
                }
            }
            before = used;
            tokio::time::sleep(INTERVAL.max(begin.elapsed() * REST)).await;
        }
    });
}

/// What a folder takes on disk, links counted as links.
fn bytes_below(folder: &OwnedFd, depth: usize) -> u64 {
    let Ok(entries) = Dir::read_from(folder) else { return 0 };
    let mut sum = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_bytes() == b"." || name.to_bytes() == b".." {
            continue;
        }
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        sum += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        if FileType::from_raw_mode(stat.st_mode).is_dir() && depth < MAX_DEPTH {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(inner) = openat(folder, name, flags, Mode::empty()) {
                sum += bytes_below(&inner, depth + 1);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_weighs_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/c"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        let folder = std::fs::File::open(dir.path()).unwrap().into();
        let bytes = bytes_below(&folder, 0);
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
    }
}
