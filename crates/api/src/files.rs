//! Files in a sandbox's workspace.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

/// Which file; relative to `/workspace`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// Relative to `/workspace`.
    pub path: String,
}

/// A text file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileContent {
    /// The text.
    pub content: String,
}

/// A text to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WriteFile {
    /// Path relative to `/workspace`; missing folders are created.
    pub path: String,
    /// The text.
    pub content: String,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileInfo {
    /// Its name.
    pub name: String,
    /// Relative to `/workspace`.
    pub path: String,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Whether it is a file.
    pub is_file: bool,
    /// Its size; none for folders.
    pub size: Option<u64>,
    /// When it last changed.
    pub modified_at: Option<Moment>,
}

/// The entries of a folder, including hidden ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DirectoryList {
    /// The entries.
    pub entries: Vec<FileInfo>,
}

/// An uploaded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UploadResult {
    /// `ok`
    pub status: String,
    /// Relative to `/workspace`.
    pub path: String,
    /// Its size.
    pub size: u64,
}
