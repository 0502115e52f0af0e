//! `cove sandbox cp`: a file in or out, as a stream.

use anyhow::{Context as _, bail};
use cove_client::{Bits, Client};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::wait;
use crate::exit::{DIM, PLAIN};

/// `sandbox-…:path`; nothing else before a colon is a sandbox.
fn remote(text: &str) -> Option<(&str, &str)> {
    let (id, path) = text.split_once(':')?;
    id.starts_with("sandbox-").then_some((id, path))
}

pub(super) async fn copy(bay: &Client, from: &str, to: &str) -> anyhow::Result<()> {
    match (remote(from), remote(to)) {
        (None, Some((id, path))) => put(bay, from, id, path).await,
        (Some((id, path)), None) => fetch(bay, id, path, to).await,
        _ => bail!("one of the two must be ID:PATH, and the other a file here"),
    }
}

async fn put(bay: &Client, from: &str, id: &str, path: &str) -> anyhow::Result<()> {
    let source: Box<dyn AsyncRead + Send + Unpin> = match from {
        "-" => Box::new(tokio::io::stdin()),
        file => Box::new(tokio::fs::File::open(file).await.with_context(|| file.to_owned())?),
    };
    let mut path = path.to_owned();
    if path.is_empty() || path.ends_with('/') {
        let name =
            std::path::Path::new(from).file_name().and_then(|name| name.to_str()).context("which name inside?")?;
        path.push_str(name);
    }
    let bits: Bits = Box::pin(ReaderStream::new(source));
    let done = wait::with_progress(&format!("copying to {id}"), bay.upload(id, &path, bits)).await?;
    anstream::eprintln!("{DIM}{} bytes to {id}:{}{PLAIN}", done.size, done.path);
    Ok(())
}

async fn fetch(bay: &Client, id: &str, path: &str, to: &str) -> anyhow::Result<()> {
    use futures_util::StreamExt as _;
    // `@name` is an artifact; a file of that name is `./@name`.
    let artifact = path.strip_prefix('@');
    let mut bits = match artifact {
        Some(name) => bay.artifact(id, name).await?,
        None => bay.download(id, path).await?,
    };
    let name = artifact.unwrap_or(path).rsplit('/').next().unwrap_or_default();
    let file = match std::path::Path::new(to) {
        folder if folder.is_dir() => folder.join(name),
        file => file.to_owned(),
    };
    let mut sink: Box<dyn AsyncWrite + Send + Unpin> = match to {
        "-" => Box::new(tokio::io::stdout()),
        _ => Box::new(tokio::fs::File::create(&file).await.with_context(|| file.display().to_string())?),
    };
    let mut size = 0;
    while let Some(chunk) = bits.next().await {
        let chunk = chunk.context("the file broke off")?;
        size += chunk.len();
        sink.write_all(&chunk).await?;
    }
    sink.flush().await?;
    if to != "-" {
        anstream::eprintln!("{DIM}{size} bytes to {}{PLAIN}", file.display());
    }
    Ok(())
}
