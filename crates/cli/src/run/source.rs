//! Texts that `cove run` and `cove repl` are given as files: bounded, whichever kind of file it is, and with a hint where there is none.

use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail};

/// More than any program that a person or a model writes; a larger file is a mistake.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The text of a file. A pipe is fine (`cove run <(generate)`); a device that never ends is not read for ever.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    if path.is_dir() {
        bail!("{name} is a folder; name a file in it");
    }
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match nearest(path) {
            Some(near) => bail!("{name}: no such file; did you mean {near}?"),
            None => bail!("{name}: no such file"),
        },
        Err(error) => return Err(error).with_context(|| name.to_string()),
    };
    read(file, &name.to_string())
}

/// The text of a stream, under a name for messages.
pub(super) fn read(stream: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    stream.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).with_context(|| name.to_owned())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("{name} has more than {MAX_FILE_BYTES} bytes, which is the limit");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            bail!("{name} is not UTF-8 text (line {line})")
        }
    }
}

/// The file beside the missing one whose name differs least, if it differs little.
fn nearest(path: &Path) -> Option<String> {
    /// A folder with more files is not searched: a hint is not worth the wait.
    const MOST: usize = 10_000;
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let names = std::fs::read_dir(folder).ok()?.take(MOST).filter_map(Result::ok);
    let files = names.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let near = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| (strsim::osa_distance(wanted, &name), name));
    let (distance, name) = near.min()?;
    (distance <= 1 + wanted.chars().count() / 4).then(|| path.with_file_name(name).display().to_string())
}
