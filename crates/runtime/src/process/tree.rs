//! The tree below a process, read from `/proc`, and its end.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A tree that forks faster than we look is stopped first; so many looks are enough for the fork bombs in the tests
/// with a wide margin.
const MAX_LOOKS: usize = 200;

/// Between two looks, for the kernel to take the dead away.
const PAUSE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy)]
struct Entry {
    pid: i32,
    parent: i32,
    dead: bool,
}

/// `pid (name) state ppid …`; the name may hold anything, also parentheses and newlines.
fn parse(stat: &str) -> Option<Entry> {
    let (pid, rest) = stat.split_once(' ')?;
    let mut fields = rest.get(rest.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    Some(Entry { pid: pid.parse().ok()?, parent: fields.next()?.parse().ok()?, dead: matches!(state, "Z" | "X") })
}

fn numbered() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn everybody() -> Vec<Entry> {
    // `/proc/PID/stat` may be other than UTF-8 by its name field.
    let stat = |pid: i32| fs::read(format!("/proc/{pid}/stat")).ok();
    numbered().filter_map(|pid| parse(&String::from_utf8_lossy(&stat(pid)?))).collect()
}

/// The direct children of a process, the dead ones too.
pub(super) fn children(parent: i32) -> Vec<i32> {
    everybody().iter().filter(|entry| entry.parent == parent).map(|entry| entry.pid).collect()
}

/// Everybody below `root` who is alive.
fn descendants(root: i32) -> Vec<i32> {
    let all = everybody();
    let mut below: HashMap<i32, Vec<Entry>> = HashMap::new();
    for entry in all {
        below.entry(entry.parent).or_default().push(entry);
    }
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(parent) = todo.pop() {
        for entry in below.remove(&parent).unwrap_or_default() {
            todo.push(entry.pid);
            if !entry.dead {
                found.push(entry.pid);
            }
        }
    }
    found
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Stops everybody below `root` until nobody new appears: who is stopped cannot fork.
fn freeze(root: i32) -> Vec<i32> {
    let mut stopped = Vec::new();
    for _ in 0..MAX_LOOKS {
        let new: Vec<_> = descendants(root).into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        for pid in new {
            send(pid, Signal::STOP);
            stopped.push(pid);
        }
    }
    stopped
}

/// Kills a process and everybody below it, without waiting.
pub(super) fn kill_now(root: i32) {
    for pid in freeze(root) {
        send(pid, Signal::KILL);
    }
    send(root, Signal::KILL);
}

/// A keeper, and whose child it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keeper {
    pub(super) pid: i32,
    pub(super) parents: [i32; 2],
}

impl Keeper {
    /// One that this process has started.
    pub(super) fn own(pid: i32) -> Self {
        Self { pid, parents: [std::process::id().cast_signed(); 2] }
    }

    /// Whether it has gone, or is dead and only waits to be buried.
    ///
    /// A number that meanwhile belongs to somebody else's child is a keeper that has gone, too.
    fn has_gone(self) -> bool {
        let stat = fs::read(format!("/proc/{}/stat", self.pid)).ok();
        let entry = stat.and_then(|stat| parse(&String::from_utf8_lossy(&stat)));
        entry.is_none_or(|entry| entry.dead || !self.parents.contains(&entry.parent))
    }

    /// Ends everybody below it; returns when it has gone, at the latest after [`MAX_LOOKS`] pauses.
    ///
    /// That nobody was seen says nothing: a look takes a while, and who forks and ends in the middle of it hides its
    /// child from it. The keeper knows, because the kernel tells it: it goes when its last child has gone. One that
    /// stays although nobody is below it was stopped by a guest, and is killed.
    pub(super) async fn end_below(self) {
        for _ in 0..MAX_LOOKS {
            if self.has_gone() {
                return;
            }
            for pid in freeze(self.pid) {
                send(pid, Signal::KILL);
            }
            if self.has_gone() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        kill_now(self.pid);
    }

    /// Whether `only` is alive directly below it, and nobody else is.
    pub(super) fn has_only(self, only: i32) -> bool {
        let all = everybody();
        let mut below = all.iter().filter(|entry| entry.parent == self.pid && !entry.dead);
        below.next().is_some_and(|entry| entry.pid == only) && below.next().is_none()
    }
}

/// What a process has in memory, each page that it shares counted by its share. `None` where the kernel does not say.
pub(crate) fn proportional_bytes(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Resident memory of everybody in this `/proc` but ourselves, for the watchdog.
pub(crate) fn resident_bytes_by_process() -> Vec<(i32, u64)> {
    let page = rustix::param::page_size() as u64;
    let own = std::process::id().cast_signed();
    let resident = |pid: i32| -> Option<u64> {
        fs::read_to_string(format!("/proc/{pid}/statm")).ok()?.split(' ').nth(1)?.parse::<u64>().ok()
    };
    numbered().filter(|pid| *pid != own).filter_map(|pid| Some((pid, resident(pid)? * page))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_a_parent() {
        let entry = parse("12 (a) S 1 (b) R 7 1 2").unwrap();
        assert_eq!((entry.pid, entry.parent, entry.dead), (12, 7, false));
        assert!(parse("12 (x) Z 3").unwrap().dead);
        for nonsense in ["", "1", "x (a) S 1", "1 a S 1", "1 (a)"] {
            assert!(parse(nonsense).is_none(), "{nonsense:?}");
        }
    }
}
