//! A file that is being written: it has a name of its own until it is whole, and goes away if it never is.
//!
//! The one way in which Cove writes files that somebody else may be reading. A reader sees the old content or the new,
//! never a part; a failure, a full quota above all, leaves the old one.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, fchown, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

const BEGIN: &str = ".cove-";
const END: &str = ".draft";

/// New content under a name that nobody asked for. Dropped before it is published, it goes away.
#[derive(Debug)]
pub struct Draft<'a> {
    dir: BorrowedFd<'a>,
    name: Option<String>,
    file: File,
    owner: Option<Owner>,
}

/// Whom new things are given to.
pub(crate) type Owner = (Uid, Gid);

impl<'a> Draft<'a> {
    /// Begins a file in this folder, with these permissions as far as the process's own mask allows them.
    pub fn create(dir: BorrowedFd<'a>, mode: u32) -> Result<Self, Errno> {
        Self::create_for(dir, mode, None)
    }

    pub(crate) fn create_for(dir: BorrowedFd<'a>, mode: u32, owner: Option<Owner>) -> Result<Self, Errno> {
        let name = draft_name()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(dir, &name, flags, Mode::from_raw_mode(mode))?);
        Ok(Self { dir, name: Some(name), file, owner })
    }

    /// Where the content goes.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Adds to the content.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        #[cfg(feature = "testkit")]
        crate::testkit::full_disk::check(bytes.len())?;
        self.file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    /// Gives the file its name, over whatever file or link had it. From here on readers see it, all of it.
    pub fn publish(mut self, dir: impl AsFd, name: &[u8]) -> Result<(), Errno> {
        self.give()?;
        if let Some(draft) = self.name.as_deref() {
            renameat(self.dir, draft, dir, name)?;
            self.name = None;
        }
        Ok(())
    }

    /// Takes the name of a file in its own folder that was there a moment ago. The two are exchanged, and the old one goes
    /// away under the draft's name.
    ///
    /// An exchange does the same as a rename, but ext4 does not wait for the disk in it: 35,000 small files a second
    /// here instead of 1,500.
    pub(crate) fn exchange(mut self, name: &[u8]) -> Result<(), Errno> {
        let Some(draft) = self.name.clone() else { return Ok(()) };
        let dir = self.dir;
        match renameat_with(dir, &draft, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => match unlinkat(dir, &draft, AtFlags::empty()) {
                // Somebody put a folder there meanwhile: it gets its name back, the draft goes.
                Err(Errno::ISDIR) => {
                    renameat_with(dir, &draft, dir, name, RenameFlags::EXCHANGE)?;
                    Err(Errno::ISDIR)
                }
                other => {
                    self.name = None;
                    other
                }
            },
            // Gone meanwhile, or a file system that cannot exchange.
            Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => self.publish(dir, name),
            Err(errno) => Err(errno),
        }
    }

    fn give(&self) -> Result<(), Errno> {
        self.owner.map_or(Ok(()), |(uid, gid)| fchown(&self.file, Some(uid), Some(gid)))
    }
}

impl AsFd for Draft<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nothing to be done about a failure here.
            let _ = unlinkat(self.dir, name.as_str(), AtFlags::empty());
        }
    }
}

/// A name for what is being made: nobody should see it come and go.
pub(crate) fn draft_name() -> Result<String, Errno> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
    Ok(format!("{BEGIN}{:032x}{END}", u128::from_ne_bytes(random)))
}

/// Whether a name belongs to a file that is being written.
pub fn is_draft(name: &[u8]) -> bool {
    name.strip_prefix(BEGIN.as_bytes())
        .and_then(|rest| rest.strip_suffix(END.as_bytes()))
        .is_some_and(|hex| hex.len() == 32 && hex.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_drafts_are_drafts() {
        assert!(is_draft(draft_name().unwrap().as_bytes()));
        for other in [".cove-x.draft", ".cove-.draft", "cove.draft", ".cove"] {
            assert!(!is_draft(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_draft_is_published_or_gone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        let names = || std::fs::read_dir(dir.path()).unwrap().count();
        let mut draft = Draft::create(folder.as_fd(), 0o644).unwrap();
        draft.write(b"new").unwrap();
        assert_eq!(names(), 1);
        drop(draft);
        assert_eq!(names(), 0);
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        let mut draft = Draft::create(folder.as_fd(), 0o644).unwrap();
        draft.write(b"new").unwrap();
        draft.publish(&folder, b"link").unwrap();
        assert!(dir.path().join("link").symlink_metadata().unwrap().is_file());
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        let draft = Draft::create(folder.as_fd(), 0o644).unwrap();
        assert_eq!(draft.publish(&folder, b"folder"), Err(Errno::ISDIR));
        let draft = Draft::create(folder.as_fd(), 0o644).unwrap();
        assert_eq!(draft.exchange(b"folder"), Err(Errno::ISDIR));
        assert!(dir.path().join("folder").is_dir());
        assert_eq!(names(), 2);
    }
}
