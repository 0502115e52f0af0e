//! One program that Ship has started, from its start to the end of its last descendant.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe;

use super::tree::{self, Keeper};
use crate::sys::keeper::{News, Started};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Its exit code; 128 + n when signal n ended it, as shells say it.
    pub(crate) code: i32,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
}

impl End {
    /// The keeper is gone and cannot say; only SIGKILL ends a keeper early, and it ends its program's command too.
    const UNKNOWN: Self = Self { code: 128 + libc::SIGKILL, signal: Some(libc::SIGKILL) };

    fn from_wait_status(status: i32) -> Self {
        match status & 0x7f {
            0 => Self { code: status >> 8 & 0xff, signal: None },
            signal => Self { code: 128 + signal, signal: Some(signal) },
        }
    }
}

/// A running program with everything below it. Dropping it ends them all, unless they were [released](Self::release).
#[derive(Debug)]
pub(crate) struct Program {
    keeper: Keeper,
    news: pipe::Receiver,
    pid: Option<i32>,
    end: Option<End>,
    /// The keeper has gone, and with it everybody below.
    gone: bool,
    released: bool,
}

impl Program {
    pub(super) fn new(started: Started) -> io::Result<Self> {
        let keeper = started.keeper.cast_signed();
        let news = pipe::Receiver::from_owned_fd(started.news).inspect_err(|_| tree::kill_now(keeper))?;
        Ok(Self { keeper: Keeper::own(keeper), news, pid: None, end: None, gone: false, released: false })
    }

    /// A program whose keeper somebody else has started: one of `parents`, who are ended if this fails.
    pub(crate) async fn adopt(news: OwnedFd, parents: [i32; 2]) -> io::Result<Self> {
        let news = pipe::Receiver::from_owned_fd(news)?;
        loop {
            news.readable().await?;
            let mut message = [0; 8];
            match news.try_read(&mut message) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    let Some(News::Keeper(pid)) = News::read(message) else {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    };
                    let keeper = Keeper { pid, parents };
                    return Ok(Self { keeper, news, pid: None, end: None, gone: false, released: false });
                }
            }
        }
    }

    /// Its keeper's id.
    pub(crate) fn keeper(&self) -> i32 {
        self.keeper.pid
    }

    /// Whether `only` is alive directly below the keeper, and nobody else is.
    pub(crate) fn has_only(&self, only: i32) -> bool {
        self.keeper.has_only(only)
    }

    /// Waits for the next word of the keeper; `false` when it has no more. May be dropped and called again.
    async fn hear(&mut self) -> bool {
        let mut message = [0; 8];
        loop {
            if self.news.readable().await.is_err() {
                break;
            }
            match self.news.try_read(&mut message) {
                Ok(8) => match News::read(message) {
                    Some(News::Started(pid)) => self.pid = Some(pid),
                    Some(News::Ended(status)) => self.end = Some(End::from_wait_status(status)),
                    Some(News::Keeper(_)) | None => break,
                },
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    continue;
                }
                Ok(_) | Err(_) => break,
            }
            return true;
        }
        self.gone = true;
        false
    }

    /// The program's own id, as soon as its keeper has said it.
    pub(crate) async fn pid(&mut self) -> Option<i32> {
        while self.pid.is_none() && self.hear().await {}
        self.pid
    }

    /// Waits until the program itself has ended; what it left behind may go on.
    pub(crate) async fn ended(&mut self) -> End {
        while self.end.is_none() && self.hear().await {}
        *self.end.get_or_insert(End::UNKNOWN)
    }

    /// Sends a signal to the program's process group, as a terminal would.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid.and_then(Pid::from_raw).filter(|_| self.end.is_none()) {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends the program and everybody below it, also those who forked twice or left their session.
    pub(crate) async fn end_tree(&mut self) -> End {
        let keeper = self.keeper;
        tokio::select! {
            () = keeper.end_below() => {}
            // The keeper's last word comes sooner than the next look.
            () = async { while self.hear().await {} } => {}
        }
        let end = self.ended().await;
        self.released = true;
        end
    }

    /// Lets go of what the program has left running.
    pub(crate) fn release(mut self) {
        self.released = true;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.released || self.gone {
            return;
        }
        let keeper = self.keeper;
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(keeper.end_below())),
            Err(_) => tree::kill_now(keeper.pid),
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
