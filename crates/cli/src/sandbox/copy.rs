//! `cove sandbox cp`: a file or a folder in or out, as a stream. What breaks off on its way out leaves nothing half here.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use cove_api::ErrorCode;
use cove_client::{Bits, Client, ClientError};
use cove_core::{PrefixedId as _, SandboxId};
use cove_workspace::Folder;
use futures_util::StreamExt as _;
use tokio::io::{AsyncRead, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::{tree, wait};
use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, note};

/// `sandbox-…:path`; nothing else before a colon is a sandbox.
fn remote(text: &str) -> Option<(&str, &str)> {
    let (id, path) = text.split_once(':')?;
    id.starts_with(SandboxId::PREFIX).then_some((id, path))
}

pub(super) async fn copy(bay: &Client, from: &str, to: &str) -> anyhow::Result<Exit> {
    match (remote(from), remote(to)) {
        (None, Some((id, path))) => put(bay, from, id, path).await,
        (Some((id, path)), None) => fetch(bay, id, path, to).await,
        _ => bail!("one of the two must be ID:PATH, and the other a file here"),
    }
}

async fn put(bay: &Client, from: &str, id: &str, path: &str) -> anyhow::Result<Exit> {
    let mut path = path.to_owned();
    if path.is_empty() || path.ends_with('/') {
        // `..` and `dir/` have names too, once they are looked at.
        let whole = Path::new(from).canonicalize().unwrap_or_else(|_| from.into());
        path.push_str(
            whole.file_name().and_then(|name| name.to_str()).context("no name for the file inside: write ID:PATH")?,
        );
    }
    if from != "-" && Path::new(from).is_dir() {
        return tree::put(bay, Path::new(from), id, &path).await;
    }
    let source: Box<dyn AsyncRead + Send + Unpin> = match from {
        "-" => Box::new(tokio::io::stdin()),
        file => Box::new(tokio::fs::File::open(file).await.with_context(|| file.to_owned())?),
    };
    let bits: Bits = Box::pin(ReaderStream::new(source));
    let done = wait::with_progress(&format!("copying to {id}"), bay.upload(id, &path, bits)).await?;
    note!("{DIM}{} bytes to {id}:{}{PLAIN}", done.size, done.path);
    Ok(Exit::Ok)
}

async fn fetch(bay: &Client, id: &str, path: &str, to: &str) -> anyhow::Result<Exit> {
    // `@name` is an artifact; a file of that name is `./@name`.
    let artifact = path.strip_prefix('@');
    let name = artifact.unwrap_or(path).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let file = match Path::new(to) {
        folder if folder.is_dir() && !name.is_empty() => folder.join(name),
        file => file.to_owned(),
    };
    let bits = match artifact {
        Some(name) => bay.artifact(id, name).await,
        None => bay.download(id, path).await,
    };
    let bits = match bits {
        Ok(bits) => bits,
        Err(ClientError::Refused { error, .. }) if to != "-" && is_folder(&error) => {
            return tree::fetch(bay, id, path, &file).await;
        }
        Err(error) => return Err(error.into()),
    };
    if to == "-" {
        let (mut out, mut bits) = (terminal::out(), bits);
        while let Some(chunk) = bits.next().await {
            out.write_all(&chunk.context("the transfer was interrupted")?)?;
        }
        out.flush()?;
        return Ok(Exit::Ok);
    }
    let size = wait::with_progress(&format!("copying from {id}"), save(bits, &file)).await?;
    note!("{DIM}{size} bytes to {}{PLAIN}", file.display());
    Ok(Exit::Ok)
}

/// Whether a file could not be had because it is a folder.
fn is_folder(error: &cove_api::BayError) -> bool {
    error.code == ErrorCode::ValidationError && error.details.get("code").is_some_and(|code| code == "not_a_file")
}

/// Writes a file beside its place, and puts it there when it is whole.
pub(super) async fn save(bits: Bits, file: &Path) -> anyhow::Result<u64> {
    let named = || file.display().to_string();
    // A device or a pipe has no place that a whole file could be put in.
    if file.metadata().is_ok_and(|found| !found.is_file()) {
        let device = tokio::fs::File::create(file).await.with_context(named)?;
        return pour(bits, device).await.with_context(named);
    }
    let name = file.file_name().with_context(named)?.as_bytes();
    let above = file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = Folder::open(above).with_context(named)?;
    let mut draft = folder.draft(0o666).with_context(named)?;
    let part = draft.file().try_clone().with_context(named)?;
    let size = pour(bits, part.into()).await.with_context(named)?;
    draft.publish(&folder, name).with_context(named)?;
    Ok(size)
}

/// Writes what comes; how much it was.
async fn pour(mut bits: Bits, mut into: tokio::fs::File) -> anyhow::Result<u64> {
    let mut size = 0;
    while let Some(chunk) = bits.next().await {
        let chunk = chunk.context("the transfer was interrupted")?;
        size += chunk.len() as u64;
        into.write_all(&chunk).await?;
    }
    into.flush().await?;
    Ok(size)
}
