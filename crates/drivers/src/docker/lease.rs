//! A sign of life for containers: a file that changes while a Bay with these records lives on this machine. Where it stays as it
//! is for too long, containers end by themselves: their Bay is gone for good.
//!
//! It is one file for all containers, in a folder that they see and cannot write. Every Bay holds a lock on the folder around it;
//! the last one takes the folder away, and never from under a Bay that still mounts it into containers.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cove_workspace::{Folder, RelPath, remove_folder};
use tokio::task::AbortHandle;

/// The folder beside those of the containers; no container has this name.
pub(super) const FOLDER: &str = "lease";

/// The file in it.
pub(super) const FILE: &str = "beat";

/// So many signs fit into the longest silence.
const SIGNS: u32 = 6;

/// Gives signs of life until it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    folder: PathBuf,
    task: AbortHandle,
    /// Shared by all Bays here.
    lock: Mutex<Option<File>>,
}

impl Lease {
    /// Gives the first sign at once.
    pub(super) fn begin(root: &Path, instance_id: &str, outlive_seconds: u64) -> io::Result<Self> {
        let lock = hold(root)?;
        let folder = root.join(FOLDER);
        sign(&folder, instance_id, 0)?;
        let (place, name) = (folder.clone(), instance_id.to_owned());
        let task = tokio::spawn(async move {
            for number in 1_u64.. {
                tokio::time::sleep(Duration::from_secs(outlive_seconds) / SIGNS).await;
                if let Err(error) = sign(&place, &name, number) {
                    tracing::warn!(%error, "could not renew the containers' lease");
                }
            }
        });
        Ok(Self { folder, task: task.abort_handle(), lock: Mutex::new(Some(lock)) })
    }

    /// What containers mount.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// No more signs. Where no other Bay is left, and no container that looks at the folder, it goes with the one around it.
    pub(super) fn end(&self, root: &Path) {
        self.task.abort();
        let Some(lock) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let is_last = lock.unlock().is_ok() && lock.try_lock().is_ok();
        let is_empty =
            || fs::read_dir(root).is_ok_and(|mut all| all.all(|one| one.is_ok_and(|one| one.file_name() == FOLDER)));
        if is_last && is_empty() {
            let _ = remove_folder(&self.folder);
            let _ = fs::remove_dir(root);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes the folder around it and holds it; one that was just being taken away is made anew.
fn hold(root: &Path) -> io::Result<File> {
    loop {
        fs::create_dir_all(root)?;
        let held = match File::open(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        held.lock_shared()?;
        let (here, there) = (held.metadata()?, fs::metadata(root));
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())) {
            return Ok(held);
        }
    }
}

/// Nobody reads half of it.
fn sign(folder: &Path, instance_id: &str, number: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    // A guest's user reads it, whatever is masked for this one.
    fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    let (folder, name) = (Folder::open(folder)?, RelPath::parse(FILE).map_err(io::Error::other)?);
    let mut draft = folder.draft(0o600)?;
    draft.write(format!("{instance_id} {} {number}\n", std::process::id()).as_bytes())?;
    Ok(folder.publish(draft, &name, Some(0o644))?)
}
