//! The store's folder, opened once: every file is reached from this handle.
//!
//! Nothing here takes a path: names come from `name.rs`, so they hold no slash. Symlinks are never followed, and
//! whatever is not a plain file (a FIFO that would block, a device) is treated as if it were not there.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cove_workspace::{Draft, Folder, Listing, READ, RelPath, open_lock};
use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;

/// The opened folder.
#[derive(Debug)]
pub(crate) struct StoreFolder(Folder);

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

impl StoreFolder {
    /// Opens the folder, and makes it if it is not there.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        Ok(Self(Folder::open(dir)?.without_symlinks()))
    }

    /// Writes the bytes under a temporary name and waits until they are on the disk.
    pub(crate) fn draft(&self, bytes: &[u8]) -> io::Result<Draft<'_>> {
        let mut draft = self.0.draft(0o644)?;
        draft.write(bytes)?;
        draft.file().sync_all()?;
        Ok(draft)
    }

    /// Gives a draft its name. From here on readers see it, all of it.
    pub(crate) fn publish(&self, draft: Draft<'_>, name: &str) -> io::Result<()> {
        Ok(draft.publish(&self.0, name.as_bytes())?)
    }

    /// Opens the lock file for reading and writing, and makes it if it is not there.
    pub(crate) fn open_lock(&self, name: &str) -> io::Result<File> {
        Ok(File::from(open_lock(&self.0, name, 0o644)?))
    }

    /// Opens a plain file for reading; `None` when there is no such thing under that name.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<Option<(File, Plain)>> {
        match self.0.open_file(&RelPath::parse(name).map_err(io::Error::other)?, READ) {
            Ok((file, stat)) => Ok(Plain::of(&stat).map(|plain| (file, plain))),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ISDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What is under that name; `None` when it is not a plain file.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Plain>> {
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Plain::of(&stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a name; says whether it was there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the names themselves are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(self.0.sync()?)
    }

    /// Every name in the folder that is text; ours all are.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        Listing::new().every(self.0.open_folder(b"")?, |entry| {
            names.extend(std::str::from_utf8(entry.name).map(str::to_owned));
            true
        })?;
        Ok(names)
    }
}
