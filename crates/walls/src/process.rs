//! Another process: held by descriptor, ended for certain, and known to be gone.
//!
//! What is ended by its descriptor can never be somebody else who got the same number.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getppid, kill_process_group, pidfd_send_signal, set_parent_process_death_signal};
use tokio::io::unix::AsyncFd;

use crate::sys;

/// Ends the process of a handle now, whatever it is doing. It may be gone already.
pub fn kill(handle: impl AsFd) {
    let _ = pidfd_send_signal(handle, Signal::KILL);
}

/// Ends every process of a group, by the number of its leader.
pub fn kill_group(leader: u32) {
    if let Some(leader) = Pid::from_raw(leader.cast_signed()) {
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

/// The numbers of all processes of this PID namespace.
pub fn all() -> io::Result<impl Iterator<Item = u32>> {
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// How long a process has run on processors, with all of its threads, in nanoseconds; an error when it has gone.
pub fn run_time(pid: u32) -> io::Result<u64> {
    sys::run_time(pid)
}

/// How long a process has waited for a processor that others used, in nanoseconds; 0 where this kernel does not tell.
/// Of its first thread alone: those whom this is asked of have one that computes.
pub fn wait_time(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    // Time on processors, time spent waiting for one, turns.
    stat.split_ascii_whitespace().nth(1).and_then(|waited| waited.parse().ok()).unwrap_or(0)
}

/// The number of the process of a handle, as this PID namespace knows it; `None` when it has gone.
pub fn number(handle: impl AsFd) -> Option<u32> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", handle.as_fd().as_raw_fd())).ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    // -1 once it has been waited for, 0 where it is not of this namespace.
    line.trim().parse().ok().filter(|number| *number > 0)
}

/// Those that a process has made and that live. The list may lack one that comes or goes meanwhile.
pub fn children(pid: u32) -> io::Result<Vec<u32>> {
    let mut all = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may have gone meanwhile.
        let Ok(text) = fs::read_to_string(thread?.path().join("children")) else { continue };
        all.extend(text.split_ascii_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    Ok(all)
}

/// Whether the process of a handle has ended.
pub fn has_ended(handle: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&handle, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Waits until the process of a handle has ended. Needs a runtime with I/O.
pub async fn ended(handle: impl AsFd) -> io::Result<()> {
    readable(handle).await
}

/// Waits until a descriptor can be read, or its other end is closed. Needs a runtime with I/O.
pub async fn readable(descriptor: impl AsFd) -> io::Result<()> {
    sys::watch(descriptor.as_fd())?.readable().await.map(drop)
}

/// Lets the runtime read and write a descriptor that does not block.
pub fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    sys::watch_owned(descriptor)
}

/// This process dies with its parent from now on; an error if the parent, whose number this is, has gone already: then
/// nobody would send the signal any more.
///
/// The kernel means the *thread* that made this process, and forgets the order when the process changes its user.
pub fn die_with_parent(parent: i32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if Pid::as_raw(getppid()) == parent { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
}
