//! Files in a workspace.
//!
//! Paths are checked here, at the door, before anything starts; then the runtime inside the sandbox does the work, so
//! that no process outside ever opens a guest's file.

mod deferred;
mod path;
mod quota;
mod transfer;

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use cove_api::SandboxId;
use cove_api::{BayError, DirectoryList, ErrorCode, FileContent, FileInfo, Moment, UploadResult, WriteFile};
use cove_files::FileTool;
use cove_runtime_api::{
    Call, DeleteFileRequest, FolderEntry, ListFolderRequest, ReadFileRequest, ToolRequest, WriteFileRequest,
};
use futures_util::Stream;
use serde_json::Value;

use crate::router::Admitted;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

pub(crate) use deferred::Deferred;
pub(crate) use path::relative;
use transfer::Destination;

/// A stream of a file's bytes; either way.
pub type ByteStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// A path that is known when the file has come: the form has it after the file. None: it has none.
pub type LatePath = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// How long a file operation may take before nobody waits any more.
const LIMIT: Duration = Duration::from_secs(60);

/// Texts that are larger are streamed instead of being wrapped in JSON.
const STREAM_FROM_BYTES: usize = 4 << 20;

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
    pub async fn read_file(&self, owner: &Owner, id: &SandboxId, path: &str) -> BayResult<FileContent> {
        let path = relative(path)?;
        let request = ReadFileRequest { path, ..ReadFileRequest::default() };
        let text = self.file_call(owner, id, &request).await?;
        Ok(FileContent { content: text.content })
    }

    /// Writes a text file, with the folders on the way.
    pub async fn write_file(&self, owner: &Owner, id: &SandboxId, file: WriteFile) -> BayResult<()> {
        let path = relative(&file.path)?;
        if file.content.len() > STREAM_FROM_BYTES {
            let bytes = Bytes::from(file.content.into_bytes());
            let stream = futures_util::stream::iter([Ok(bytes)]);
            return self.upload(owner, id, &path, Box::pin(stream)).await.map(|_| ());
        }
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        self.write_text(&call, WriteFile { path, ..file }).await
    }

    /// Writes a text for a call that has been let in.
    async fn write_text(&self, call: &Admitted, file: WriteFile) -> BayResult<()> {
        let WriteFile { path, content } = file;
        let size = content.len() as u64;
        let mut route = self.route(call).await?;
        self.check_space(&route.session, size).await?;
        let request = WriteFileRequest { path, content, ..WriteFileRequest::default() };
        self.call(call, &mut route, &request).await?;
        route.session.add_bytes(size);
        Ok(())
    }

    /// Deletes a file or a folder.
    pub async fn delete_file(&self, owner: &Owner, id: &SandboxId, path: &str) -> BayResult<()> {
        let path = relative(path)?;
        self.file_call(owner, id, &DeleteFileRequest { path }).await?;
        Ok(())
    }

    /// Lists a folder, hidden entries too.
    pub async fn list_directory(&self, owner: &Owner, id: &SandboxId, path: &str) -> BayResult<DirectoryList> {
        let path = relative(path)?;
        let listed = self.file_call(owner, id, &ListFolderRequest { path, show_hidden: true }).await?;
        Ok(DirectoryList { entries: listed.files.into_iter().map(entry).collect() })
    }

    /// Whether this owner may send files into this sandbox: asked before anything of one is read.
    pub async fn may_upload(&self, owner: &Owner, id: &SandboxId) -> BayResult<()> {
        self.admit(owner, id, Capability::Filesystem).await.map(|_| ())
    }

    /// Takes a file in.
    pub async fn upload(
        &self,
        owner: &Owner,
        id: &SandboxId,
        path: &str,
        bytes: ByteStream,
    ) -> BayResult<UploadResult> {
        self.take_in(owner, id, Destination::Known(relative(path)?), bytes).await
    }

    /// Takes a file in whose path comes after it. Until then it has no name in the workspace; without one nothing of it
    /// stays.
    pub async fn upload_named_last(
        &self,
        owner: &Owner,
        id: &SandboxId,
        bytes: ByteStream,
        path: LatePath,
    ) -> BayResult<UploadResult> {
        self.take_in(owner, id, Destination::Later(path), bytes).await
    }

    async fn take_in(
        &self,
        owner: &Owner,
        id: &SandboxId,
        to: Destination,
        bytes: ByteStream,
    ) -> BayResult<UploadResult> {
        // How long the file takes is up to whoever sends it.
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let mut route = self.route(&call).await?;
        let room = self.check_space(&route.session, 0).await?;
        let most = u64::from(self.inner.config.limits.max_upload_mb) << 20;
        let (path, size) = self.send_upload(&call, &mut route, to, bytes, transfer::Bounds { room, most }).await?;
        route.session.add_bytes(size);
        Ok(UploadResult { status: "ok".to_owned(), path, size })
    }

    /// Gives a file out.
    pub async fn download(&self, owner: &Owner, id: &SandboxId, path: &str) -> BayResult<Download> {
        let path = relative(path)?;
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let route = self.route(&call).await?;
        self.fetch(&call, route, &path).await
    }

    /// Runs one of the file tools (`read`, `write`, `edit`, `grep`, `find`, `ls`) with its own arguments.
    pub async fn file_tool(&self, owner: &Owner, id: &SandboxId, tool: FileTool, args: Value) -> BayResult<Value> {
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let mut route = self.route(&call).await?;
        let coming = tool.brings(&args);
        if let Some(bytes) = coming {
            self.check_space(&route.session, bytes).await?;
        }
        let request = ToolRequest { tool: tool.name().to_owned(), args: vec![args] };
        let answer = self.call(&call, &mut route, &request).await?;
        route.session.add_bytes(coming.unwrap_or(0));
        Ok(answer)
    }

    async fn file_call<C: Call>(&self, owner: &Owner, id: &SandboxId, request: &C) -> BayResult<C::Answer> {
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let mut route = self.route(&call).await?;
        self.call(&call, &mut route, request).await
    }
}

/// An entry as the runtime lists it.
fn entry(listed: FolderEntry) -> FileInfo {
    #[allow(clippy::cast_possible_truncation, reason = "microseconds since 1970 fit")]
    let modified = Moment::from_micros((listed.modified_time * 1e6) as i64);
    FileInfo {
        name: listed.name,
        path: listed.path.trim_start_matches("/workspace").trim_start_matches('/').to_owned(),
        is_dir: listed.is_dir,
        is_file: listed.is_file,
        size: listed.size,
        modified_at: Some(modified),
    }
}

/// The workspace is full.
pub(super) fn uncounted(limit_bytes: u64, why: cove_files::Uncounted) -> BayError {
    let message =
        format!("the size of the cargo cannot be determined (its limit is {limit_bytes} bytes): {why}; remove it");
    BayError::new(ErrorCode::QuotaExceeded, message).with("limit_bytes", limit_bytes)
}

pub(super) fn full(limit_bytes: u64, used_bytes: u64) -> BayError {
    let message = format!("the cargo is full: it holds {used_bytes} of {limit_bytes} bytes; delete files to make room");
    BayError::new(ErrorCode::QuotaExceeded, message).with("limit_bytes", limit_bytes).with("used_bytes", used_bytes)
}
