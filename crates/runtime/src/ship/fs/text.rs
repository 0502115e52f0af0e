//! Text files whole: create, read, write, edit, delete.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};

use axum::Json;
use axum::extract::State;
use cove_runtime_api::{
    CreateFileRequest, DeleteFileRequest, EditFileRequest, FileDone, FileText, MAX_TEXT_BYTES, ReadFileRequest,
    RefusalCode, WriteFileRequest, WriteMode,
};
use cove_workspace::RelPath;
use rustix::fs::OFlags;

use super::workspace::{GuestFiles, rel_path};
use super::{on_disk, to_disk};
use crate::ship::ShipState;
use crate::ship::error::{ApiError, Body};

pub(super) async fn create(
    State(state): State<ShipState>,
    Body(request): Body<CreateFileRequest>,
) -> Result<Json<FileDone>, ApiError> {
    let path = rel_path(&request.path)?;
    to_disk(&state, move |workspace| {
        put(workspace, &path, request.content.as_bytes(), request.mode)?;
        Ok(done(&path, "created", Some(request.content.len() as u64)))
    })
    .await
}

pub(super) async fn read(
    State(state): State<ShipState>,
    Body(request): Body<ReadFileRequest>,
) -> Result<Json<FileText>, ApiError> {
    let path = rel_path(&request.path)?;
    let encoding = Encoding::named(request.encoding.as_deref())?;
    on_disk(&state, move |workspace| {
        let file = workspace.file(&path, OFlags::RDONLY)?;
        let size = file.metadata().map_err(|error| ApiError::from_io(&error, path.given()))?.len();
        let bytes = match (request.offset, request.limit) {
            (None, None) => whole(file, &path)?,
            (offset, limit) => lines(file, &path, offset.unwrap_or(1), limit.unwrap_or(u64::MAX))?,
        };
        Ok(Json(FileText { content: encoding.decode(bytes, path.given())?, path: path.mounted(), size }))
    })
    .await
}

pub(super) async fn write(
    State(state): State<ShipState>,
    Body(request): Body<WriteFileRequest>,
) -> Result<Json<FileDone>, ApiError> {
    let path = rel_path(&request.path)?;
    let bytes = Encoding::named(request.encoding.as_deref())?.encode(request.content)?;
    to_disk(&state, move |workspace| {
        let size = match request.mode {
            WriteMode::Whole => put(workspace, &path, &bytes, None).map(|()| bytes.len() as u64)?,
            WriteMode::Append => append(workspace, &path, &bytes)?,
        };
        Ok(done(&path, "written", Some(size)))
    })
    .await
}

pub(super) async fn edit(
    State(state): State<ShipState>,
    Body(request): Body<EditFileRequest>,
) -> Result<Json<FileDone>, ApiError> {
    let path = rel_path(&request.path)?;
    if request.old_string.is_empty() {
        return Err(ApiError::bad_request(RefusalCode::ValidationError, "`old_string` must not be empty"));
    }
    to_disk(&state, move |workspace| {
        let before = Encoding::Utf8.decode(whole(workspace.file(&path, OFlags::RDONLY)?, &path)?, path.given())?;
        let found = before.matches(&request.old_string).count();
        if found == 0 {
            return Err(ApiError::bad_request(
                RefusalCode::TextNotFound,
                format!("`old_string` does not occur in {}; it must match exactly, spaces included", path.given()),
            ));
        }
        if found > 1 && !request.replace_all {
            let message = format!(
                "`old_string` occurs {found} times in {}; give more of its surroundings or set replace_all=true",
                path.given()
            );
            return Err(ApiError::bad_request(RefusalCode::NotUnique, message));
        }
        let after = before.replace(&request.old_string, &request.new_string);
        put(workspace, &path, after.as_bytes(), None)?;
        let Json(done) = done(&path, "edited", Some(after.len() as u64));
        Ok(Json(FileDone { replacements: Some(found as u64), ..done }))
    })
    .await
}

pub(super) async fn delete(
    State(state): State<ShipState>,
    Body(request): Body<DeleteFileRequest>,
) -> Result<Json<FileDone>, ApiError> {
    let path = rel_path(&request.path)?;
    on_disk(&state, move |workspace| {
        workspace.remove(&path)?;
        Ok(done(&path, "deleted", None))
    })
    .await
}

