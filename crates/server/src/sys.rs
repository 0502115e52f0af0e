//! The only unsafe module: how much of what was written the peer has not taken yet. The kernel says it by `ioctl` alone.

#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd as _};

/// Bytes in a TCP socket's send queue, whether sent or not, that the peer has not acknowledged. A socket about which
/// nothing can be learned counts as one with none.
pub(crate) fn unacknowledged(socket: impl AsFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is borrowed for the call, and TIOCOUTQ (SIOCOUTQ for sockets) writes one int to a local
    // that outlives it.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if done == 0 { usize::try_from(bytes).unwrap_or_default() } else { 0 }
}
