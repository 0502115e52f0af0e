//! Room that is kept for the records beside an SQLite file.
//!
//! A disk that guests or strangers have filled must still take what makes room again: the end of a session, a deletion, a
//! start of Bay. So a file of a few megabytes lies beside the database, holds nothing, and is given up when the database
//! finds no room. It is made again when there is plenty.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cove_workspace::Space;

/// What is kept. SQLite's log is written back after 4 MiB, and what ends or deletes something writes a few pages of it:
/// twice the log is enough for as many of those as come.
pub(crate) const RESERVE_BYTES: u64 = 8 << 20;

/// Nothing is kept where the disk has less room than so many times the reserve: it would be taken from those it serves.
const PLENTY: u64 = 4;

/// The reserve of one database.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
    held: AtomicBool,
}

impl Reserve {
    /// Beside this file; nothing is made yet.
    pub(crate) fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(OsString::from(".reserve"));
        let path = PathBuf::from(name);
        let held = fs::metadata(&path).is_ok_and(|found| found.len() >= RESERVE_BYTES);
        Self { path, held: AtomicBool::new(held) }
    }

    /// Whether it is there.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// The room on its disk.
    pub(crate) fn space(&self) -> io::Result<Space> {
        Space::of(self.path.parent().unwrap_or(Path::new("/")))
    }

    /// Makes it where it is not there and there is plenty of room; whether it is there.
    pub fn make(&self) -> bool {
        // Looked at, not remembered: somebody who needed room may have removed it.
        if fs::metadata(&self.path).is_ok_and(|found| found.len() >= RESERVE_BYTES) {
            self.held.store(true, Ordering::Relaxed);
            return true;
        }
        self.held.store(false, Ordering::Relaxed);
        if !self.space().is_ok_and(|space| space.free_bytes >= PLENTY * RESERVE_BYTES) {
            return false;
        }
        match self.fill() {
            Ok(()) => self.held.store(true, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(%error, file = %self.path.display(), "no room could be kept for the records");
                let _ = fs::remove_file(&self.path);
            }
        }
        self.is_held()
    }

    /// Gives it up; whether that made room.
    pub fn release(&self) -> bool {
        self.held.store(false, Ordering::Relaxed);
        let given = fs::remove_file(&self.path).is_ok();
        if given {
            tracing::warn!("the database's disk is full; its reserved space is now in use");
        }
        given
    }

    /// Gives it up where a start would otherwise find no room for the database's log.
    pub(crate) fn release_if_full(&self) {
        if self.space().is_ok_and(|space| space.free_bytes < RESERVE_BYTES / 4) {
            self.release();
        }
    }

    fn fill(&self) -> io::Result<()> {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&self.path)?;
        let asked = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE_BYTES);
        match asked {
            Ok(()) => Ok(()),
            // A file system that promises nothing has to be written to.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let (mut file, block) = (file, vec![0; 1 << 20]);
                (0..RESERVE_BYTES >> 20).try_for_each(|_| file.write_all(&block))
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_found_again_and_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bay.db");
        let reserve = Reserve::beside(&file);
        assert!(!reserve.is_held() && reserve.make() && reserve.make());
        let path = folder.path().join("bay.db.reserve");
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.len(), RESERVE_BYTES);
        assert!(std::os::unix::fs::MetadataExt::blocks(&found) * 512 >= RESERVE_BYTES, "it holds no blocks");
        assert!(Reserve::beside(&file).is_held());
        assert!(reserve.release() && !reserve.release() && !path.exists());
        fs::write(&path, "short").unwrap();
        assert!(!Reserve::beside(&file).is_held());
    }
}
