//! Failures of the file tools: a stable code for programs, a sentence for the model.
//!
//! The sentences are the contract's own; they name the path as the caller wrote it and never a path of the host.

use rustix::io::Errno;
use serde::Serialize;

cove_core::codes! {
    /// The stable code of a file tool's failure.
    FileErrorCode {
        /// The arguments do not fit the tool.
        InvalidArgs = "invalid_args",
        /// The path leads outside the workspace, or cannot name a file.
        InvalidPath = "invalid_path",
        /// Nothing is at this path.
        FileNotFound = "file_not_found",
        /// A folder is needed and something else is there.
        NotADirectory = "not_a_directory",
        /// A regular file is needed and something else is there.
        NotAFile = "not_a_file",
        /// The file is text in another encoding.
        NotUtf8 = "not_utf8",
        /// The text to replace occurs more than once.
        NotUnique = "not_unique",
        /// The text to replace is not in the file.
        TextNotFound = "text_not_found",
        /// The edit would change nothing.
        NoChange = "no_change",
        /// Two edits touch the same text.
        OverlappingEdits = "overlapping_edits",
        /// The first line to read is after the end of the file.
        OffsetBeyondEnd = "offset_beyond_end",
        /// The file changed during the edit.
        Conflict = "conflict",
        /// The system does not permit it.
        PermissionDenied = "permission_denied",
        /// The workspace or its disk is full.
        QuotaExceeded = "quota_exceeded",
        /// The file is larger than the tool takes.
        FileTooLarge = "file_too_large",
        /// It took too long.
        Timeout = "timeout",
        /// The system failed in another way.
        IoError = "io_error",
    }
}

impl FileErrorCode {
    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

/// Why a file tool did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct FileError {
    /// What happened, for programs.
    pub code: FileErrorCode,
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
    pub(crate) fn new(code: FileErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn invalid_args(message: impl Into<String>) -> Self {
        Self::new(FileErrorCode::InvalidArgs, message)
    }

    pub(crate) fn invalid_path(given: &str, why: &str) -> Self {
        Self::new(FileErrorCode::InvalidPath, format!("Invalid path: {given} ({why})"))
    }

    pub(crate) fn timeout(what: &str) -> Self {
        Self::new(FileErrorCode::Timeout, format!("{what} took too long and was stopped"))
    }

    /// What the system's refusal means for the caller.
    pub(crate) fn from_errno(errno: Errno, asked: Asked, given: &str) -> Self {
        match errno {
            Errno::NOENT if asked == Asked::File => {
                Self::new(FileErrorCode::FileNotFound, format!("File not found: {given} (ENOENT)"))
            }
            Errno::NOENT => Self::new(FileErrorCode::FileNotFound, format!("Path not found: {given}")),
            Errno::NOTDIR => Self::new(FileErrorCode::NotADirectory, format!("Not a directory: {given}")),
            Errno::ISDIR => Self::is_directory(given),
            // The kernel's words for "this would lead out": EXDEV for `..` and absolute symlinks, ELOOP for magic
            // links and circles.
            Errno::XDEV => Self::invalid_path(given, "it leads outside the workspace"),
            Errno::LOOP => Self::invalid_path(given, "a symlink on the way cannot be followed"),
            Errno::NAMETOOLONG | Errno::INVAL => Self::invalid_path(given, "no file can have such a name"),
            Errno::NOSPC | Errno::DQUOT => Self::new(
                FileErrorCode::QuotaExceeded,
                format!("No space left to write {given}: the workspace's quota or disk is full; nothing was changed"),
            ),
            Errno::FBIG => Self::new(
                FileErrorCode::QuotaExceeded,
                format!("{given} would be larger than a file may be; nothing was changed"),
            ),
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                Self::new(FileErrorCode::PermissionDenied, format!("Permission denied: {given}"))
            }
            // A FIFO or a socket that nobody serves.
            Errno::NXIO => Self::not_plain(given),
            other => Self::new(FileErrorCode::IoError, format!("{given}: {}", std::io::Error::from(other))),
        }
    }

    pub(crate) fn from_io(error: &std::io::Error, asked: Asked, given: &str) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(errno, asked, given),
            None => Self::new(FileErrorCode::IoError, format!("{given}: {error}")),
        }
    }

    pub(crate) fn is_directory(given: &str) -> Self {
        Self::new(FileErrorCode::NotAFile, format!("Is a directory: {given} (EISDIR). Use ls to see what is in it."))
    }

    pub(crate) fn not_plain(given: &str) -> Self {
        Self::new(FileErrorCode::NotAFile, format!("Not a regular file: {given}"))
    }
}