fn done(path: &RelPath, what: &str, size: Option<u64>) -> Json<FileDone> {
    let message = format!("File {what}: {}", path.given());
    Json(FileDone { success: true, message, path: path.mounted(), replacements: None, size })
}

/// Writes a file whole or not at all. A symlink is written through, as editors do.
fn put(workspace: &GuestFiles, path: &RelPath, bytes: &[u8], mode: Option<u32>) -> Result<(), ApiError> {
    let refuse = |error: &std::io::Error| ApiError::from_io(error, path.given());
    if workspace.is_link(path)? {
        let mut file = workspace.file(path, OFlags::WRONLY)?;
        file.set_len(0).map_err(|error| refuse(&error))?;
        return file.write_all(bytes).map_err(|error| refuse(&error));
    }
    let mut draft = workspace.draft()?;
    draft.write(bytes).map_err(|errno| ApiError::from_errno(errno, path.given()))?;
    workspace.publish(draft, path, mode)
}

fn append(workspace: &GuestFiles, path: &RelPath, bytes: &[u8]) -> Result<u64, ApiError> {
    let refuse = |error: &std::io::Error| ApiError::from_io(error, path.given());
    let mut file = match workspace.file(path, OFlags::WRONLY | OFlags::APPEND) {
        Err(missing) if missing.code() == RefusalCode::FileNotFound => {
            put(workspace, path, b"", None)?;
            workspace.file(path, OFlags::WRONLY | OFlags::APPEND)?
        }
        other => other?,
    };
    file.write_all(bytes).map_err(|error| refuse(&error))?;
    Ok(file.metadata().map_err(|error| refuse(&error))?.len())
}

fn too_large(path: &RelPath) -> ApiError {
    let limit = MAX_TEXT_BYTES >> 20;
    ApiError::too_large(format!("{} has more than {limit} MiB; read it by lines or download it", path.given()))
}

fn whole(file: File, path: &RelPath) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| ApiError::from_io(&error, path.given()))?;
    if bytes.len() as u64 > MAX_TEXT_BYTES { Err(too_large(path)) } else { Ok(bytes) }
}

/// The lines from `first` (1 is the first) on, `count` of them, with their line ends.
fn lines(file: File, path: &RelPath, first: u64, count: u64) -> Result<Vec<u8>, ApiError> {
    let refuse = |error: std::io::Error| ApiError::from_io(&error, path.given());
    let mut reader = BufReader::with_capacity(64 << 10, file);
    for _ in 1..first.max(1) {
        if reader.skip_until(b'\n').map_err(refuse)? == 0 {
            break;
        }
    }
    let mut taken = Vec::new();
    let mut limited = reader.take(MAX_TEXT_BYTES + 1);
    for _ in 0..count {
        if limited.read_until(b'\n', &mut taken).map_err(refuse)? == 0 {
            break;
        }
    }
    if taken.len() as u64 > MAX_TEXT_BYTES { Err(too_large(path)) } else { Ok(taken) }
}

/// How bytes and text relate; the two that every byte sequence or every text has.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    Latin1,
}

impl Encoding {
    fn named(name: Option<&str>) -> Result<Self, ApiError> {
        match name.map(|name| name.to_ascii_lowercase().replace('_', "-")).as_deref() {
            None | Some("utf-8" | "utf8" | "ascii" | "us-ascii") => Ok(Self::Utf8),
            Some("latin-1" | "latin1" | "iso-8859-1") => Ok(Self::Latin1),
            Some(other) => Err(ApiError::bad_request(
                RefusalCode::ValidationError,
                format!("Unknown encoding {other:?}: known are utf-8 and latin-1"),
            )),
        }
    }

    fn decode(self, bytes: Vec<u8>, given: &str) -> Result<String, ApiError> {
        match self {
            Self::Latin1 => Ok(bytes.into_iter().map(char::from).collect()),
            Self::Utf8 => String::from_utf8(bytes).map_err(|_| {
                ApiError::bad_request(
                    RefusalCode::NotText,
                    format!("{given} is not UTF-8 text; use /download for its bytes"),
                )
            }),
        }
    }

    fn encode(self, text: String) -> Result<Vec<u8>, ApiError> {
        match self {
            Self::Utf8 => Ok(text.into_bytes()),
            Self::Latin1 => text.chars().map(u8::try_from).collect::<Result<_, _>>().map_err(|_| {
                ApiError::bad_request(RefusalCode::ValidationError, "The content does not fit into latin-1")
            }),
        }
    }
}
