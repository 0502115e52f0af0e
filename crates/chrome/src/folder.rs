//! A folder of our own in a shared place: made for one owner, removed with it, and swept up later if that was not possible.
//!
//! An owner that is killed cannot remove anything, so each folder holds a file that its owner keeps locked; a folder
//! whose lock is free belongs to nobody, and the next one to make such a folder takes it away.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use uuid::Uuid;

const LOCK: &str = "lock";

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    _lock: File,
}

impl OwnFolder {
    /// Makes a folder under `parent` whose name begins with `prefix`, with these folders in it, all for nobody but
    /// `owner` (only root can name another); sweeps up what others with that prefix left there.
    pub fn create(parent: &Path, prefix: &str, inside: &[&str], owner: Option<u32>) -> io::Result<Self> {
        sweep(parent, prefix);
        // Short: the path of a socket may have 107 bytes. Taken names are an error of `create`, never shared.
        let name = Uuid::new_v4().simple().to_string();
        let path = parent.join(format!("{prefix}{}", name.get(..12).unwrap_or(&name)));
        DirBuilder::new().mode(0o700).create(&path)?;
        let made = || -> io::Result<File> {
            // Locked before it has its name: a folder with a free lock of that name belongs to nobody.
            let lock = File::create(path.join("locking"))?;
            lock.lock()?;
            fs::rename(path.join("locking"), path.join(LOCK))?;
            for folder in inside {
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes everything; the folder is of no use afterwards.
    pub fn clear(&self) {
        // A process that is just ending may still add a file: a second pass takes what the first one met.
        for _ in 0..3 {
            if fs::remove_dir_all(&self.path).is_ok() || !self.path.exists() {
                return;
            }
        }
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Removes folders of owners that are gone. Whatever cannot be removed is left for another time.
fn sweep(parent: &Path, prefix: &str) {
    let own = rustix::process::geteuid().as_raw();
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)) {
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
    fn a_folder_goes_with_its_owner_or_with_the_next_one() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let make = || OwnFolder::create(parent.path(), "cove-test-", &["a", "b"], None).unwrap();
        let (one, two) = (make(), make());
        assert!(one.path().join("a").is_dir() && one.path().join("b").is_dir());
        assert_eq!(count(), 2, "a living owner's folder was swept");
        drop(two);
        assert_eq!(count(), 1);
        let left = parent.path().join("cove-test-left");
        fs::create_dir(&left).unwrap();
        File::create(left.join(LOCK)).unwrap();
        let three = make();
        assert!(!left.exists(), "an orphan was left");
        drop((one, three));
        assert_eq!(count(), 0);
    }
}
