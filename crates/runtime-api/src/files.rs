//! `/fs/…`: the workspace's files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Call;

/// Where a file is taken in, as a multipart form with the parts `file_path` and `file`.
pub const UPLOAD_PATH: &str = "/fs/upload";

/// Where a file is given out: `?path=…`.
pub const DOWNLOAD_PATH: &str = "/fs/download";

/// A new file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateFileRequest {
    /// Relative to the workspace.
    pub path: String,
    /// What is in it.
    #[serde(default)]
    pub content: String,
    /// Its permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

impl Call for CreateFileRequest {
    type Answer = FileDone;
    const PATH: &'static str = "/fs/create_file";
}

/// A text file to read, whole or by lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFileRequest {
    /// Relative to the workspace.
    pub path: String,
    /// `utf-8` or `latin-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// First line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl Call for ReadFileRequest {
    type Answer = FileText;
    const PATH: &'static str = "/fs/read_file";
}

/// A text file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// What is in it.
    pub content: String,
    /// Its path, below `/workspace`.
    pub path: String,
    /// The whole file's size.
    pub size: u64,
}

/// A text to write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFileRequest {
    /// Relative to the workspace.
    pub path: String,
    /// The text.
    pub content: String,
    /// Whether it replaces the file or is added to it.
    #[serde(default)]
    pub mode: WriteMode,
    /// `utf-8` or `latin-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
}

/// Whether a text replaces the file or is added to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteMode {
    /// It is the whole file.
    #[default]
    #[serde(rename = "w")]
    Whole,
    /// It comes after what is there.
    #[serde(rename = "a")]
    Append,
}

impl Call for WriteFileRequest {
    type Answer = FileDone;
    const PATH: &'static str = "/fs/write_file";
}

/// A text to replace in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditFileRequest {
    /// Relative to the workspace.
    pub path: String,
    /// What is there.
    pub old_string: String,
    /// What shall be there.
    pub new_string: String,
    /// Whether it may be there more than once.
    #[serde(default)]
    pub replace_all: bool,
}

impl Call for EditFileRequest {
    type Answer = FileDone;
    const PATH: &'static str = "/fs/edit_file";
}

/// A file or a folder to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteFileRequest {
    /// Relative to the workspace.
    pub path: String,
}

impl Call for DeleteFileRequest {
    type Answer = FileDone;
    const PATH: &'static str = "/fs/delete_file";
}

/// What was done to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDone {
    /// Always.
    pub success: bool,
    /// In a sentence.
    pub message: String,
    /// Its path, below `/workspace`.
    pub path: String,
    /// How often a text was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<u64>,
    /// Its size now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// That a file was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploaded {
    /// Always.
    pub success: bool,
    /// In a sentence.
    pub message: String,
    /// Its path, below `/workspace`.
    pub file_path: String,
    /// The same.
    pub path: String,
    /// Its size.
    pub size: u64,
}

/// A folder to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListFolderRequest {
    /// Relative to the workspace.
    pub path: String,
    /// Whether names that begin with a dot are listed.
    pub show_hidden: bool,
}

impl Default for ListFolderRequest {
    fn default() -> Self {
        Self { path: ".".to_owned(), show_hidden: true }
    }
}

impl Call for ListFolderRequest {
    type Answer = FolderList;
    const PATH: &'static str = "/fs/list_dir";
}

/// What is in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FolderList {
    /// Folders first, each by name.
    pub files: Vec<FolderEntry>,
    /// The folder, below `/workspace`.
    pub current_path: String,
    /// Whether names were left out.
    pub truncated: bool,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FolderEntry {
    /// The name.
    pub name: String,
    /// Its path, below `/workspace`.
    pub path: String,
    /// Whether it is a plain file.
    pub is_file: bool,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Whether it is a symlink.
    pub is_symlink: bool,
    /// A plain file's size.
    pub size: Option<u64>,
    /// When it was changed, in seconds since 1970.
    pub modified_time: f64,
}

/// A call of one of the six file tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// `read`, `write`, `edit`, `grep`, `find` or `ls`; also as `readTool` and so on.
    pub tool: String,
    /// As code has called it: one object, or several values.
    #[serde(default)]
    pub args: Vec<Value>,
}

impl Call for ToolRequest {
    /// The tool's own result, which goes to whoever called it as it is.
    type Answer = Value;
    const PATH: &'static str = "/fs/tool";
}
