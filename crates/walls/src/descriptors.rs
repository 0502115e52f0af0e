//! Open descriptors by their numbers: which ones a process was given, which it keeps, and the end of all others.
//!
//! Numbers mean something only right after a start or a fork, before anything else has opened files. Whoever
//! [adopts](adopt) a number or [places](place) something there owns that number.

use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

use crate::sys;

/// Where descriptors are moved that must not be in the way of the low numbers.
const HIGH: RawFd = 16;

/// Takes ownership of a descriptor that this process was started with, or that it has [placed](place) there.
///
/// `None` when nothing is open under that number. Each number may be adopted once.
pub fn adopt(number: RawFd) -> Option<OwnedFd> {
    sys::adopt(number)
}

/// Makes `number` a second name for `descriptor`, which programs inherit; what was open there is closed.
pub fn place(descriptor: impl AsFd, number: RawFd) -> io::Result<()> {
    sys::place(descriptor.as_fd(), number)
}

/// A second name for a descriptor, above the low numbers and closed on exec.
pub fn duplicate_high(descriptor: impl AsFd) -> io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(descriptor, HIGH).map_err(Into::into)
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: RawFd) -> io::Result<()> {
    sys::close_range(first, 0)
}

/// Has every descriptor from `first` on closed on exec.
pub(crate) fn keep_from_exec(first: RawFd) -> io::Result<()> {
    sys::close_range(first, libc::CLOSE_RANGE_CLOEXEC)
}
