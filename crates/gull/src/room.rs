//! The private folder of one Gull: sockets, the daemon's home, and the files on their way in and out.
//!
//! Its owner is the user that agent-browser runs as, and nobody else may enter. It is removed with Gull; what a killed
//! Gull leaves is swept up by the next one, which sees by a lock that nobody holds it any more.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

const PREFIX: &str = "cove-gull-";
const LOCK: &str = "lock";

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Room {
    path: PathBuf,
    owner: Option<u32>,
    _lock: File,
}

impl Room {
    /// Makes a folder under `parent` that belongs to `owner` (only root can give it away).
    pub(crate) fn create(parent: &Path, owner: Option<u32>) -> io::Result<Self> {
        sweep(parent);
        // Short: the path of a socket may have 107 bytes.
        let path = parent.join(format!("{PREFIX}{}", crate::secret::hex(6)?));
        DirBuilder::new().mode(0o700).create(&path)?;
        let made = || -> io::Result<File> {
            let lock = File::create(path.join(LOCK))?;
            lock.lock()?;
            for folder in ["", "s", "home", "tmp", "in", "out"] {
                let folder = path.join(folder);
                if !folder.exists() {
                    DirBuilder::new().mode(0o700).create(&folder)?;
                }
                if let Some(id) = owner {
                    chown(&folder, Some(id), Some(id))?;
                }
            }
            Ok(lock)
        };
        match made() {
            Ok(lock) => Ok(Self { path, owner, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where agent-browser keeps its sockets.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path.join("s")
    }

    /// Its `HOME` and working directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Its `TMPDIR`.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// A new folder below `in` or `out`.
    pub(crate) fn place(&self, kind: &str) -> io::Result<PathBuf> {
        let place = self.path.join(kind).join(crate::secret::hex(6)?);
        DirBuilder::new().mode(0o700).create(&place)?;
        self.give(&place)?;
        Ok(place)
    }

    /// Hands a file or folder in the room to its owner.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        self.owner.map_or(Ok(()), |id| chown(path, Some(id), Some(id)))
    }
}

impl Room {
    /// Removes everything; the folder is of no use afterwards.
    pub(crate) fn clear(&self) {
        // A process that is just ending may still add a file: a second pass takes what the first one met.
        for _ in 0..3 {
            if fs::remove_dir_all(&self.path).is_ok() || !self.path.exists() {
                return;
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Removes folders of owners that are gone. What cannot be removed is left for another time.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let path = entry.path();
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let Ok(lock) = File::open(path.join(LOCK)) else { continue };
        let mine = lock.metadata().is_ok_and(|lock| lock.uid() == own);
        if meta.is_dir() && mine && lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
