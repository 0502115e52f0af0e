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
        Self::create_as(parent, "cove-chrome-", owner)
    }

    /// The same with a name that begins so. A short one where `parent` is long: the full browser has a socket below its
    /// `TMPDIR`, and does not start where its path has more than 107 bytes.
    pub(crate) fn create_as(parent: &Path, prefix: &str, owner: Option<u32>) -> io::Result<Self> {
        HeldFolder::private(parent, prefix, &["home", "t", "data", "app"], owner).map(Self)
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
        self.path().join("t")
    }

    /// Where it sees its own program, if its user cannot get to where that lies.
    pub(crate) fn app(&self) -> PathBuf {
        self.path().join("app")
    }

    /// Its `--user-data-dir`.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }
}
