//! Bytes in and out, streamed: a file of any size costs one block of memory.

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::multipart::MultipartError;
use axum::extract::{Multipart, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cove_runtime_api::Uploaded;
use rustix::fs::OFlags;
use serde::Deserialize;
use tokio_util::io::ReaderStream;

use super::on_disk;
use super::workspace::rel_path;
use crate::ship::ShipState;
use crate::ship::error::{ApiError, Params};

/// A name or a path sent as a form field.
const MAX_FIELD_BYTES: usize = 8 << 10;

fn broken(error: &MultipartError) -> ApiError {
    ApiError::validation(format!("the upload was interrupted or is not a multipart form: {}", error.body_text()))
}

/// Takes one file into the workspace; it appears under its name only when all of it has arrived.
pub(super) async fn upload(State(state): State<ShipState>, form: Multipart) -> Result<Json<Uploaded>, ApiError> {
    let mut form = form;
    let workspace = state.workspace.clone();
    let (mut path, mut file_name, mut received) = (None, None, None);
    while let Some(mut field) = form.next_field().await.map_err(|error| broken(&error))? {
        match field.name() {
            Some("file_path" | "path") => {
                let mut text = Vec::new();
                while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
                    text.extend_from_slice(&chunk);
                    if text.len() > MAX_FIELD_BYTES {
                        return Err(ApiError::validation("`file_path` is too long"));
                    }
                }
                path = Some(rel_path(&String::from_utf8_lossy(&text))?);
            }
            Some("file") if received.is_none() => {
                file_name = field.file_name().map(str::to_owned);
                // Blocks are written as they come; they are small and go to the page cache.
                let mut draft = workspace.draft()?;
                let mut size = 0_u64;
                while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
                    state.disk.writable()?;
                    draft.write(&chunk).map_err(|errno| ApiError::from_errno(errno, "the upload"))?;
                    size += chunk.len() as u64;
                }
                received = Some((draft, size));
            }
            _ => {}
        }
    }
    let Some((draft, size)) = received else {
        return Err(ApiError::validation("the form has no part named `file`"));
    };
    let path = match path {
        Some(path) => path,
        None => rel_path(file_name.as_deref().unwrap_or_default())?,
    };
    workspace.publish(draft, &path, None)?;
    state.disk.wrote();
    let message = format!("File uploaded: {}", path.given());
    Ok(Json(Uploaded { success: true, message, file_path: path.mounted(), path: path.mounted(), size }))
}

#[derive(Debug, Deserialize)]
pub(super) struct DownloadQuery {
    #[serde(alias = "file_path")]
    path: String,
}

/// Sends one file.
pub(super) async fn download(
    State(state): State<ShipState>,
    Params(query): Params<DownloadQuery>,
) -> Result<Response, ApiError> {
    let path = rel_path(&query.path)?;
    let name = path.mounted();
    let (file, size) = on_disk(&state, move |workspace| {
        let file = workspace.file(&path, OFlags::RDONLY)?;
        let size = file.metadata().map_err(|error| ApiError::from_io(&error, path.given()))?.len();
        Ok((file, size))
    })
    .await?;
    // The size is fixed now: a file that grows meanwhile must not break the answer's length.
    let file = tokio::io::AsyncReadExt::take(tokio::fs::File::from_std(file), size);
    let body = HttpBody::from_stream(ReaderStream::with_capacity(file, 64 << 10));
    let plain: String = name.rsplit('/').next().unwrap_or_default().chars().filter(|c| is_plain(*c)).collect();
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}\"")),
    ];
    Ok((headers, body).into_response())
}

fn is_plain(c: char) -> bool {
    c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' '
}
