//! Whole folders in or out, a few files at a time.
//!
//! Only files are copied. A link could point anywhere on the other side, so it is left out and reported; an empty
//! folder is not created. A file that cannot be read does not stop the others: it is reported at the end, as a failure.
//! Names that come from a sandbox are chosen by a guest, so every name is checked before it becomes a path.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use cove_client::{Bits, Client};
use futures_util::{Stream, StreamExt as _, stream};
use tokio_util::io::ReaderStream;

use super::left_out::LeftOut;
use super::{copy, wait};
use crate::exit::Exit;
use crate::terminal::{DIM, PLAIN, note};

/// Files on their way at the same time.
const AT_ONCE: usize = 4;
/// Deeper folders are refused; a guest can make them without end.
const MAX_DEPTH: usize = 64;
/// The most files of one copy.
const MAX_FILES: usize = 100_000;

/// Copies what is in a folder here to a folder inside.
pub(super) async fn put(bay: &Client, from: &Path, id: &str, path: &str) -> anyhow::Result<Exit> {
    let (mut files, mut left_out) = (Vec::new(), LeftOut::default());
    // Whoever cannot read the folder itself has nothing to copy.
    std::fs::read_dir(from).with_context(|| from.display().to_string())?;
    walk(from, Path::new(""), &mut files, &mut left_out)?;
    let copies = stream::iter(files).map(|file| async move {
        let copied = async {
            let opened = tokio::fs::File::open(from.join(&file)).await?;
            let bits: Bits = Box::pin(ReaderStream::new(opened));
            let inside =
                format!("{}/{}", path.trim_end_matches('/'), file.to_str().context("a file name that is not UTF-8")?);
            anyhow::Ok(bay.upload(id, &inside, bits).await?.size)
        };
        (from.join(&file).display().to_string(), copied.await)
    });
    let copied = wait::with_progress(&format!("copying to {id}"), gather(copies, &mut left_out)).await?;
    told(&copied, &format!("{id}:{path}"));
    Ok(left_out.told())
}

/// All files below a folder here, by their place in it.
fn walk(root: &Path, inner: &Path, files: &mut Vec<PathBuf>, left_out: &mut LeftOut) -> anyhow::Result<()> {
    let folder = root.join(inner);
    let named = folder.display().to_string();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => return left_out.failed(&named, error.into()),
    };
    for entry in entries {
        let entry = match entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name()))) {
            Ok(entry) => entry,
            Err(error) => return left_out.failed(&named, error.into()),
        };
        let (kind, place) = (entry.0, inner.join(entry.1));
        if kind.is_dir() && place.components().count() < MAX_DEPTH {
            walk(root, &place, files, left_out)?;
        } else if kind.is_dir() {
            left_out.failed(&root.join(&place).display().to_string(), too_deep())?;
        } else if kind.is_file() {
            files.push(place);
        } else {
            left_out.special();
        }
        if files.len() > MAX_FILES {
            bail!("{} holds more than {MAX_FILES} files", root.display());
        }
    }
    Ok(())
}

/// Copies what is in a folder inside to a folder here.
pub(super) async fn fetch(bay: &Client, id: &str, path: &str, to: &Path) -> anyhow::Result<Exit> {
    let root = path.trim_end_matches('/');
    let (mut files, mut left_out) = (Vec::new(), LeftOut::default());
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let is_root = folder.as_os_str().is_empty();
        let asked = if is_root { root.to_owned() } else { format!("{root}/{}", folder.display()) };
        let entries = match bay.list_directory(id, &asked).await {
            Ok(listed) => listed.entries,
            Err(error) if is_root => return Err(error.into()),
            Err(error) => {
                left_out.failed(&asked, error.into())?;
                continue;
            }
        };
        for entry in entries {
            let Some(name) = plain(&entry.name) else {
                left_out.failed(&format!("{asked}/{}", entry.name), anyhow::anyhow!("not a valid file name here"))?;
                continue;
            };
            let place = folder.join(name);
            if entry.is_dir && place.components().count() < MAX_DEPTH {
                folders.push(place);
            } else if entry.is_dir {
                left_out.failed(&format!("{root}/{}", place.display()), too_deep())?;
            } else if entry.is_file {
                files.push(place);
            } else {
                left_out.special();
            }
            if files.len() + folders.len() > MAX_FILES {
                bail!("{id}:{path} holds more than {MAX_FILES} files");
            }
        }
    }
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let copies = stream::iter(files).map(|file| async move {
        let (here, there) = (to.join(&file), format!("{root}/{}", file.display()));
        let copied = async {
            if let Some(folder) = here.parent() {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            }
            copy::save(bay.download(id, &there).await?, &here).await
        };
        let copied = copied.await;
        (there, copied)
    });
    let copied = wait::with_progress(&format!("copying from {id}"), gather(copies, &mut left_out)).await?;
    told(&copied, &to.display().to_string());
    Ok(left_out.told())
}

/// Makes the copies, a few at a time; those that fail are put on the list.
async fn gather<C>(copies: impl Stream<Item = C>, left_out: &mut LeftOut) -> anyhow::Result<Vec<u64>>
where
    C: Future<Output = (String, anyhow::Result<u64>)>,
{
    let mut copies = std::pin::pin!(copies.buffer_unordered(AT_ONCE));
    let mut sizes = Vec::new();
    while let Some((place, copied)) = copies.next().await {
        match copied {
            Ok(size) => sizes.push(size),
            Err(error) => left_out.failed(&place, error)?,
        }
    }
    Ok(sizes)
}

fn too_deep() -> anyhow::Error {
    anyhow::anyhow!("more than {MAX_DEPTH} folders deep")
}

/// A name that leads nowhere but into its own folder.
fn plain(name: &str) -> Option<&str> {
    let mut parts = Path::new(name).components();
    let own = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
    (own && parts.next().is_none() && !name.contains('\0')).then_some(name)
}

fn told(copied: &[u64], to: &str) {
    let bytes: u64 = copied.iter().sum();
    note!("{DIM}{} files, {bytes} bytes to {to}{PLAIN}", copied.len());
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
