//! How full the store is, known without counting it again for every artifact.
//!
//! Several processes may write to one folder. A lock file makes their changes follow each other, and holds a number
//! that grows with each change: whoever finds the number as they left it may trust the count they remember, everyone
//! else counts afresh. A process that dies inside the lock has already raised the number, so nobody trusts too much.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_workspace::lock_within;

use crate::error::ArtifactError;
use crate::folder::StoreFolder;

const LOCK_NAME: &str = ".cove-artifacts.lock";

/// The lock is held for two renames; ten seconds are patience with a disk under load, not a plan.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// What the store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Tally {
    lock: File,
    remembered: Mutex<Option<(u64, Usage)>>,
}

impl Tally {
    pub(crate) fn open(folder: &StoreFolder) -> io::Result<Self> {
        Ok(Self { lock: folder.open_lock(LOCK_NAME)?, remembered: Mutex::new(None) })
    }

    /// Waits for the store's lock; `count` is asked only when somebody else has changed the store.
    pub(crate) fn lock(&self, count: impl FnOnce() -> io::Result<Usage>) -> Result<Locked<'_>, ArtifactError> {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if !lock_within(&self.lock, LOCK_PATIENCE)? {
            return Err(ArtifactError::Busy);
        }
        // From here on `Locked` gives the lock back, whatever happens.
        let mut locked = Locked { lock: &self.lock, generation: 0, usage: Usage::default(), remembered: None };
        locked.generation = self.generation()?;
        locked.usage = match *remembered {
            Some((generation, usage)) if generation == locked.generation => usage,
            _ => count()?,
        };
        *remembered = Some((locked.generation, locked.usage));
        locked.remembered = Some(remembered);
        Ok(locked)
    }

    fn generation(&self) -> io::Result<u64> {
        let mut number = [0; 8];
        match self.lock.read_exact_at(&mut number, 0) {
            Ok(()) => Ok(u64::from_le_bytes(number)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// The store, held by one writer.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    lock: &'a File,
    generation: u64,
    usage: Usage,
    remembered: Option<MutexGuard<'a, Option<(u64, Usage)>>>,
}

impl Locked<'_> {
    /// What the store holds now.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Replaces what is remembered by a fresh count.
    pub(crate) fn recount(&mut self, usage: Usage) {
        self.usage = usage;
        if let Some(remembered) = &mut self.remembered {
            **remembered = Some((self.generation, usage));
        }
    }

    /// Makes a change, and remembers what the store holds after it.
    ///
    /// The number is raised first: a stop in the middle of the change makes everybody count again.
    pub(crate) fn change<T>(&mut self, after: Usage, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.generation = self.generation.wrapping_add(1);
        self.lock.write_all_at(&self.generation.to_le_bytes(), 0)?;
        let changed = change();
        if let Some(remembered) = &mut self.remembered {
            **remembered = changed.is_ok().then_some((self.generation, after));
        }
        self.usage = after;
        changed
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}
