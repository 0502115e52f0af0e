//! The browser's temporary folder: made for one browser, removed with it, and swept up later if that was not possible.
//!
//! A parent that is killed cannot remove anything, so each folder holds a file that its parent keeps locked; a folder
//! whose lock is free belongs to nobody, and the next launch takes it away.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use uuid::Uuid;

const PREFIX: &str = "cove-chrome-";
const LOCK: &str = "lock";

/// A folder for one browser. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Profile {
    path: PathBuf,
    _lock: File,
}

impl Profile {
    /// Makes the folder under `parent`, owned by `owner` if one is given, and sweeps up what others left there.
    pub(crate) fn create(parent: &Path, owner: Option<u32>) -> io::Result<Self> {
        sweep(parent);
        let path = parent.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let made = || -> io::Result<File> {
            // Locked before it has its name: a folder with a free lock of that name belongs to nobody.
            let lock = File::create(path.join("locking"))?;
            lock.lock()?;
            fs::rename(path.join("locking"), path.join(LOCK))?;
            for folder in ["home", "tmp", "data"] {
                DirBuilder::new().mode(0o700).create(path.join(folder))?;
                if let Some(id) = owner {
                    chown(path.join(folder), Some(id), Some(id))?;
                }
            }
            if let Some(id) = owner {
                chown(&path, Some(id), Some(id))?;
            }
            Ok(lock)
        };
        match made() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `HOME` of the browser.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// `TMPDIR` of the browser.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Its `--user-data-dir`.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // A process that is just ending may still add a file: a second pass takes what the first one met.
        for _ in 0..3 {
            if fs::remove_dir_all(&self.path).is_ok() || !self.path.exists() {
                return;
            }
        }
    }
}

/// Removes folders of parents that are gone. Whatever cannot be removed is left for another time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_or_at_the_next_launch() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let one = Profile::create(parent.path(), None).unwrap();
        let two = Profile::create(parent.path(), None).unwrap();
        assert_eq!(count(), 2, "a living owner's folder was swept");
        drop(two);
        assert_eq!(count(), 1);
        let left = parent.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        File::create(left.join(LOCK)).unwrap();
        let three = Profile::create(parent.path(), None).unwrap();
        assert!(!left.exists(), "an orphan was left");
        drop((one, three));
        assert_eq!(count(), 0);
    }
}
