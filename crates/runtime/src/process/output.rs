//! What a program writes: read as it comes, kept as far as it is worth.
//!
//! The head says what was asked, the tail says how it ended; the middle of a gigabyte says nothing. A program is never
//! stopped for writing much, and never stands still because nobody reads.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cove_core::Excerpt;
use cove_runtime_api::{OutputStream, ProcessStream};
use tokio::net::unix::pipe;

use super::live::Live;
use super::transcript::Transcript;

/// Who hears what a program writes, while it writes.
#[derive(Debug, Clone)]
pub(crate) enum Hearer {
    /// Who may miss something, and is not waited for.
    Live(Live, OutputStream),
    /// Who is waited for.
    Transcript(Arc<Transcript>, ProcessStream),
}

impl Hearer {
    fn push(&self, bytes: &[u8]) {
        match self {
            Self::Live(live, stream) => live.push(*stream, bytes),
            Self::Transcript(transcript, stream) => transcript.push(*stream, bytes),
        }
    }

    fn is_full(&self) -> bool {
        matches!(self, Self::Transcript(transcript, _) if transcript.is_full())
    }
}

/// One of the two output pipes of a program.
#[derive(Debug)]
pub(crate) struct Capture {
    pipe: Option<pipe::Receiver>,
    pub(crate) kept: Excerpt,
    /// Who else hears it.
    hearer: Option<Hearer>,
}

/// Pipes that are read for nobody. One process can hold any number of them open, and Ship needs its descriptors.
const MAX_FORGOTTEN: usize = 256;
static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);

/// As much as a pipe holds.
const BLOCK_BYTES: usize = 64 << 10;

impl Capture {
    /// A pipe: our end, and the program's.
    pub(crate) fn open(limit_bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let pipe = Some(pipe::Receiver::from_owned_fd(ours)?);
        Ok((Self { pipe, kept: Excerpt::halves(limit_bytes), hearer: None }, theirs))
    }

    /// From now on somebody else hears it, too; or nobody any more.
    pub(crate) fn tell(&mut self, hearer: Option<Hearer>) {
        self.hearer = hearer;
    }

    /// Waits for more and takes it; never returns once everybody has closed the other end. May be dropped any time.
    pub(crate) async fn fill(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        match pipe.readable().await {
            Ok(()) => self.read(true, |pipe, block| pipe.try_read(block)),
            Err(_) => self.pipe = None,
        }
    }

    /// Takes what is there now, asked of the kernel itself: the runtime may not have heard of it yet.
    pub(crate) fn drain(&mut self) {
        self.read(false, |pipe, block| rustix::io::read(pipe, block).map_err(Into::into));
    }

    fn read(&mut self, may_wait: bool, read: impl Fn(&pipe::Receiver, &mut [u8]) -> io::Result<usize>) {
        let mut block = [0; BLOCK_BYTES];
        // Bounded, so that a program that writes for ever does not keep us here for ever.
        for _ in 0..64 {
            let Some(pipe) = &self.pipe else { return };
            if may_wait && self.hearer.as_ref().is_some_and(Hearer::is_full) {
                return;
            }
            match read(pipe, &mut block) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    self.kept.push(&block[..length]);
                    if let Some(hearer) = &self.hearer {
                        hearer.push(&block[..length]);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    /// Goes on reading and forgetting for those whom the program left behind, so that they neither block nor break.
    pub(crate) fn forget(mut self) {
        if self.pipe.is_none() || FORGOTTEN.fetch_add(1, Ordering::Relaxed) >= MAX_FORGOTTEN {
            // Too many: whoever still writes there hears that nobody reads.
            if self.pipe.take().is_some() {
                FORGOTTEN.fetch_sub(1, Ordering::Relaxed);
            }
            return;
        }
        self.kept = Excerpt::halves(2);
        self.hearer = None;
        tokio::spawn(async move {
            while self.pipe.is_some() {
                self.fill().await;
            }
            FORGOTTEN.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runtime's own opinion of a pipe may be old; what was written before a program ended must be there.
    #[tokio::test]
    async fn draining_asks_the_kernel() {
        for _ in 0..200 {
            let (mut capture, end) = Capture::open(100).unwrap();
            rustix::io::write(&end, b"all of it").unwrap();
            capture.drain();
            assert_eq!(capture.kept.text(), "all of it");
        }
    }
}
