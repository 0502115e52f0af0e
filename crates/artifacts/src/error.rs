//! What the store refuses, each with a code that does not change.

use std::io;

use cove_core::ArtifactId;
use rustix::io::Errno;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// One artifact is larger than the store takes.
    #[error("the artifact has {bytes} bytes; the limit is {max_bytes}")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        max_bytes: u64,
    },
    /// There is no room left: by count, by bytes, or on the disk.
    #[error("the artifact store is full: {reason}")]
    Full {
        /// Which limit was reached.
        reason: String,
    },
    /// No artifact of that id is visible.
    #[error("there is no artifact {id}")]
    NotFound {
        /// The id that was asked for.
        id: ArtifactId,
    },
    /// The bytes of a picture do not begin as a PNG does.
    #[error("the picture is not a PNG")]
    NotPng,
    /// Metadata that is too long to be metadata.
    #[error("the picture's metadata has {bytes} bytes; the limit is {max_bytes}")]
    MetaTooLarge {
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        max_bytes: u64,
    },
    /// A value that cannot be written as JSON.
    #[error("the value cannot be written as JSON: {0}")]
    NotJson(String),
    /// A file that is there, but is not what this store writes.
    #[error("the artifact {id} is damaged: {reason}")]
    Damaged {
        /// Whose file it is.
        id: ArtifactId,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process held the store's lock for too long.
    #[error("the artifact store is held by another process")]
    Busy,
    /// The disk or the system refused.
    #[error("the artifact store cannot be used: {0}")]
    Io(#[source] io::Error),
}

impl ArtifactError {
    /// The stable code of this kind of trouble.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "artifact_too_large",
            Self::Full { .. } => "store_full",
            Self::NotFound { .. } => "artifact_not_found",
            Self::NotPng => "not_a_png",
            Self::MetaTooLarge { .. } => "meta_too_large",
            Self::NotJson(_) => "not_json",
            Self::Damaged { .. } => "artifact_damaged",
            Self::Busy => "store_busy",
            Self::Io(_) => "store_io_error",
        }
    }
}

impl From<io::Error> for ArtifactError {
    /// A full disk and a full quota are the same trouble to the user as a full store.
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC) => Self::Full { reason: "no space is left on the disk".to_owned() },
            Some(Errno::DQUOT) => Self::Full { reason: "the disk quota is used up".to_owned() },
            _ => Self::Io(error),
        }
    }
}
