//! The runtime directory of one Bay: a folder that it holds by a lock for as long as it lives.
//!
//! In it are the sockets of its containers, the browsers' private folders, and one label for each container it ever
//! started. A folder whose lock is free belonged to a Bay that is gone: its containers are ended by their labels, should
//! the kernel not have done so, and the folder goes. Only a Bay with the same records does that: it alone can say in them
//! that the other is gone.

use std::fs::{self, DirBuilder};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use cove_walls::Stat;
use cove_workspace::{Folder, HeldFolder};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::fingerprint;
use cove_config::make_private;

const PREFIX: &str = "bay-";
const INSTANCE: &str = "instance";
const RESERVED: &str = "reserved";
const TRIAL: &str = "trial";

/// What was found of Bays that are gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) instances: Vec<String>,
    pub(super) containers: Vec<String>,
}

/// The beginning of the names of all runtime directories of Bays with the same records.
fn prefix(records: &str) -> String {
    format!("{PREFIX}{:08x}-", fingerprint(records) & 0xffff_ffff)
}

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(super) struct RuntimeDir {
    root: PathBuf,
    folder: HeldFolder,
}

/// What is written on a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Label {
    pub(super) container_id: String,
    pub(super) sandbox_id: String,
    pub(super) session_id: String,
    pub(super) pid: u32,
    /// When that process began, by the kernel's count: a number alone may be another's by now.
    pub(super) began: u64,
}

impl RuntimeDir {
    pub(super) fn take(root: &Path, records: &str, instance_id: &str) -> io::Result<Self> {
        let folder = HeldFolder::make(root, &prefix(records), 0o711, |path| {
            fs::write(path.join(INSTANCE), instance_id)?;
            DirBuilder::new().mode(0o700).create(path.join("s"))?;
            DirBuilder::new().mode(0o700).create(path.join("labels"))?;
            DirBuilder::new().mode(0o700).create(path.join(TRIAL))?;
            make_private(&path.join("g"))
        })?;
        Ok(Self { root: root.to_owned(), folder })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// For sockets; closed to others.
    pub(super) fn sockets(&self) -> PathBuf {
        self.path().join("s")
    }

    /// For the browsers' private folders.
    pub(super) fn browser_folders(&self) -> PathBuf {
        self.path().join("g")
    }

    /// The workspace of a cell that is only made to see whether one can be; it stays empty.
    pub(super) fn trial(&self) -> PathBuf {
        self.path().join(TRIAL)
    }

    /// The list of addresses that browsers never reach.
    pub(super) fn reserved(&self) -> PathBuf {
        self.path().join(RESERVED)
    }

    /// Writes that list, whole or not at all: somebody may be reading it.
    pub(super) fn reserve(&self, addresses: &[SocketAddr]) -> io::Result<()> {
        let text: String = addresses.iter().map(|address| format!("{address}\n")).collect();
        let folder = Folder::open(self.path())?;
        let mut draft = folder.draft(0o644)?;
        draft.write(text.as_bytes())?;
        Ok(draft.publish(&folder, RESERVED.as_bytes())?)
    }

    /// Writes a container's label.
    pub(super) fn label(&self, label: &Label) -> io::Result<LabelFile> {
        let path = self.path().join("labels").join(&label.container_id);
        fs::write(&path, serde_json::to_vec(label)?)?;
        Ok(LabelFile(path))
    }

    /// Removes it; of no use afterwards.
    pub(super) fn clear(&self) {
        self.folder.clear();
    }
}

/// A label's file, gone with its container.
#[derive(Debug)]
pub(super) struct LabelFile(PathBuf);

impl Drop for LabelFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// When a process began, by the kernel's count.
pub(super) fn began(pid: u32) -> Option<u64> {
    Stat::of(pid)?.began()
}

/// Ends what Bays that are gone have left; tells what was still alive or lay about.
pub(super) fn sweep(root: &Path, records: &str) -> Found {
    let mut found = Found::default();
    for left in HeldFolder::left(root, &prefix(records)) {
        for label in labels(left.path()) {
            if began(label.pid) == Some(label.began)
                && let Some(pid) = Pid::from_raw(label.pid.cast_signed())
            {
                let _ = kill_process(pid, Signal::KILL);
            }
            found.containers.push(format!("container {} of {}", label.container_id, label.sandbox_id));
        }
        found.instances.extend(fs::read_to_string(left.path().join(INSTANCE)));
    }
    found
}

fn labels(runtime_dir: &Path) -> Vec<Label> {
    let Ok(entries) = fs::read_dir(runtime_dir.join("labels")) else { return Vec::new() };
    let read = entries.flatten().filter_map(|entry| fs::read(entry.path()).ok());
    read.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn only_what_nobody_holds_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let take = |id: &str| RuntimeDir::take(root.path(), "db", id).unwrap();
        let (held, own, others) = (take("a"), take("b"), root.path().join(format!("{}00000000", prefix("other"))));
        let left = root.path().join(format!("{}00000000", prefix("db")));
        for runtime_dir in [&left, &others] {
            fs::create_dir_all(runtime_dir.join("labels")).unwrap();
            File::create(runtime_dir.join("lock")).unwrap();
            fs::write(runtime_dir.join(INSTANCE), "gone").unwrap();
        }
        let pid = std::process::id();
        // A label whose process is another's by now: it must not be ended.
        let label = Label {
            container_id: "c".to_owned(),
            sandbox_id: "s".to_owned(),
            session_id: "x".to_owned(),
            pid,
            began: began(pid).unwrap() + 1,
        };
        fs::write(left.join("labels/c"), serde_json::to_vec(&label).unwrap()).unwrap();
        let found = sweep(root.path(), "db");
        assert_eq!(
            found,
            Found { instances: vec!["gone".to_owned()], containers: vec!["container c of s".to_owned()] }
        );
        assert!(!left.exists() && others.exists() && held.path().exists() && own.path().exists());
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }
}
