//! Copies a tree that a guest may have written: plain folders and plain files.
//!
//! The guest may still hold all of it open, so no link is followed, nothing but plain files is opened for reading, and
//! depth, number and bytes have limits.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, fchown};

use rustix::fs::{Dir, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// Opens a folder that is no link.
const PLAIN_FOLDER: OFlags = crate::FOLDER.union(OFlags::NOFOLLOW);

/// What is copied, and how much of it at most.
#[derive(Debug, Clone, Copy)]
pub struct CopyRules {
    /// Levels of folders.
    pub max_depth: usize,
    /// Files and folders.
    pub max_entries: usize,
    /// Bytes of all files.
    pub max_bytes: u64,
    /// Who owns the copies; none: who makes them.
    pub owner: Option<u32>,
    /// Names that are left out, wherever they are.
    pub leave_out: fn(&[u8]) -> bool,
}

struct TreeCopy {
    rules: CopyRules,
    entries: usize,
    bytes: u64,
}

/// Copies what is in one opened folder to another, where nothing of it may be yet. Links, devices and files with a second
/// name are left out, and so are folders that cannot be opened.
pub fn copy_tree(from: &OwnedFd, to: &OwnedFd, rules: CopyRules) -> io::Result<()> {
    TreeCopy { rules, entries: 0, bytes: 0 }.folder(from, to, 0)
}

impl TreeCopy {
    fn folder(&mut self, from: &OwnedFd, to: &OwnedFd, depth: usize) -> io::Result<()> {
        if depth > self.rules.max_depth {
            return Err(io::Error::other("it is nested too deeply"));
        }
        for entry in Dir::read_from(from)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || (self.rules.leave_out)(name.to_bytes()) {
                continue;
            }
            self.entries += 1;
            if self.entries > self.rules.max_entries {
                return Err(io::Error::other("it has too many files"));
            }
            match openat(from, name, PLAIN_FOLDER, Mode::empty()) {
                Ok(inner) => {
                    mkdirat(to, name, Mode::RWXU)?;
                    let made = openat(to, name, PLAIN_FOLDER, Mode::empty())?;
                    self.give(&made)?;
                    self.folder(&inner, &made, depth + 1)?;
                }
                Err(Errno::NOTDIR) => self.file(from, to, name)?,
                // A link, or a folder that its owner has shut.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &OwnedFd, to: &OwnedFd, name: &CStr) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let Ok(file) = openat(from, name, flags, Mode::empty()) else { return Ok(()) };
        let file = File::from(file);
        let meta = file.metadata()?;
        // A second name may be that of somebody else's file.
        if !meta.is_file() || meta.nlink() != 1 {
            return Ok(());
        }
        let max_bytes = self.rules.max_bytes;
        let left = max_bytes.saturating_sub(self.bytes);
        if meta.len() > left {
            return Err(io::Error::other(format!("it has more than {max_bytes} bytes")));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut copy = File::from(openat(to, name, flags, Mode::from_raw_mode(0o600))?);
        self.give(&copy)?;
        self.bytes += io::copy(&mut file.take(left), &mut copy)?;
        Ok(())
    }

    fn give(&self, thing: &impl AsFd) -> io::Result<()> {
        self.rules.owner.map_or(Ok(()), |id| fchown(thing, Some(id), Some(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &std::path::Path) -> OwnedFd {
        rustix::fs::open(path, PLAIN_FOLDER, Mode::empty()).unwrap()
    }

    #[test]
    fn plain_files_are_copied_and_nothing_else() {
        let stage = tempfile::tempdir().unwrap();
        let (from, to, secret) = (stage.path().join("from"), stage.path().join("to"), stage.path().join("secret"));
        std::fs::create_dir_all(from.join("a/b")).unwrap();
        std::fs::create_dir(&to).unwrap();
        std::fs::write(&secret, "secret").unwrap();
        std::fs::write(from.join("a/b/kept"), "kept").unwrap();
        std::fs::write(from.join("lock"), "").unwrap();
        std::os::unix::fs::symlink(&secret, from.join("link")).unwrap();
        std::os::unix::fs::symlink(stage.path(), from.join("folder-link")).unwrap();
        std::fs::hard_link(&secret, from.join("second-name")).unwrap();
        let rules =
            CopyRules { max_depth: 2, max_entries: 10, max_bytes: 4, owner: None, leave_out: |name| name == b"lock" };
        copy_tree(&opened(&from), &opened(&to), rules).unwrap();
        let names: Vec<_> = std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(std::fs::read_to_string(to.join("a/b/kept")).unwrap(), "kept");
        for rules in [
            CopyRules { max_depth: 1, ..rules },
            CopyRules { max_entries: 2, ..rules },
            CopyRules { max_bytes: 3, ..rules },
        ] {
            let other = tempfile::tempdir().unwrap();
            assert!(copy_tree(&opened(&from), &opened(other.path()), rules).is_err(), "{rules:?}");
        }
    }
}
