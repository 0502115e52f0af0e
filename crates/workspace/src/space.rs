//! How much room a disk has left, as the kernel counts it for an ordinary user.

use std::io;
use std::path::Path;

/// The room of one file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that an ordinary user can still write.
    pub free_bytes: u64,
    /// All of it.
    pub total_bytes: u64,
    /// Files that can still be made; none: the file system does not count them.
    pub free_files: Option<u64>,
    /// All of them.
    pub total_files: u64,
}

impl Space {
    /// The room where this path lies.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = rustix::fs::statvfs(path)?;
        Ok(Self {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
            // Some file systems make inodes as they need them, and say 0.
            free_files: (found.f_files > 0).then_some(found.f_favail),
            total_files: found.f_files,
        })
    }
}
