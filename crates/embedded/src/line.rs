//! The connection to one child: bytes out in one queue, frames in from one buffer, neither waiting for the other.
//!
//! If the host only wrote while its child only wrote, both would wait for ever; so a wait here is always for both
//! directions.

use std::io;
use std::os::unix::net::UnixStream as StdStream;

use futures_util::FutureExt as _;
use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::UnixStream;

use crate::wire::{Frame, Frames, ToChild, WireError, frame_into};

/// The host's end of a child's socket.
#[derive(Debug)]
pub(crate) struct Line {
    stream: UnixStream,
    frames: Frames,
    out: Vec<u8>,
    sent: usize,
}

/// How much unsent output is kept allocated between runs.
const KEEP_BYTES: usize = 64 << 10;

impl Line {
    pub(crate) fn new(socket: StdStream) -> io::Result<Self> {
        Ok(Self { stream: UnixStream::from_std(socket)?, frames: Frames::default(), out: Vec::new(), sent: 0 })
    }

    /// Adds a frame to what is to be sent.
    pub(crate) fn queue(&mut self, kind: ToChild, write: impl FnOnce(&mut Vec<u8>)) {
        frame_into(&mut self.out, kind as u8, write);
    }

    /// Bytes that the child has not taken yet.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Sends what the socket takes now.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        while self.unsent_bytes() > 0 {
            match self.stream.try_write(&self.out[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.unsent_bytes() == 0 {
            self.sent = 0;
            self.out.clear();
            if self.out.capacity() > KEEP_BYTES {
                self.out = Vec::new();
            }
        } else if self.sent > KEEP_BYTES && self.sent > self.out.len() / 2 {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    /// Takes what is there to read. `Ok(false)`: the child has closed its end.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        // Polled once, and not `try_read`: this way the runtime knows from a short read that the socket is empty, and
        // the next look at it costs no system call.
        match self.stream.read_buf(self.frames.spare_buffer()).now_or_never().unwrap_or(Ok(usize::MAX)) {
            Ok(0) => Ok(false),
            Ok(_) => Ok(true),
            // A killed child resets the line instead of closing it when something was still on its way to it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The next whole frame that has arrived.
    pub(crate) fn next(&mut self, limit: impl Fn(u8) -> Option<usize>) -> Result<Option<Frame<'_>>, WireError> {
        self.frames.next(limit)
    }

    /// Whether bytes have arrived that nobody has asked for.
    pub(crate) fn has_rest(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Waits until there is something to read, or room for what is still to be sent.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        let interest =
            if self.unsent_bytes() > 0 { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.stream.ready(interest).await.map(drop)
    }
}
