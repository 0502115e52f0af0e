//! One program that Ship has started, from its start to the end of its last descendant.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use cove_walls::process::{kill, readable};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::oneshot;

use super::Mark;
use super::family::Registered;
use super::tree::Tree;

/// How long a program that was killed may take to be seen dead.
const LAST_NEWS: Duration = Duration::from_millis(200);

/// How long a process may take to become its program; usually a millisecond.
const EXECUTION: Duration = Duration::from_secs(2);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Its exit code; 128 + n when signal n ended it, as shells say it.
    pub(crate) code: i32,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
}

impl End {
    /// It was killed, and has not been seen dead yet.
    const UNKNOWN: Self = Self { code: 128 + libc::SIGKILL, signal: Some(libc::SIGKILL) };

    /// Whether it, or its last child as shells tell it, was killed.
    pub(crate) fn is_kill(self) -> bool {
        self.code == 128 + libc::SIGKILL
    }

    fn from_wait_status(status: i32) -> Self {
        match status & 0x7f {
            0 => Self { code: status >> 8 & 0xff, signal: None },
            signal => Self { code: 128 + signal, signal: Some(signal) },
        }
    }
}

/// The end of a whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeEnd {
    /// How the program itself ended.
    pub(crate) end: End,
    /// Whether nobody is left. Otherwise the rest is still being ended.
    pub(crate) whole: bool,
}

/// A running program with everything below it. Dropping it ends them all, unless they were [released](Self::release).
#[derive(Debug)]
pub(crate) struct Program {
    pid: i32,
    handle: OwnedFd,
    /// Why it could not be executed, if so.
    trouble: OwnedFd,
    /// `None`: one of ours, which ends what it starts by itself.
    mark: Option<Mark>,
    status: oneshot::Receiver<i32>,
    end: Option<End>,
    released: bool,
}

impl Program {
    pub(super) fn new(started: Registered, mark: Option<Mark>) -> Self {
        let Registered { process, status } = started;
        Self {
            pid: process.pid,
            handle: process.handle,
            trouble: process.trouble,
            mark,
            status,
            end: None,
            released: false,
        }
    }

    /// The program's own id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// The mark of everybody below it.
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Waits until the program itself has ended; what it left behind may go on. May be dropped and called again.
    pub(crate) async fn ended(&mut self) -> End {
        match self.end {
            Some(end) => end,
            None => {
                let status = (&mut self.status).await;
                *self.end.insert(status.map_or(End::UNKNOWN, End::from_wait_status))
            }
        }
    }

    /// Waits until the process has become its program, and says why it could not, if so. Of one that has not got that far
    /// in time nothing is known, and it goes on; its [trouble](Self::trouble) can be asked for when it has ended.
    pub(crate) async fn executed(&self) -> io::Result<()> {
        // The pipe ends when the program begins.
        if let Ok(told) = tokio::time::timeout(EXECUTION, readable(&self.trouble)).await {
            told?;
        }
        self.trouble().map_or(Ok(()), Err)
    }

    /// Why it could not be executed; to be asked when it has ended. It is said once.
    pub(crate) fn trouble(&self) -> Option<io::Error> {
        let mut number = [0; 4];
        match rustix::io::read(&self.trouble, &mut number) {
            Ok(4) => Some(io::Error::from_raw_os_error(i32::from_ne_bytes(number))),
            _ => None,
        }
    }

    /// Sends a signal to the program's process group, as a terminal would.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.end.is_none()) {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends the program and everybody below it, also those who forked twice or left their session.
    pub(crate) async fn end_tree(&mut self) -> TreeEnd {
        // By its handle: it may not have its mark yet.
        kill(&self.handle);
        let whole = match self.mark {
            Some(mark) => Tree::Of(mark).end().await,
            None => true,
        };
        self.released = true;
        let seen = tokio::time::timeout(LAST_NEWS, self.ended()).await.ok();
        TreeEnd { end: seen.unwrap_or(End::UNKNOWN), whole: whole && seen.is_some() }
    }

    /// Lets go of what the program has left running.
    pub(crate) fn release(mut self) {
        self.released = true;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        kill(&self.handle);
        let Some(mark) = self.mark else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(Tree::Of(mark).end())),
            Err(_) => Tree::Of(mark).kill_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_read_as_shells_say_them() {
        assert_eq!(End::from_wait_status(0), End { code: 0, signal: None });
        assert_eq!(End::from_wait_status(3 << 8), End { code: 3, signal: None });
        assert_eq!(End::from_wait_status(15), End { code: 143, signal: Some(15) });
        assert_eq!(End::from_wait_status(0x80 | 11), End { code: 139, signal: Some(11) });
    }
}
