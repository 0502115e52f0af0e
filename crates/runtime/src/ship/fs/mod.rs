//! `/fs/…`, `/upload`, `/download`: the workspace's files over HTTP.

mod list;
mod text;
mod tool;
mod transfer;
mod watch;
pub(crate) mod workspace;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use cove_runtime_api::{
    Call, CreateFileRequest, DOWNLOAD_PATH, DeleteFileRequest, EditFileRequest, ListFolderRequest, ReadFileRequest,
    ToolRequest, UPLOAD_PATH, WatchFolder, WriteFileRequest,
};

use crate::ship::ShipState;
use crate::ship::error::ApiError;
use workspace::GuestFiles;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    let upload = || post(transfer::upload).layer(DefaultBodyLimit::disable());
    Router::new()
        .route(CreateFileRequest::PATH, post(text::create))
        .route(ReadFileRequest::PATH, post(text::read))
        .route(WriteFileRequest::PATH, post(text::write))
        .route(EditFileRequest::PATH, post(text::edit))
        .route(DeleteFileRequest::PATH, post(text::delete))
        .route(ListFolderRequest::PATH, post(list::list))
        .route(ToolRequest::PATH, post(tool::tool))
        .route(WatchFolder::PATH, post(watch::follow))
        .route(UPLOAD_PATH, upload())
        .route("/upload", upload())
        .route(DOWNLOAD_PATH, get(transfer::download))
        .route("/download", get(transfer::download))
}

/// Does what writes, unless the workspace is over its limit.
async fn to_disk<T: Send + 'static>(
    state: &ShipState,
    work: impl FnOnce(&GuestFiles) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    state.disk.writable()?;
    let done = on_disk(state, work).await;
    state.disk.wrote();
    done
}

/// Does file work where it may wait for a disk.
async fn on_disk<T: Send + 'static>(
    state: &ShipState,
    work: impl FnOnce(&GuestFiles) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let workspace = state.workspace.clone();
    let done = tokio::task::spawn_blocking(move || work(&workspace)).await;
    done.unwrap_or_else(|error| Err(ApiError::internal(format!("the file operation failed: {error}"))))
}
