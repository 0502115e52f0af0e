//! Files in a workspace.

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use cove_api::SandboxId;
use cove_api::{BayError, DirectoryList, ErrorCode, FileContent, FileQuery, Status, UploadResult, WriteFile};
use cove_bay::Download;
use cove_files::FileTool;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::upload;
use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::{Caller, Looker};
use crate::extract::{Asked, Named, Sent};
use crate::failure::{Failure, Reply};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(read_file, write_file, delete_file))
        .routes(routes!(list_directory))
        .routes(routes!(upload_file))
        .routes(routes!(download_file))
        .routes(routes!(call_file_tool))
}

/// Which folder.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct FolderQuery {
    /// Relative to `/workspace`.
    #[param(default = ".")]
    path: String,
}

impl Default for FolderQuery {
    fn default() -> Self {
        Self { path: ".".to_owned() }
    }
}

impl Bounded for FolderQuery {}

/// A file to upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used: the form is read as it comes")]
struct UploadForm {
    /// Path relative to `/workspace`; missing folders are created.
    path: String,
    /// The bytes.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
}

/// Read a text file
#[utoipa::path(get, path = "/sandboxes/{id}/filesystem/files", tag = "files", params(FileQuery),
    responses((status = 200, body = FileContent, description = "The text")))]
async fn read_file(
    State(app): State<App>,
    Looker(owner): Looker,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<FileQuery>,
) -> Reply<Json<FileContent>> {
    app.ask(app.bay.read_file(&owner, &id, &query.path)).await.map(Json)
}

/// Write a text file
///
/// Missing folders are created.
#[utoipa::path(put, path = "/sandboxes/{id}/filesystem/files", tag = "files", request_body = WriteFile,
    responses((status = 200, body = Status, description = "Written")))]
async fn write_file(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(file): Sent<WriteFile>,
) -> Reply<Json<Status>> {
    app.ask(app.bay.write_file(&owner, &id, file)).await?;
    Ok(Json(Status::ok()))
}

/// Delete a file or a folder
#[utoipa::path(delete, path = "/sandboxes/{id}/filesystem/files", tag = "files", params(FileQuery),
    responses((status = 200, body = Status, description = "Deleted")))]
async fn delete_file(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<FileQuery>,
) -> Reply<Json<Status>> {
    app.ask(app.bay.delete_file(&owner, &id, &query.path)).await?;
    Ok(Json(Status::ok()))
}

/// List a folder
///
/// Includes hidden entries.
#[utoipa::path(get, path = "/sandboxes/{id}/filesystem/directories", tag = "files", params(FolderQuery),
    responses((status = 200, body = DirectoryList, description = "The entries")))]
async fn list_directory(
    State(app): State<App>,
    Looker(owner): Looker,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<FolderQuery>,
) -> Reply<Json<DirectoryList>> {
    app.ask(app.bay.list_directory(&owner, &id, &query.path)).await.map(Json)
}

/// Upload a file
#[utoipa::path(post, path = "/sandboxes/{id}/filesystem/upload", tag = "files",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, body = UploadResult, description = "Path and size of the file")))]
async fn upload_file(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    request: Request,
) -> Result<Json<UploadResult>, Response> {
    upload::upload(&app, &owner, &id, request).await.map(Json)
}

/// Download a file
#[utoipa::path(get, path = "/sandboxes/{id}/filesystem/download", tag = "files", params(FileQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream", description = "The bytes")))]
async fn download_file(
    State(app): State<App>,
    Looker(owner): Looker,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<FileQuery>,
) -> Reply<Response> {
    let file = app.ask(app.bay.download(&owner, &id, &query.path)).await?;
    Ok(give(file, "application/octet-stream"))
}

/// Use a file tool
///
/// `read`, `write`, `edit`, `grep`, `find` or `ls`, with its own arguments and its own answer.
#[utoipa::path(post, path = "/sandboxes/{id}/filesystem/tools/{tool}", tag = "files",
    request_body(content = Object, description = "The tool's arguments"),
    responses((status = 200, body = Value, description = "The tool's answer")))]
async fn call_file_tool(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, tool)): Named<(SandboxId, String)>,
    Sent(args): Sent<Map<String, Value>>,
) -> Reply<Json<Value>> {
    let Some(tool) = FileTool::ALL.into_iter().find(|known| known.name() == tool) else {
        let known: Vec<&str> = FileTool::ALL.iter().map(|tool| tool.name()).collect();
        let error = BayError::new(ErrorCode::NotFound, "there is no such file tool").with("available", known);
        return Err(Failure::from(error));
    };
    app.ask(app.bay.file_tool(&owner, &id, tool, Value::Object(args))).await.map(Json)
}

/// Bytes on their way out: to be saved, not shown, whatever a browser may think they are.
pub(super) fn give(file: Download, media_type: &'static str) -> Response {
    let mut response = Response::new(Body::from_stream(file.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CONTENT_DISPOSITION, disposition(&file.name));
    if let Some(size) = file.size {
        headers.insert(header::CONTENT_LENGTH, size.into());
    }
    response
}

/// `attachment` with a name that no header can trip over.
fn disposition(name: &str) -> HeaderValue {
    let plain = |c: char| if c.is_ascii_alphanumeric() || " ._-()".contains(c) { c } else { '_' };
    let fallback: String = name.chars().map(plain).collect();
    let mut exact = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            exact.push(char::from(byte));
        } else {
            exact.push_str(&format!("%{byte:02X}"));
        }
    }
    let text = format!("attachment; filename=\"{fallback}\"; filename*=UTF-8''{exact}");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::disposition;

    #[test]
    fn names_cannot_break_out_of_their_header() {
        let check = |name: &str, value: &str| assert_eq!(disposition(name).to_str().unwrap(), value);
        check("a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt");
        check("ä\"b\r\n.png", "attachment; filename=\"__b__.png\"; filename*=UTF-8''%C3%A4%22b%0D%0A.png");
    }
}
