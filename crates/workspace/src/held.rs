//! A folder of our own in a shared place: made for one process, removed with it, and swept up later if that was not
//! possible.
//!
//! A process that is killed cannot remove anything, so each folder holds a file that its process keeps locked; a folder
//! whose lock is free belongs to nobody, and whoever finds it takes it over and takes it away.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use crate::folder::{FOLDER, READ};
use crate::remove::remove_folder;

const LOCK: &str = "lock";

/// Names that are tried before giving up.
const TRIES: usize = 8;

/// A process that is just ending may still add a file: another pass takes what the one before met.
const PASSES: usize = 3;

/// A folder that this process holds. Dropping it removes it, whatever is in it.
#[derive(Debug)]
pub struct HeldFolder {
    path: PathBuf,
    _lock: File,
}

impl HeldFolder {
    /// Makes a folder under `parent` whose name begins with `prefix`, with these permissions, and lets `fill` put into it
    /// what must be there from the first moment. Others take no notice of it before that is done.
    pub fn make(
        parent: &Path,
        prefix: &str,
        mode: u32,
        fill: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = create(parent, prefix, mode)?;
        let made = || -> io::Result<File> {
            // Locked before it has its name: a folder with a free lock of that name belongs to nobody.
            let lock = File::create_new(path.join("locking"))?;
            lock.lock()?;
            fill(&path)?;
            fs::rename(path.join("locking"), path.join(LOCK))?;
            Ok(lock)
        };
        match made() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = remove_folder(&path);
                Err(error)
            }
        }
    }

    /// Such a folder for nobody but `owner` (only root can name another), with these folders in it. What processes that
    /// are gone have left under that prefix is removed first.
    pub fn private(parent: &Path, prefix: &str, inside: &[&str], owner: Option<u32>) -> io::Result<Self> {
        Self::left(parent, prefix).for_each(drop);
        let give = |path: &Path| owner.map_or(Ok(()), |id| chown(path, Some(id), Some(id)));
        Self::make(parent, prefix, 0o700, |path| {
            for name in inside {
                let inner = path.join(name);
                DirBuilder::new().mode(0o700).create(&inner)?;
                give(&inner)?;
            }
            give(path)
        })
    }

    /// Takes over the folders under `parent` with this prefix that processes of this user have left, one after the
    /// other. Dropping one removes it.
    pub fn left(parent: &Path, prefix: &str) -> impl Iterator<Item = Self> {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let named = entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(prefix));
        named.filter_map(|entry| {
            let path = entry.path();
            free_lock(&path).map(|lock| Self { path, _lock: lock })
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes everything; the folder is of no use afterwards.
    pub fn clear(&self) {
        for _ in 0..PASSES {
            if remove_folder(&self.path).is_ok() {
                return;
            }
        }
    }
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Short: the path of a socket may have 107 bytes. A name that is taken is never shared.
fn create(parent: &Path, prefix: &str, mode: u32) -> io::Result<PathBuf> {
    let mut tries = 0;
    loop {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = parent.join(format!("{prefix}{:08x}", u32::from_ne_bytes(random)));
        tries += 1;
        match DirBuilder::new().mode(mode).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

/// The lock of a folder that nobody holds, taken. In a shared place anybody may have put anything there: only a plain
/// file of our own in a folder that is none of a link's counts.
fn free_lock(path: &Path) -> Option<File> {
    let folder = rustix::fs::open(path, FOLDER | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    let lock = openat(&folder, LOCK, READ | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    let stat = fstat(&lock).ok()?;
    let ours = stat.st_uid == rustix::process::geteuid().as_raw();
    let lock = File::from(lock);
    (ours && FileType::from_raw_mode(stat.st_mode).is_file() && lock.try_lock().is_ok()).then_some(lock)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mknodat};

    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_or_with_the_next_one() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let make = || HeldFolder::private(parent.path(), "cove-test-", &["a", "b"], None).unwrap();
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

    /// In a shared place, what others put there neither stops us nor goes away.
    #[test]
    fn what_others_put_there_is_passed_by() {
        let parent = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let elsewhere = put("elsewhere");
        File::create(elsewhere.join(LOCK)).unwrap();
        symlink(&elsewhere, parent.path().join("cove-test-link")).unwrap();
        mknodat(CWD, put("cove-test-fifo").join(LOCK), FileType::Fifo, Mode::RWXU, 0).unwrap();
        symlink(elsewhere.join(LOCK), put("cove-test-locklink").join(LOCK)).unwrap();
        put("cove-test-nolock");
        put("cove-test-folder");
        fs::create_dir(parent.path().join("cove-test-folder").join(LOCK)).unwrap();
        assert_eq!(HeldFolder::left(parent.path(), "cove-test-").count(), 0);
        drop(HeldFolder::private(parent.path(), "cove-test-", &[], None).unwrap());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 6);
    }

    #[test]
    fn what_cannot_be_filled_is_not_left() {
        let parent = tempfile::tempdir().unwrap();
        let made = HeldFolder::make(parent.path(), "cove-test-", 0o711, |_| Err(io::Error::other("no")));
        assert_eq!(made.unwrap_err().to_string(), "no");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
