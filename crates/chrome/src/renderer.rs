//! Renderer processes: how much they hold, whether they live, and their end.
//!
//! Each is held by a descriptor, not by a number: a number may belong to somebody else by the time a signal is sent. The
//! headless shell has one for a tab; the full browser has a second one for the window that nobody sees, and which of them
//! is the page's nobody says. So the processes that came with a tab are watched and ended together.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use cove_walls::{Stat, Status, process};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A renderer that is ours.
#[derive(Debug)]
pub(crate) struct Renderer {
    pid: u32,
    handle: OwnedFd,
}

/// The renderers that came with one tab.
#[derive(Debug)]
pub(crate) struct Renderers(Vec<Renderer>);

impl Renderers {
    /// Takes hold of running processes; `None` if there is none, or one is gone already.
    pub(crate) fn open(pids: &[u32]) -> Option<Self> {
        let all: Option<Vec<Renderer>> = pids.iter().map(|pid| Renderer::open(*pid)).collect();
        all.filter(|all| !all.is_empty()).map(Self)
    }

    /// What they hold together; `None` when all are gone.
    pub(crate) fn resident(&self) -> Option<Resident> {
        let each = self.0.iter().filter_map(Renderer::resident);
        each.reduce(|a, b| Resident { private: a.private + b.private, shared: a.shared + b.shared })
    }

    /// Pages they have touched for the first time since they began.
    pub(crate) fn faults(&self) -> Option<u64> {
        self.0.iter().filter_map(Renderer::faults).reduce(|a, b| a + b)
    }

    /// How the one that is walled in worst is; `None` when one is gone.
    pub(crate) fn walls(&self) -> Option<Walls> {
        let each: Option<Vec<Walls>> = self.0.iter().map(Renderer::walls).collect();
        each?.into_iter().min_by_key(|walls| (walls.seccomp == 2, walls.no_new_privileges))
    }

    /// Ends them, certainly.
    pub(crate) fn kill(&self) {
        self.0.iter().for_each(Renderer::kill);
    }

    /// Waits until all are gone; `false` when one is still there after `wait`.
    pub(crate) async fn gone_within(&self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        for one in &self.0 {
            if !one.gone_within(until.saturating_duration_since(Instant::now())).await {
                return false;
            }
        }
        true
    }

    /// Whether one of them is gone.
    pub(crate) async fn is_broken(&self) -> bool {
        for one in &self.0 {
            if one.gone_within(Duration::ZERO).await {
                return true;
            }
        }
        false
    }
}

/// Resident memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Resident {
    /// What only this process has.
    pub(crate) private: u64,
    /// Files and shared memory.
    pub(crate) shared: u64,
}

/// How a process is walled in, from its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walls {
    pub(crate) seccomp: u32,
    pub(crate) no_new_privileges: bool,
}

impl Renderer {
    /// Takes hold of a running process.
    pub(crate) fn open(pid: u32) -> Option<Self> {
        let raw = Pid::from_raw(pid.cast_signed())?;
        Some(Self { pid, handle: pidfd_open(raw, PidfdFlags::empty()).ok()? })
    }

    /// What it holds now; `None` when it is gone.
    fn resident(&self) -> Option<Resident> {
        resident(self.pid)
    }

    /// Pages it has touched for the first time since it began: who fills memory, its own or another's, touches pages.
    fn faults(&self) -> Option<u64> {
        Stat::of(self.pid)?.faults()
    }

    /// How it is walled in; `None` when it is gone.
    pub(crate) fn walls(&self) -> Option<Walls> {
        walls_in(&Status::of(self.pid).ok()?)
    }

    /// Ends it, certainly.
    fn kill(&self) {
        process::kill(&self.handle);
    }

    /// Waits until it is gone; `false` when it is still there after `wait`.
    async fn gone_within(&self, wait: Duration) -> bool {
        tokio::time::timeout(wait, process::ended(&self.handle)).await.is_ok_and(|ready| ready.is_ok())
    }
}

/// What a process holds; `None` when there is no such process.
pub(crate) fn resident(pid: u32) -> Option<Resident> {
    parse_statm(&fs::read_to_string(format!("/proc/{pid}/statm")).ok()?)
}

fn parse_statm(text: &str) -> Option<Resident> {
    let mut pages = text.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
    let page = rustix::param::page_size() as u64;
    Some(Resident { private: resident.saturating_sub(shared) * page, shared: shared * page })
}

fn walls_in(status: &Status) -> Option<Walls> {
    let field = |name: &str| status.field(name)?.parse::<u32>().ok();
    Some(Walls { seccomp: field("Seccomp")?, no_new_privileges: field("NoNewPrivs")? == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        let page = rustix::param::page_size() as u64;
        let read = parse_statm("379541724 23305 19600 1 0 57 0\n");
        assert_eq!(read, Some(Resident { private: 3705 * page, shared: 19600 * page }));
        let walls = walls_in(&"Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n".into());
        assert_eq!(walls, Some(Walls { seccomp: 2, no_new_privileges: true }));
        assert_eq!(walls_in(&"Name:\tx\n".into()), None);
        let own = Renderer::open(std::process::id()).unwrap();
        assert!(own.resident().unwrap().private > 0 && own.faults().unwrap() > 0);
    }
}
