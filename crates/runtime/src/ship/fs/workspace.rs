//! The workspace as Ship's calls name it: the one confined folder, with refusals that a client understands.
//!
//! Ship's own walls would hold a symlink that leads out as well; but the answer must say so.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use cove_workspace::{Draft, FOLDER, Folder, Missing, RelPath};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::ship::error::ApiError;

/// The opened workspace.
#[derive(Debug)]
pub(crate) struct GuestFiles(Folder);

/// Reads a path as a client writes it: relative, or below `/workspace`.
pub(crate) fn rel_path(given: &str) -> Result<RelPath, ApiError> {
    if given.is_empty() {
        return Err(ApiError::invalid_path(given, "it is empty"));
    }
    RelPath::parse(given).map_err(|why| ApiError::invalid_path(given, &why.to_string()))
}

impl GuestFiles {
    /// Opens it. A guest may close it to its owner, who is Ship as well: then it is opened again.
    pub(crate) fn open(dir: &Path) -> Result<Self, Errno> {
        let workspace = Self(Folder::open(dir)?.reopening().with_folder_mode(0o755));
        // What cannot be opened is told by whoever needs it.
        drop(workspace.root());
        Ok(workspace)
    }

    /// The file tools on it.
    pub(crate) fn tools(&self) -> std::io::Result<cove_files::Workspace> {
        self.0.try_clone().map(cove_files::Workspace::on)
    }

    /// The workspace itself, to look through.
    pub(crate) fn root(&self) -> Result<OwnedFd, ApiError> {
        self.folder(&rel_path(".")?)
    }

    /// Opens a folder.
    pub(crate) fn folder(&self, path: &RelPath) -> Result<OwnedFd, ApiError> {
        self.0.open_path(path, FOLDER).map_err(refuse(path))
    }

    /// Opens a plain file; anything else is refused before a byte is read.
    pub(crate) fn file(&self, path: &RelPath, flags: OFlags) -> Result<File, ApiError> {
        self.0.open_file(path, flags).map(|(file, _)| file).map_err(refuse(path))
    }

    /// Whether the path's last name is a symlink's; the folders on the way to it are made.
    pub(crate) fn is_link(&self, path: &RelPath) -> Result<bool, ApiError> {
        let place = self.0.place(named(path)?, Missing::Create).map_err(refuse(path))?;
        let name = place.name.unwrap_or_default();
        Ok(rustix::fs::readlinkat(&place.dir, name, Vec::new()).is_ok())
    }

    /// Begins a new file.
    pub(crate) fn draft(&self) -> Result<Draft<'_>, ApiError> {
        self.0.draft(0o644).map_err(|errno| ApiError::from_errno(errno, "a new file"))
    }

    /// Gives the file its name; what was there under that name is replaced in one step, its permissions are kept.
    pub(crate) fn publish(&self, draft: Draft<'_>, path: &RelPath, mode: Option<u32>) -> Result<(), ApiError> {
        self.0.publish(draft, named(path)?, mode).map_err(refuse(path))
    }

    /// Removes a file, a link or a whole folder.
    pub(crate) fn remove(&self, path: &RelPath) -> Result<(), ApiError> {
        self.0.remove(named(path)?).map_err(refuse(path))
    }
}

/// Refuses the workspace itself where something in it is meant.
fn named(path: &RelPath) -> Result<&RelPath, ApiError> {
    if path.is_root() { Err(ApiError::invalid_path(path.given(), "it is the workspace itself")) } else { Ok(path) }
}

fn refuse(path: &RelPath) -> impl Fn(Errno) -> ApiError {
    |errno| ApiError::from_errno(errno, path.given())
}
