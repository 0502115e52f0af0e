//! Copies of this process, and what a freshly started process gets rid of.
//!
//! All of it is for a process with a single thread: a copy would hold the locks of threads that it does not have, and
//! another thread might read the environment while it is emptied.

use std::io;

use rustix::process::Pid;

use crate::sys;

/// Which side of a fork we are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forked {
    /// The old process; holds the id of the new one.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Makes a copy of this process.
pub fn fork() -> io::Result<Forked> {
    sys::fork().map(side)
}

/// Makes a copy of this process whose parent is *our* parent, so that it can wait for the copy itself.
///
/// A way to step into a new PID namespace without a process that only stands between.
pub fn fork_sibling() -> io::Result<Forked> {
    sys::fork_sibling().map(side)
}

fn side(result: libc::c_long) -> Forked {
    i32::try_from(result).ok().and_then(Pid::from_raw).map_or(Forked::Child, Forked::Parent)
}

/// Ends the process at once: no destructors, no exit handlers, nothing that belongs to the process it was forked from.
pub fn exit_now(code: i32) -> ! {
    sys::exit_now(code)
}

/// Empties the environment and settles the time zone, which the C library otherwise reads from a file later on.
pub fn forget_environment() {
    sys::forget_environment();
}

/// Undoes what the starting program may have set: nothing is blocked, these signals have their default action, and broken
/// pipes are ignored.
pub fn reset_signals(signals: impl IntoIterator<Item = i32>) {
    sys::reset_signals(signals);
}
