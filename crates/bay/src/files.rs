//! Files in a workspace.

use std::pin::Pin;

use bytes::Bytes;
use cove_api::{DirectoryList, FileContent, UploadResult, WriteFile};
use cove_files::FileTool;
use futures_util::Stream;
use serde_json::Value;

use crate::{Answer, Bay, Owner};

/// A stream of a file's bytes; either way.
pub type ByteStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// A file on its way out.
pub struct Download {
    /// Its name, for the one who saves it.
    pub name: String,
    /// Its size, where it is known.
    pub size: Option<u64>,
    /// Its bytes.
    pub bytes: ByteStream,
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Bay {
    /// Reads a text file.
    pub async fn read_file(&self, owner: &Owner, id: &str, path: &str) -> Answer<FileContent> {
        let _ = (owner, id, path);
        Err(crate::bay::unbuilt())
    }

    /// Writes a text file, with the folders on the way.
    pub async fn write_file(&self, owner: &Owner, id: &str, file: WriteFile) -> Answer<()> {
        let _ = (owner, id, file);
        Err(crate::bay::unbuilt())
    }

    /// Deletes a file or a folder.
    pub async fn delete_file(&self, owner: &Owner, id: &str, path: &str) -> Answer<()> {
        let _ = (owner, id, path);
        Err(crate::bay::unbuilt())
    }

    /// Lists a folder, hidden entries too.
    pub async fn list_directory(&self, owner: &Owner, id: &str, path: &str) -> Answer<DirectoryList> {
        let _ = (owner, id, path);
        Err(crate::bay::unbuilt())
    }

    /// Takes a file in.
    pub async fn upload(&self, owner: &Owner, id: &str, path: &str, bytes: ByteStream) -> Answer<UploadResult> {
        let _ = (owner, id, path, bytes);
        Err(crate::bay::unbuilt())
    }

    /// Gives a file out.
    pub async fn download(&self, owner: &Owner, id: &str, path: &str) -> Answer<Download> {
        let _ = (owner, id, path);
        Err(crate::bay::unbuilt())
    }

    /// Runs one of the file tools (`read`, `write`, `edit`, `grep`, `find`, `ls`) with its own arguments.
    pub async fn file_tool(&self, owner: &Owner, id: &str, tool: FileTool, args: Value) -> Answer<Value> {
        let _ = (owner, id, tool, args);
        Err(crate::bay::unbuilt())
    }
}
