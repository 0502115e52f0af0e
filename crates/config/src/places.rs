//! Where things are kept.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{Config, ConfigError};

impl Config {
    /// The folder in which everything is kept.
    pub fn data_dir(&self) -> Result<PathBuf, ConfigError> {
        if let Some(dir) = &self.data_dir {
            return Ok(dir.clone());
        }
        let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        from("COVE_DATA_DIR")
            .or_else(|| from("XDG_DATA_HOME").map(|dir| dir.join("cove")))
            .or_else(|| from("HOME").map(|dir| dir.join(".local/share/cove")))
            .ok_or_else(|| ConfigError::value("data_dir", "HOME is not set: name a data folder with --data-dir"))
    }

    /// The folder of all cargos.
    pub fn cargo_root(&self) -> Result<PathBuf, ConfigError> {
        match &self.cargo.root_path {
            Some(root) => Ok(root.clone()),
            None => Ok(self.data_dir()?.join("cargos")),
        }
    }

    /// The folder of all artifacts, beside the cargos: where several Bays share the one, they share the other.
    pub fn artifacts_root(&self) -> Result<PathBuf, ConfigError> {
        match &self.cargo.root_path {
            Some(root) => Ok(root.join(".artifacts")),
            None => Ok(self.data_dir()?.join("artifacts")),
        }
    }

    /// The store's address.
    pub fn database_url(&self) -> Result<String, ConfigError> {
        match &self.database.url {
            Some(url) => Ok(url.reveal().to_owned()),
            None => Ok(format!("sqlite:{}", self.data_dir()?.join("bay.db").display())),
        }
    }

    /// A folder of this user's for sockets, made where it is not there. Short: a socket's path has at most 107 bytes.
    pub fn runtime_root(&self) -> Result<PathBuf, ConfigError> {
        let id = rustix::process::geteuid().as_raw();
        let usual = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir() && id != 0);
        let root = match (&self.runtime_dir, usual) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => dir.join("cove"),
            (None, None) => std::env::temp_dir().join(format!("cove-{id}")),
        };
        let wrong =
            |why: String| ConfigError::value("runtime_dir", &format!("{} cannot be used: {why}", root.display()));
        make_private(&root).map_err(|error| wrong(error.to_string()))?;
        let root = root.canonicalize().map_err(|error| wrong(error.to_string()))?;
        if root.as_os_str().len() > 50 {
            return Err(wrong("its path is too long for sockets; the limit is 50 bytes".to_owned()));
        }
        Ok(root)
    }
}

/// Makes a folder in which others can list nothing, or takes one that is ours.
pub fn make_private(dir: &Path) -> std::io::Result<()> {
    // Passable and not readable: the browser's user must reach its own folder below.
    std::fs::DirBuilder::new().recursive(true).mode(0o711).create(dir)?;
    let found = std::fs::symlink_metadata(dir)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(std::io::Error::other("it does not belong to the current user"));
    }
    if found.permissions().mode() & 0o066 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o711))?;
    }
    Ok(())
}
