//! The browser's temporary folder, and the places in it.

use std::io;
use std::path::{Path, PathBuf};

use cove_workspace::HeldFolder;

/// A folder for one browser. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Profile(HeldFolder);

impl Profile {
    /// Makes the folder under `parent`, owned by `owner` if one is given.
    pub(crate) fn create(parent: &Path, owner: Option<u32>) -> io::Result<Self> {
        HeldFolder::private(parent, "cove-chrome-", &["home", "tmp", "data"], owner).map(Self)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `HOME` of the browser.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// `TMPDIR` of the browser.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Its `--user-data-dir`.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }
}
