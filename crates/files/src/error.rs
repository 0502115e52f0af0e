//! Failures of the file tools: a stable code for programs, a sentence for the model.
//!
//! The sentences are the contract's own; they name the path as the caller wrote it and never a path of the host.

use rustix::io::Errno;
use serde::Serialize;

/// Why a file tool did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct FileError {
    /// Stable: `invalid_path`, `file_not_found`, `not_a_directory`, `not_a_file`, `not_unique`, `text_not_found`,
    /// `no_change`, `overlapping_edits`, `offset_beyond_end`, `quota_exceeded`, `file_too_large`, `permission_denied`,
    /// `conflict`, `timeout`, `invalid_args`, `io_error`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// What the caller took the path for; it decides the words of "not found".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// `read`, `write`, `edit`
    File,
    /// `grep`, `find`, `ls`
    Path,
}

impl FileError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn invalid_args(message: impl Into<String>) -> Self {
        Self::new("invalid_args", message)
    }

    pub(crate) fn invalid_path(given: &str, why: &str) -> Self {
        Self::new("invalid_path", format!("Invalid path: {given} ({why})"))
    }

    pub(crate) fn timeout(what: &str) -> Self {
        Self::new("timeout", format!("{what} took too long and was stopped"))
    }

    /// What the system's refusal means for the caller.
    pub(crate) fn from_errno(errno: Errno, asked: Asked, given: &str) -> Self {
        match errno {
            Errno::NOENT if asked == Asked::File => {
                Self::new("file_not_found", format!("File not found: {given} (ENOENT)"))
            }
            Errno::NOENT => Self::new("file_not_found", format!("Path not found: {given}")),
            Errno::NOTDIR => Self::new("not_a_directory", format!("Not a directory: {given}")),
            Errno::ISDIR => Self::is_directory(given),
            // The kernel's words for "this would lead out": EXDEV for `..` and absolute symlinks, ELOOP for magic
            // links and circles.
            Errno::XDEV => Self::invalid_path(given, "it leads outside the workspace"),
            Errno::LOOP => Self::invalid_path(given, "a symlink on the way cannot be followed"),
            Errno::NAMETOOLONG | Errno::INVAL => Self::invalid_path(given, "no file can have such a name"),
            Errno::NOSPC | Errno::DQUOT => Self::new(
                "quota_exceeded",
                format!("No space left to write {given}: the workspace's quota or disk is full; nothing was changed"),
            ),
            Errno::FBIG => {
                Self::new("quota_exceeded", format!("{given} would be larger than a file may be; nothing was changed"))
            }
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                Self::new("permission_denied", format!("Permission denied: {given}"))
            }
            // A FIFO or a socket that nobody serves.
            Errno::NXIO => Self::not_plain(given),
            other => Self::new("io_error", format!("{given}: {}", std::io::Error::from(other))),
        }
    }

    pub(crate) fn from_io(error: &std::io::Error, asked: Asked, given: &str) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(errno, asked, given),
            None => Self::new("io_error", format!("{given}: {error}")),
        }
    }

    pub(crate) fn is_directory(given: &str) -> Self {
        Self::new("not_a_file", format!("Is a directory: {given} (EISDIR). Use ls to see what is in it."))
    }

    pub(crate) fn not_plain(given: &str) -> Self {
        Self::new("not_a_file", format!("Not a regular file: {given}"))
    }
}
