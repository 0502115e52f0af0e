//! Reads the names in a folder, by handle.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, RawDir, statat};
use rustix::io::Errno;

use crate::draft::is_draft;

/// One getdents call brings about a thousand names.
const BUFFER_BYTES: usize = 64 << 10;

/// What is in a folder under one name.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The name, which need not be text.
    pub name: &'a [u8],
    /// What it is; a symlink is a symlink.
    pub kind: FileType,
}

/// A buffer for reading folders, used again for each.
#[derive(Debug)]
pub struct Listing {
    buffer: Vec<MaybeUninit<u8>>,
}

impl Listing {
    /// Makes the buffer.
    pub fn new() -> Self {
        Self { buffer: vec![MaybeUninit::uninit(); BUFFER_BYTES] }
    }

    /// Visits every name but `.`, `..` and our own unfinished files, until `visit` says `false`.
    pub fn each(&mut self, dir: impl AsFd, mut visit: impl FnMut(Entry<'_>) -> bool) -> Result<(), Errno> {
        self.every(dir, |entry| is_draft(entry.name) || visit(entry))
    }

    /// The same with unfinished files.
    pub fn every(&mut self, dir: impl AsFd, mut visit: impl FnMut(Entry<'_>) -> bool) -> Result<(), Errno> {
        let mut entries = RawDir::new(dir.as_fd(), &mut self.buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say; a name that is gone by now is nothing.
                FileType::Unknown => match statat(dir.as_fd(), entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            if !visit(Entry { name, kind }) {
                break;
            }
        }
        Ok(())
    }
}

impl Default for Listing {
    fn default() -> Self {
        Self::new()
    }
}
