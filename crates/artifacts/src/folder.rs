//! The store's folder, opened once: every file is reached from this handle.
//!
//! Nothing here takes a path: names come from `name.rs`, so they hold no slash. Symlinks are never followed, and
//! whatever is not a plain file (a FIFO that would block, a device) is treated as if it were not there.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// An opened folder.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
}

/// A plain file in the folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain {
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
}

impl Plain {
    #[allow(clippy::unnecessary_cast, reason = "the widths of stat's fields differ between architectures")]
    fn of(stat: &rustix::fs::Stat) -> Option<Self> {
        let since_1970 = Duration::new(
            u64::try_from(stat.st_mtime as i64).unwrap_or(0),
            u32::try_from(stat.st_mtime_nsec as u64).unwrap_or(0),
        );
        FileType::from_raw_mode(stat.st_mode).is_file().then(|| Self {
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: SystemTime::UNIX_EPOCH + since_1970,
        })
    }
}

impl Folder {
    /// Opens the folder, and makes it if it is not there.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let fd = rustix::fs::open(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { fd })
    }

    /// Makes a file that must not be there yet.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.fd, name, flags, Mode::from_raw_mode(0o644))?))
    }

    /// Opens the lock file for reading and writing, and makes it if it is not there.
    pub(crate) fn open_lock(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.fd, name, flags, Mode::from_raw_mode(0o644))?))
    }

    /// Opens a plain file for reading; `None` when there is no such thing under that name.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<Option<(File, Plain)>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Plain::of(&fstat(&fd)?).map(|plain| (File::from(fd), plain))),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What is under that name; `None` when it is not a plain file.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Plain>> {
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Plain::of(&stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file its other name, over whatever had it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Removes a name; says whether it was there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the names themselves are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.fd) {
            // Some file systems cannot sync a folder; they have nothing to offer here, and the files are synced.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Every name in the folder that is text; ours all are.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}
