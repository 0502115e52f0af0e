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
        cove_workspace::data_dir()
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

    /// A folder of this user's for sockets, made where it is not there: the configured one, else the first that can be
    /// used of `cove` in `XDG_RUNTIME_DIR`, and `cove-UID` in the temporary folder and in `/tmp`.
    pub fn runtime_root(&self) -> Result<PathBuf, ConfigError> {
        let id = rustix::process::geteuid().as_raw();
        let places = match &self.runtime_dir {
            Some(dir) => vec![dir.clone()],
            None => {
                let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
                let own = own.filter(|dir| dir.is_dir() && id != 0).map(|dir| dir.join("cove"));
                let temporary = [std::env::temp_dir(), "/tmp".into()].map(|dir| dir.join(format!("cove-{id}")));
                own.into_iter().chain(temporary).collect()
            }
        };
        let mut wrong = Vec::new();
        for place in places {
            match for_sockets(&place) {
                Ok(root) => return Ok(root),
                Err(why) => wrong.push(format!("{}: {why}", place.display())),
            }
        }
        wrong.dedup();
        let reason = format!(
            "no folder for sockets can be used ({}); name a short path that can be written with runtime_dir or \
             BAY_RUNTIME_DIR",
            wrong.join("; ")
        );
        Err(ConfigError::value("runtime_dir", &reason))
    }
}

/// The longest path of a folder for sockets: a socket's own path has at most 107 bytes.
const MAX_SOCKET_FOLDER_BYTES: usize = 50;

/// Makes a folder for sockets, and says where it really is.
fn for_sockets(place: &Path) -> std::io::Result<PathBuf> {
    if place.as_os_str().len() > MAX_SOCKET_FOLDER_BYTES {
        return Err(too_long());
    }
    make_private(place)?;
    let real = place.canonicalize()?;
    if real.as_os_str().len() > MAX_SOCKET_FOLDER_BYTES { Err(too_long()) } else { Ok(real) }
}

fn too_long() -> std::io::Error {
    std::io::Error::other(format!("its path is longer than {MAX_SOCKET_FOLDER_BYTES} bytes"))
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
