//! Takes over what an older Cove kept in the workspace: plain folders and plain files, as copies.
//!
//! A guest may have written every byte of it and may still hold it open, so nothing is moved, no link is followed, and
//! depth, number and bytes have limits.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, fchown};

use rustix::fs::{Dir, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::browser_state::FOLDER;

/// A profile has four levels.
const MAX_DEPTH: usize = 16;

/// A profile has some hundred files.
const MAX_ENTRIES: usize = 10_000;

/// A profile without its cache has some megabytes.
const MAX_BYTES: u64 = 256 << 20;

struct Import {
    owner: Option<u32>,
    entries: usize,
    bytes: u64,
}

/// Copies from one opened folder to another.
pub(crate) fn import(from: &OwnedFd, to: &OwnedFd, owner: Option<u32>) -> io::Result<()> {
    Import { owner, entries: 0, bytes: 0 }.folder(from, to, 0)
}

impl Import {
    fn folder(&mut self, from: &OwnedFd, to: &OwnedFd, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("it is nested too deeply"));
        }
        for entry in Dir::read_from(from)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b".." | b"lock") || name.to_bytes().starts_with(b"Singleton") {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(io::Error::other("it has too many files"));
            }
            match openat(from, name, FOLDER, Mode::empty()) {
                Ok(inner) => {
                    mkdirat(to, name, Mode::RWXU)?;
                    let made = openat(to, name, FOLDER, Mode::empty())?;
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
        let left = MAX_BYTES - self.bytes;
        if meta.len() > left {
            return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut copy = File::from(openat(to, name, flags, Mode::from_raw_mode(0o600))?);
        self.give(&copy)?;
        self.bytes += io::copy(&mut file.take(left), &mut copy)?;
        Ok(())
    }

    fn give(&self, thing: &impl AsFd) -> io::Result<()> {
        self.owner.map_or(Ok(()), |id| fchown(thing, Some(id), Some(id)))
    }
}
