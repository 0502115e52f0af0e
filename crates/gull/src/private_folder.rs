//! The private folder of one Gull: sockets, the daemon's home, and the files on their way in and out.
//!
//! Its owner is the user that agent-browser runs as, and nobody else may enter. It is removed with Gull; what a killed
//! Gull leaves is swept up by the next one, which sees by a lock that nobody holds it any more.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};

use cove_workspace::HeldFolder;

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    folder: HeldFolder,
    owner: Option<u32>,
}

impl PrivateFolder {
    /// Makes a folder under `parent` that belongs to `owner` (only root can give it away).
    pub(crate) fn create(parent: &Path, owner: Option<u32>) -> io::Result<Self> {
        let folder = HeldFolder::private(parent, "cove-gull-", &["s", "home", "tmp", "in", "out"], owner)?;
        Ok(Self { folder, owner })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where agent-browser keeps its sockets.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path().join("s")
    }

    /// Its `HOME` and working directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// Its `TMPDIR`.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// A new folder below `in` or `out`.
    pub(crate) fn new_folder(&self, kind: &str) -> io::Result<PathBuf> {
        let place = self.path().join(kind).join(crate::secret::hex(6)?);
        DirBuilder::new().mode(0o700).create(&place)?;
        self.give(&place)?;
        Ok(place)
    }

    /// Hands a file or folder in the folder to its owner.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        self.owner.map_or(Ok(()), |id| chown(path, Some(id), Some(id)))
    }

    /// Removes everything; the folder is of no use afterwards.
    pub(crate) fn clear(&self) {
        self.folder.clear();
    }
}
