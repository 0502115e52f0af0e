//! Files of a command: agent-browser reads and writes in the private folder, and only Gull touches the workspace.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cove_workspace::remove_folder;

use crate::cargo::Cargo;
use crate::plan::{Word, shown};
use crate::private_folder::PrivateFolder;
use crate::refusal::CommandRefusal;

/// What one command may read from the workspace.
const MAX_IN_BYTES: u64 = 256 << 20;

/// What one command may write into it.
const MAX_OUT_BYTES: u64 = 512 << 20;

/// Uploaded files that are kept, and their bytes.
const MAX_UPLOADS: usize = 128;
const MAX_UPLOAD_BYTES: u64 = 512 << 20;

/// A file that will be in the workspace once the command has succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// Where agent-browser writes it.
    pub(crate) staged: PathBuf,
    /// Where it belongs, below the workspace.
    pub(crate) path: String,
    /// Another command will finish it.
    pub(crate) later: bool,
}

/// A copy of a file of the workspace, for agent-browser to read.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) staged: PathBuf,
    pub(crate) path: String,
    bytes: u64,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        discard(&self.staged);
    }
}

/// Uploaded files: the page reads them when its form is sent, so they stay for a while. The oldest go first.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    kept: VecDeque<Incoming>,
}

impl Uploads {
    /// Keeps these files.
    pub(crate) fn keep(&mut self, files: Vec<Incoming>) {
        self.kept.extend(files);
        while self.kept.len() > 1
            && (self.kept.len() > MAX_UPLOADS
                || self.kept.iter().map(|file| file.bytes).sum::<u64>() > MAX_UPLOAD_BYTES)
        {
            self.kept.pop_front();
        }
    }
}

/// A command with paths that agent-browser can use.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    pub(crate) words: Vec<String>,
    /// Copies of files that are read, with their names in the workspace.
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) outgoing: Vec<Outgoing>,
}

/// Copies the files that a command reads into the private folder, and gives those that it writes a place there.
pub(crate) fn stage(words: &[Word], private_folder: &PrivateFolder, cargo: &Cargo) -> Result<Staged, CommandRefusal> {
    let host = |error: io::Error| CommandRefusal::new(format!("the runtime's own folder cannot be used: {error}"));
    let mut staged = Staged::default();
    let mut left = MAX_IN_BYTES;
    for word in words {
        staged.words.push(match word {
            Word::Text(text) => text.clone(),
            Word::In(path) => {
                let refuse =
                    |error: io::Error| CommandRefusal::new(format!("{} cannot be read: {error}", shown(path.given())));
                let file = cargo.read(path.as_str()).map_err(refuse)?;
                let target = private_folder.new_folder("in").map_err(host)?.join(name_of(path.as_str()));
                let bytes = copy_in(file, &target, left).map_err(refuse)?;
                left = left.saturating_sub(bytes);
                private_folder.give(&target).map_err(host)?;
                let text = target.display().to_string();
                staged.incoming.push(Incoming { staged: target, path: path.as_str().to_owned(), bytes });
                text
            }
            Word::Out { path, later } => {
                let target = private_folder.new_folder("out").map_err(host)?.join(name_of(path.as_str()));
                let text = target.display().to_string();
                staged.outgoing.push(Outgoing { staged: target, path: path.as_str().to_owned(), later: *later });
                text
            }
        });
    }
    Ok(staged)
}

/// Moves a finished file into the workspace; `false` when the command wrote none.
pub(crate) fn publish(outgoing: &Outgoing, cargo: &Cargo) -> io::Result<bool> {
    // The private folder belongs to agent-browser's user: what lies there is looked at as carefully as a guest's file.
    let opened =
        fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&outgoing.staged);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("what was written is not a plain file"));
    }
    if meta.len() > MAX_OUT_BYTES {
        return Err(io::Error::other(format!("it has {} bytes; the limit is {MAX_OUT_BYTES}", meta.len())));
    }
    cargo.write(&outgoing.path, 0o644, |target| io::copy(&mut (&mut file).take(MAX_OUT_BYTES), target).map(drop))?;
    discard(&outgoing.staged);
    Ok(true)
}

/// Removes a staged file and the folder that was made for it.
pub(crate) fn discard(staged: &Path) {
    if let Some(folder) = staged.parent() {
        let _ = remove_folder(folder);
    }
}

/// Says the workspace's names where agent-browser said its own.
pub(crate) fn rename_in(text: &mut String, staged: &Path, path: &str) {
    let own = staged.display().to_string();
    if text.contains(&own) {
        *text = text.replace(&own, &format!("/workspace/{path}"));
    }
}

fn copy_in(file: File, target: &Path, left: u64) -> io::Result<u64> {
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
    let copied = io::copy(&mut file.take(left + 1), &mut out)?;
    if copied > left {
        let _ = fs::remove_file(target);
        return Err(io::Error::other(format!("more than {MAX_IN_BYTES} bytes would be read")));
    }
    Ok(copied)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
