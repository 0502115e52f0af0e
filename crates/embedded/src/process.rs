//! A child's process, held by descriptor: what is killed here can never be somebody else who got the same number.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use cove_walls::process;

/// A process that dies with this value.
#[derive(Debug)]
pub(crate) struct Process {
    descriptor: OwnedFd,
}

impl Process {
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        Self { descriptor }
    }

    /// Ends it now, whatever it is doing. It may be gone already.
    pub(crate) fn kill(&self) {
        process::kill(&self.descriptor);
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        process::has_ended(&self.descriptor)
    }

    /// How long it has computed: on a processor, or ready to while others had them all; `None` when it is gone.
    pub(crate) fn computed(&self) -> Option<Duration> {
        let pid = process::number(&self.descriptor)?;
        let ran = process::run_time(pid).ok()?;
        Some(Duration::from_nanos(ran.saturating_add(process::wait_time(pid))))
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&self, at_most: Duration) -> io::Result<()> {
        if self.has_ended() {
            return Ok(());
        }
        tokio::time::timeout(at_most, process::ended(&self.descriptor)).await?
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A forked child as it comes from the zygote: a process, the line to it, and its number.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) process: Process,
    pub(crate) socket: UnixStream,
    pub(crate) number: u64,
}
