//! Who is killed first when memory runs out: any guest before Ship, and before everybody else on the machine.
//!
//! A process's score can be written only by those who may look into it, and guests' processes are copies of Ship, into
//! which nobody may look. So Ship raises its own score while it makes a copy, which inherits it, and whichever of the two runs
//! first lowers Ship's again. A copy that guests stop before that lowers it later, maybe while the next one is made: so
//! each copy's score is looked at. The file that does it was opened while Ship could still be looked into. `/proc` is
//! read-only for guests: none lowers his.
//!
//! Where memory is nearly full, making the copy could be what makes the kernel kill, and Ship would look like a guest: then
//! it does not raise its score, and the supervisor raises the copy's at its next look.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cove_walls::spawn::Lower;
use rustix::fs::{Mode, OFlags, openat};

use crate::MemoryLedger;

/// The highest there is: the kernel takes these processes first, whatever their size.
pub(crate) const GUESTS: &str = "1000";

/// The lowest there is: the kernel never takes such a process.
const NEVER: &str = "-1000";

/// Ship's own score.
#[derive(Debug)]
pub struct OomScore {
    file: File,
    own: String,
    memory: Option<MemoryLedger>,
    /// It is one score, and several threads start programs.
    turn: Mutex<()>,
}

impl OomScore {
    /// Opens it below this `/proc` and sees that it takes.
    pub fn open(proc: impl AsFd) -> io::Result<Self> {
        let file = openat(proc, "self/oom_score_adj", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let mut score = Self { file: file.into(), own: String::new(), memory: None, turn: Mutex::default() };
        score.own = score.read()?;
        drop(score.raise()?);
        match score.read()? {
            now if now == score.own => Ok(score),
            now => Err(io::Error::other(format!("its out-of-memory score stays at {now}"))),
        }
    }

    /// Leaves the score alone while this ledger says that memory is nearly full.
    pub fn minding(mut self, memory: Option<MemoryLedger>) -> Self {
        self.memory = memory;
        self
    }

    /// Whether Ship had better not look like a guest now.
    pub fn must_rest(&self) -> bool {
        self.memory.as_ref().is_some_and(MemoryLedger::is_nearly_full)
    }

    /// Exempts this process, which only root may do.
    pub(crate) fn protect(proc: impl AsFd) -> io::Result<()> {
        let file = openat(proc, "self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        File::from(file).write_all_at(NEVER.as_bytes(), 0)
    }

    fn read(&self) -> io::Result<String> {
        let mut text = [0; 16];
        let length = self.file.read_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text[..length]).trim().to_owned())
    }

    /// For the moment after a copy was made: the file, and what to write to it.
    pub fn lower(&self) -> Lower {
        let mut text = [0; 8];
        let length = self.own.len().min(text.len());
        text[..length].copy_from_slice(&self.own.as_bytes()[..length]);
        Lower { file: self.file.as_raw_fd(), text, length }
    }

    /// Sees that a copy is not exempt as Ship may be: one that guests stopped before it lowered Ship's score may lower it
    /// while the next copy is made. A score that is merely too low is raised by the supervisor at its next look.
    pub fn check(&self, pid: i32) -> io::Result<()> {
        let score = match std::fs::read_to_string(format!("/proc/{pid}/oom_score_adj")) {
            Ok(score) => score,
            Err(error) if is_gone(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        if score.trim().starts_with('-') {
            return Err(io::Error::other(
                "not started: the process would be exempt from the out-of-memory killer; try again",
            ));
        }
        Ok(())
    }

    /// Whoever is started while the result lives is a guest. One thread at a time.
    pub fn raise(&self) -> io::Result<Raised<'_>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.file.write_at(GUESTS.as_bytes(), 0)?;
        let raised = Raised { score: self, _turn: turn };
        match self.read()? {
            now if now == GUESTS => Ok(raised),
            now => Err(io::Error::other(format!("its out-of-memory score stays at {now}"))),
        }
    }
}

/// Whether a process could not be asked because it has ended: before its file was opened, or after.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Ship looks like a guest to the kernel for as long as this lives.
#[derive(Debug)]
pub struct Raised<'a> {
    score: &'a OomScore,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        let _ = self.score.file.write_at(self.score.own.as_bytes(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child is waited for below")]
    fn who_ends_while_it_is_asked_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let path = format!("/proc/{}/oom_score_adj", child.id());
        let opened = File::open(&path).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&std::fs::read(&path).unwrap_err()));
        assert!(is_gone(&opened.read_at(&mut [0; 8], 0).unwrap_err()));
    }

    #[test]
    fn a_score_is_raised_and_goes_back() {
        let proc = File::open("/proc").unwrap();
        let before = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        let score = OomScore::open(&proc).unwrap();
        let raised = score.raise().unwrap();
        assert_eq!(std::fs::read_to_string("/proc/self/oom_score_adj").unwrap().trim(), GUESTS);
        drop(raised);
        assert_eq!(std::fs::read_to_string("/proc/self/oom_score_adj").unwrap(), before);
    }
}
