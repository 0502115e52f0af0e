//! Waiting for the lock of a file, for a limited time.
//!
//! The kernel tells nobody when a lock is free unless he waits without end; so it is asked again, less and less often. Only
//! a lock that another one holds is waited for: a file system without locks says so at once.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// The first pause between two tries; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

/// Opens the file of a lock in a folder, and makes it if it is not there. A guest may have put something else under its
/// name, so no link is followed and a pipe is not waited for.
pub fn open_lock(folder: impl AsFd, name: &str, mode: u32) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::from_raw_mode(mode))
}

/// Takes the lock of a file for this handle alone, waiting for at most so long. `false`: another handle has kept it.
/// Blocks the thread.
#[expect(clippy::disallowed_methods, reason = "a file lock with a deadline has no event to await")]
pub fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if begin.elapsed() < patience => std::thread::sleep(pause),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_and_what_cannot_be_locked_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (first, second) = (File::create(&path).unwrap(), File::open(&path).unwrap());
        assert!(lock_within(&first, Duration::ZERO).unwrap());
        assert!(!lock_within(&second, Duration::from_millis(5)).unwrap());
        let waiting = std::thread::spawn(move || lock_within(&second, Duration::from_secs(10)));
        drop(first);
        assert!(waiting.join().unwrap().unwrap());
        // A handle that only names a file cannot be locked; that is not "another one has it".
        let named = rustix::fs::open(&path, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
        assert!(lock_within(&File::from(named), Duration::from_secs(10)).is_err());
    }
}
