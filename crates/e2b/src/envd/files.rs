//! `/files`: bytes in and out. In the workspace by Bay's own way, elsewhere by a program with the user's rights.

use std::io;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cove_bay::{ByteStream, ProcessRecord, RunningProcess};
use cove_runtime_api::{ProcessFrame, ProcessStream};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::multipart;
use super::process::{check_name, check_user};
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::refusal::Refused;
use crate::scripts::{order, refusal_of};

const READ: &str = "[ -e \"$1\" ] || exit 44; [ -d \"$1\" ] && exit 41; exec cat -- \"$1\"";
const WRITE: &str = "[ -d \"$1\" ] && exit 41; mkdir -p -- \"$(dirname -- \"$1\")\" || exit 1; exec cat > \"$1\"";

/// What a request's address says.
pub(super) struct Asked {
    pub(super) path: Option<String>,
    username: Option<String>,
}

impl Asked {
    fn of(parts: &Parts) -> Self {
        let mut asked = Self { path: None, username: None };
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "path" => asked.path = Some(value.into_owned()),
                "username" => asked.username = Some(value.into_owned()),
                _ => {}
            }
        }
        asked
    }
}

async fn guest(door: &E2bDoor, parts: &Parts) -> Result<(Guest, Asked), Refused> {
    let asked = Asked::of(parts);
    check_user(&parts.headers)?;
    check_name(asked.username.as_deref())?;
    if asked.path.as_ref().is_some_and(|path| path.contains('\0')) {
        return Err(Refused::invalid("the path holds a NUL character"));
    }
    Ok((door.guest(parts).await?, asked))
}

pub(super) async fn download(State(door): State<E2bDoor>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let done = async {
        let (guest, asked) = guest(&door, &parts).await?;
        let path = asked.path.ok_or_else(|| Refused::invalid("`path` is missing"))?;
        let place = SandboxPath::of(&path);
        let disposition = disposition(place.name());
        let kind = (header::CONTENT_TYPE, "application/octet-stream".to_owned());
        let headers = [kind, (header::CONTENT_DISPOSITION, disposition)];
        let Some(path) = place.in_workspace() else {
            return Ok((headers, Body::from_stream(elsewhere(&door, &guest, &place).await?)).into_response());
        };
        let found = door.bay.download(&guest.owner, &guest.id, path).await;
        let found = found.map_err(|error| named(error.into(), &place))?;
        let mut response = (headers, Body::from_stream(found.bytes)).into_response();
        if let Some(size) = found.size {
            response.headers_mut().insert(header::CONTENT_LENGTH, size.into());
        }
        Ok(response)
    };
    done.await.unwrap_or_else(|refused: Refused| refused.into_response())
}

/// A refusal with the path in it.
fn named(refused: Refused, place: &SandboxPath) -> Refused {
    match refused.status {
        StatusCode::NOT_FOUND if refused.word == Some(cove_api::ErrorCode::FileNotFound) => {
            Refused::missing(format!("file not found: {}", place.shown))
        }
        _ => refused,
    }
}

fn disposition(name: &str) -> String {
    let plain: String =
        name.chars().filter(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\') || *c == ' ').collect();
    format!("inline; filename=\"{plain}\"")
}

/// A file outside the workspace. Its first bytes, or its refusal, are awaited before anything is answered.
async fn elsewhere(door: &E2bDoor, guest: &Guest, place: &SandboxPath) -> Result<ByteStream, Refused> {
    let order = order(READ, &[&place.inside], false);
    let mut process = door.bay.run_process(&guest.owner, &guest.id, order, ProcessRecord::None).await?;
    let first = piece(&mut process, place).await?;
    let rest = place.clone();
    let bytes = futures_util::stream::unfold((first, process, rest), |(next, mut process, place)| async move {
        let bytes = next?;
        let next = match piece(&mut process, &place).await {
            Ok(next) => next,
            Err(refused) => return Some((Err(io::Error::other(refused.message)), (None, process, place))),
        };
        Some((Ok(bytes), (next, process, place)))
    });
    Ok(Box::pin(bytes))
}

/// The next bytes that a program writes; none: it has ended well.
async fn piece(process: &mut RunningProcess, place: &SandboxPath) -> Result<Option<Bytes>, Refused> {
    let mut said = Vec::new();
    loop {
        match process.next().await? {
            ProcessFrame::Output(chunk) => {
                let bytes = STANDARD.decode(&chunk.data).unwrap_or_default();
                if chunk.dropped > 0 {
                    return Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "the file was not taken in time"));
                }
                match chunk.stream {
                    ProcessStream::Stderr => said.extend_from_slice(&bytes),
                    _ => return Ok(Some(bytes.into())),
                }
            }
            ProcessFrame::Ended(info) => {
                let refused = refusal_of(info.return_code.unwrap_or(-1), &said, &place.shown);
                return refused.map_or(Ok(None), Err);
            }
            ProcessFrame::Process(_) | ProcessFrame::Alive => {}
        }
    }
}

