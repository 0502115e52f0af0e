//! `/fs/…`, `/upload`, `/download`: the workspace's files over HTTP.

mod list;
mod text;
mod tool;
mod transfer;
pub(crate) mod workspace;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::ship::ShipState;
use crate::ship::error::ApiError;
use workspace::Workspace;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    let upload = || post(transfer::upload).layer(DefaultBodyLimit::disable());
    Router::new()
        .route("/fs/create_file", post(text::create))
        .route("/fs/read_file", post(text::read))
        .route("/fs/write_file", post(text::write))
        .route("/fs/edit_file", post(text::edit))
        .route("/fs/delete_file", post(text::delete))
        .route("/fs/list_dir", post(list::list))
        .route("/fs/tool", post(tool::tool))
        .route("/fs/upload", upload())
        .route("/upload", upload())
        .route("/fs/download", get(transfer::download))
        .route("/download", get(transfer::download))
}

/// Does what writes, unless the workspace is over its limit.
async fn to_disk<T: Send + 'static>(
    state: &ShipState,
    work: impl FnOnce(&Workspace) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    state.disk.writable()?;
    let done = on_disk(state, work).await;
    state.disk.wrote();
    done
}

/// Does file work where it may wait for a disk.
async fn on_disk<T: Send + 'static>(
    state: &ShipState,
    work: impl FnOnce(&Workspace) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let workspace = state.workspace.clone();
    let done = tokio::task::spawn_blocking(move || work(&workspace)).await;
    done.unwrap_or_else(|error| Err(ApiError::internal(format!("the file operation failed: {error}"))))
}
