//! One Bay's place among sockets: a folder that it holds by a lock for as long as it lives.
//!
//! In it are the sockets of its containers, the browsers' private folders, and one label for each container it ever
//! started. A folder whose lock is free belonged to a Bay that is gone: its containers are ended by their labels, should
//! the kernel not have done so, and the folder goes.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::config::make_private;

const PREFIX: &str = "bay-";
const LOCK: &str = "lock";

/// The folder. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Berth {
    root: PathBuf,
    path: PathBuf,
    _lock: File,
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

impl Berth {
    pub(super) fn take(root: &Path) -> io::Result<Self> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = root.join(format!("{PREFIX}{:08x}", u32::from_ne_bytes(random)));
        // Held before it is there under its name, so that nobody takes it for one that was left.
        let draft = root.join(format!(".{:08x}", u32::from_ne_bytes(random)));
        DirBuilder::new().mode(0o711).create(&draft)?;
        let made = || -> io::Result<File> {
            let lock = File::create(draft.join(LOCK))?;
            lock.lock()?;
            DirBuilder::new().mode(0o700).create(draft.join("s"))?;
            DirBuilder::new().mode(0o700).create(draft.join("labels"))?;
            make_private(&draft.join("g"))?;
            fs::rename(&draft, &path)?;
            Ok(lock)
        };
        match made() {
            Ok(lock) => Ok(Self { root: root.to_owned(), path, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&draft);
                Err(error)
            }
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// For sockets; closed to others.
    pub(super) fn sockets(&self) -> PathBuf {
        self.path.join("s")
    }

    /// For the browsers' private folders.
    pub(super) fn rooms(&self) -> PathBuf {
        self.path.join("g")
    }

    /// Writes a container's label.
    pub(super) fn label(&self, label: &Label) -> io::Result<LabelFile> {
        let path = self.path.join("labels").join(&label.container_id);
        fs::write(&path, serde_json::to_vec(label)?)?;
        Ok(LabelFile(path))
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
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
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(19)?.parse().ok()
}

/// Ends what Bays that are gone have left; tells what was still alive or lay about.
pub(super) fn sweep(root: &Path, own: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root) else { return found };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path == own || !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(path.join(LOCK)) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        for label in labels(&path) {
            if began(label.pid) == Some(label.began)
                && let Some(pid) = Pid::from_raw(label.pid.cast_signed())
            {
                let _ = kill_process(pid, Signal::KILL);
            }
            found.push(format!("container {} of {}", label.container_id, label.sandbox_id));
        }
        let _ = fs::remove_dir_all(&path);
    }
    found
}

fn labels(berth: &Path) -> Vec<Label> {
    let Ok(entries) = fs::read_dir(berth.join("labels")) else { return Vec::new() };
    let read = entries.flatten().filter_map(|entry| fs::read(entry.path()).ok());
    read.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let (held, own) = (Berth::take(root.path()).unwrap(), Berth::take(root.path()).unwrap());
        let left = root.path().join("bay-00000000");
        fs::create_dir_all(left.join("labels")).unwrap();
        File::create(left.join(LOCK)).unwrap();
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
        assert_eq!(sweep(root.path(), own.path()), ["container c of s"]);
        assert!(!left.exists() && held.path().exists() && own.path().exists());
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }
}