pub(super) async fn upload(State(door): State<E2bDoor>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let done = async {
        let (guest, asked) = guest(&door, &parts).await?;
        if parts.headers.keys().any(|name| name.as_str().starts_with("x-metadata-")) {
            return Err(Refused::unsupported("files of Cove's sandboxes have no metadata; leave it out"));
        }
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let bytes = unpacked(&parts, body)?;
        let written: Vec<Value> = if kind.starts_with("multipart/form-data") {
            multipart::take(&door, &guest, kind, bytes, asked.path.as_deref()).await?
        } else {
            let path = asked.path.ok_or_else(|| Refused::invalid("`path` is missing"))?;
            vec![store(&door, &guest, &path, bytes).await?]
        };
        Ok(Json(written).into_response())
    };
    done.await.unwrap_or_else(|refused: Refused| refused.into_response())
}

/// What was sent, plain; a form is packed as a whole.
fn unpacked(parts: &Parts, body: Body) -> Result<ByteStream, Refused> {
    let bytes = Box::pin(body.into_data_stream().map(|piece| piece.map_err(io::Error::other)));
    let packed = parts.headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or_default());
    match packed {
        None | Some("identity") => Ok(bytes),
        Some("gzip") => Ok(multipart::unpacked(bytes)),
        Some(other) => {
            let message = format!("`Content-Encoding: {other}` is not supported; gzip is");
            Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
        }
    }
}

/// Writes one file, with the folders on the way.
pub(super) async fn store(door: &E2bDoor, guest: &Guest, path: &str, bytes: ByteStream) -> Result<Value, Refused> {
    let place = SandboxPath::of(path);
    match place.in_workspace() {
        Some(".") => return Err(Refused::invalid("the path is the home itself")),
        Some(path) => {
            let stored = door.bay.upload(&guest.owner, &guest.id, path, bytes).await;
            stored.map_err(|error| named(error.into(), &place))?;
        }
        None => write_elsewhere(door, guest, &place, bytes).await?,
    }
    Ok(json!({"name": place.name(), "path": place.shown, "type": "file"}))
}

async fn write_elsewhere(
    door: &E2bDoor,
    guest: &Guest,
    place: &SandboxPath,
    mut bytes: ByteStream,
) -> Result<(), Refused> {
    let (bay, owner, id) = (&door.bay, &guest.owner, &guest.id);
    let mut process = bay.run_process(owner, id, order(WRITE, &[&place.inside], true), ProcessRecord::None).await?;
    let ProcessFrame::Process(info) = process.next().await? else {
        return Err(Refused::new(StatusCode::BAD_GATEWAY, "the program that writes did not start"));
    };
    let send = async {
        while let Some(piece) = bytes.next().await {
            let piece = piece.map_err(|_| Refused::invalid("the connection closed before the end of the upload"))?;
            bay.send_to_process(owner, id, &info.process_id, &piece, false).await?;
        }
        bay.send_to_process(owner, id, &info.process_id, &[], true).await?;
        Ok::<_, Refused>(())
    };
    let sent = send.await;
    if matches!(&sent, Err(refused) if refused.word.is_none()) {
        // Half a file helps nobody; the program ends without its last bytes.
        bay.signal_process(owner, id, &info.process_id, 9).await?;
        return sent;
    }
    // How it ended says more than that it took no more.
    piece(&mut process, place).await?;
    sent
}
