//! Whole folders in or out, a few files at a time.
//!
//! Only files travel: a link could point anywhere on the other side, so it is left out and told; an empty folder has no
//! file that would make it. What comes from a sandbox is a guest's word, so every name is looked at before it is a path.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use cove_client::{Bits, Client};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio_util::io::ReaderStream;

use super::{copy, wait};
use crate::exit::{DIM, PLAIN};

/// Files on their way at the same time.
const AT_ONCE: usize = 4;
/// Deeper folders are refused; a guest can make them without end.
const MAX_DEPTH: usize = 64;
/// The most files of one copy.
const MAX_FILES: usize = 100_000;

/// Copies what is in a folder here to a folder inside.
pub(super) async fn put(bay: &Client, from: &Path, id: &str, path: &str) -> anyhow::Result<()> {
    let (mut files, mut left_out) = (Vec::new(), 0);
    walk(from, Path::new(""), &mut files, &mut left_out)?;
    let copies = stream::iter(files).map(|file| async move {
        let opened = tokio::fs::File::open(from.join(&file)).await;
        let opened = opened.with_context(|| from.join(&file).display().to_string())?;
        let bits: Bits = Box::pin(ReaderStream::new(opened));
        let inside = format!("{}/{}", path.trim_end_matches('/'), file.to_str().context("a name that is no text")?);
        anyhow::Ok(bay.upload(id, &inside, bits).await?.size)
    });
    let copied: Vec<u64> =
        wait::with_progress(&format!("copying to {id}"), copies.buffer_unordered(AT_ONCE).try_collect()).await?;
    told(&copied, left_out, &format!("{id}:{path}"));
    Ok(())
}

/// All files below a folder here, by their place in it.
fn walk(root: &Path, inner: &Path, files: &mut Vec<PathBuf>, left_out: &mut usize) -> anyhow::Result<()> {
    let folder = root.join(inner);
    let named = || folder.display().to_string();
    for entry in std::fs::read_dir(&folder).with_context(named)? {
        let entry = entry.with_context(named)?;
        let (kind, place) = (entry.file_type().with_context(named)?, inner.join(entry.file_name()));
        if kind.is_dir() && place.components().count() < MAX_DEPTH {
            walk(root, &place, files, left_out)?;
        } else if kind.is_file() {
            files.push(place);
        } else {
            *left_out += 1;
        }
        if files.len() > MAX_FILES {
            bail!("{} holds more than {MAX_FILES} files", root.display());
        }
    }
    Ok(())
}

/// Copies what is in a folder inside to a folder here.
pub(super) async fn fetch(bay: &Client, id: &str, path: &str, to: &Path) -> anyhow::Result<()> {
    let root = path.trim_end_matches('/');
    let (mut files, mut left_out) = (Vec::new(), 0);
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let asked =
            if folder.as_os_str().is_empty() { root.to_owned() } else { format!("{root}/{}", folder.display()) };
        for entry in bay.list_directory(id, &asked).await?.entries {
            let Some(name) = plain(&entry.name) else {
                left_out += 1;
                continue;
            };
            let place = folder.join(name);
            if entry.is_dir && place.components().count() < MAX_DEPTH {
                folders.push(place);
            } else if entry.is_file {
                files.push(place);
            } else {
                left_out += 1;
            }
            if files.len() + folders.len() > MAX_FILES {
                bail!("{id}:{path} holds more than {MAX_FILES} files");
            }
        }
    }
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let copies = stream::iter(files).map(|file| async move {
        let here = to.join(&file);
        if let Some(folder) = here.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let bits = bay.download(id, &format!("{root}/{}", file.display())).await?;
        copy::save(bits, &here).await
    });
    let copied: Vec<u64> =
        wait::with_progress(&format!("copying from {id}"), copies.buffer_unordered(AT_ONCE).try_collect()).await?;
    told(&copied, left_out, &to.display().to_string());
    Ok(())
}

/// A name that leads nowhere but into its own folder.
fn plain(name: &str) -> Option<&str> {
    let mut parts = Path::new(name).components();
    let own = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
    (own && parts.next().is_none() && !name.contains('\0')).then_some(name)
}

fn told(copied: &[u64], left_out: usize, to: &str) {
    let bytes: u64 = copied.iter().sum();
    anstream::eprintln!("{DIM}{} files, {bytes} bytes to {to}{PLAIN}", copied.len());
    if left_out > 0 {
        anstream::eprintln!("{DIM}{left_out} links or special files were left out{PLAIN}");
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_guests_names_lead_nowhere_else() {
        for name in ["a", ".hidden", "with space", "ä…"] {
            assert_eq!(plain(name), Some(name));
        }
        for name in ["", ".", "..", "/etc", "a/b", "../a", "a/", "a\0b"] {
            assert_eq!(plain(name), None, "{name:?}");
        }
    }
}
