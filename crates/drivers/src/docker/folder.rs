//! The folder that one container shares with Bay: its socket, the socket of its way out, and who it is.
//!
//! The container has to write to it once, to open its socket; then the folder is closed to it. It outlives Bay, so that the
//! next one can go on with the container.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use cove_walls::identity::is_full_root;
use cove_workspace::remove_folder;

/// The socket of the runtime.
pub(super) const SOCKET: &str = "runtime.sock";

/// The socket of the way out.
pub(super) const EGRESS: &str = "egress.sock";

const PASSWD: &str = "passwd";
const GROUP: &str = "group";

/// The filter of system calls, for engines that read it from a file.
const FILTER: &str = "seccomp.json";

/// There once the container answered.
const READY: &str = "ready";

/// Names the Bay that has the container now.
const OWNER: &str = "owner";

/// The folder of one container.
#[derive(Debug, Clone)]
pub(super) struct ContainerFolder {
    /// What the container sees.
    shared: PathBuf,
    /// Around it, and closed to it.
    outer: PathBuf,
}

impl ContainerFolder {
    /// Where the folder of this container is.
    pub(super) fn at(root: &Path, container_id: &str) -> Self {
        let outer = root.join(container_id);
        Self { shared: outer.join("s"), outer }
    }

    /// Makes it for a container of this user's.
    pub(super) fn make(&self, uid: u32, gid: u32, instance_id: &str) -> io::Result<()> {
        DirBuilder::new().mode(0o711).create(&self.outer)?;
        DirBuilder::new().mode(0o755).create(&self.shared)?;
        self.own(instance_id)?;
        fs::write(self.outer.join(PASSWD), format!("shipyard:x:{uid}:{gid}:shipyard:/workspace:/bin/bash\n"))?;
        fs::write(self.outer.join(GROUP), format!("shipyard:x:{gid}:\n"))?;
        if is_full_root() {
            lchown(&self.shared, Some(uid), Some(gid))?;
        }
        Ok(())
    }

    /// Closes it to the container, whose socket is open now.
    pub(super) fn seal(&self) -> io::Result<()> {
        if is_full_root() {
            lchown(&self.shared, Some(0), Some(0))?;
        }
        fs::set_permissions(&self.shared, Permissions::from_mode(0o555))?;
        fs::write(self.outer.join(READY), "")
    }

    /// Opens it again for a moment: an ordinary user is the owner of his containers' folders.
    pub(super) fn unsealed<T>(&self, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let mode = fs::metadata(&self.shared)?.mode();
        fs::set_permissions(&self.shared, Permissions::from_mode(0o755))?;
        let done = work(&self.shared);
        fs::set_permissions(&self.shared, Permissions::from_mode(mode & 0o777))?;
        done
    }

    /// Whether its container ever answered.
    pub(super) fn is_ready(&self) -> bool {
        self.outer.join(READY).exists()
    }

    /// Writes whose it is now.
    pub(super) fn own(&self, instance_id: &str) -> io::Result<()> {
        fs::write(self.outer.join(OWNER), instance_id)
    }

    /// Whether another Bay has gone on with it.
    pub(super) fn is_others(&self, instance_id: &str) -> bool {
        fs::read_to_string(self.outer.join(OWNER)).is_ok_and(|owner| owner != instance_id)
    }

    pub(super) fn shared(&self) -> &Path {
        &self.shared
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.shared.join(SOCKET)
    }

    pub(super) fn egress(&self) -> PathBuf {
        self.shared.join(EGRESS)
    }

    pub(super) fn passwd(&self) -> PathBuf {
        self.outer.join(PASSWD)
    }

    pub(super) fn group(&self) -> PathBuf {
        self.outer.join(GROUP)
    }

    /// Writes the filter of system calls down; where it is.
    pub(super) fn write_filter(&self, filter: &str) -> io::Result<PathBuf> {
        let path = self.outer.join(FILTER);
        fs::write(&path, filter)?;
        Ok(path)
    }

    /// Takes it away; fine where it is gone.
    pub(super) fn remove(&self) {
        if let Err(error) = remove_folder(&self.outer) {
            tracing::warn!(%error, "the folder of a container could not be removed");
        }
    }
}
