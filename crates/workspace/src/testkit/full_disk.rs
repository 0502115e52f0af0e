//! A disk that is full from some byte on.

use std::cell::Cell;

use rustix::io::Errno;

thread_local! {
    /// The most bytes that one write of this thread may have, and what a larger one is refused with.
    pub static ROOM: Cell<Option<(usize, Errno)>> = const { Cell::new(None) };
}

pub(crate) fn check(bytes: usize) -> Result<(), Errno> {
    match ROOM.get() {
        Some((room, errno)) if bytes > room => Err(errno),
        _ => Ok(()),
    }
}
