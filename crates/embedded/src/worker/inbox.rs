//! What the host says to one child, frame by frame. Blocks; the child has nothing else to do meanwhile.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::wire::{Frames, ToChild};

/// What has come.
pub(super) enum Received {
    /// A frame.
    Frame(ToChild, Vec<u8>),
    /// Nothing, in the time that was given.
    Elapsed,
    /// The host is gone, or speaks another language.
    Closed,
}

/// The child's end of its socket.
pub(crate) struct Inbox {
    socket: OwnedFd,
    frames: Frames,
}

impl Inbox {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, frames: Frames::default() }
    }

    /// Whether the host has said nothing yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.frames.is_empty() && !self.readable_before(Instant::now())
    }

    /// Waits for the next frame, at most so long.
    pub(super) fn next(&mut self, at_most: Option<Duration>) -> Received {
        let deadline = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
        loop {
            // The host is trusted: a frame may be as long as it says.
            match self.frames.next(|_| Some(usize::MAX)) {
                Ok(Some(frame)) => {
                    return match ToChild::from_byte(frame.kind) {
                        Some(kind) => Received::Frame(kind, frame.payload.to_vec()),
                        None => Received::Closed,
                    };
                }
                Ok(None) => {}
                Err(_) => return Received::Closed,
            }
            if let Some(deadline) = deadline
                && !self.readable_before(deadline)
            {
                return Received::Elapsed;
            }
            match recv(&self.socket, spare_capacity(self.frames.spare_buffer()), RecvFlags::empty()) {
                Ok((0, _)) => return Received::Closed,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Received::Closed,
            }
        }
    }

    fn readable_before(&self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref()) {
                Ok(0) if left.is_zero() => return false,
                Ok(0) | Err(Errno::INTR) => {}
                _ => return true,
            }
        }
    }
}
