//! The lock that a Bay holds on its data folder and on the file of its database.
//!
//! Two Bays that work in one folder would each consider the other's sandboxes lost, so the second one does not start.
//! The kernel releases the lock when the process ends, however it ends. Several Bays share a PostgreSQL, each with a folder of its
//! own.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::StartError;
use cove_store::sqlite_file;
use cove_workspace::lock_within;

/// How long a Bay that is just ending, or a child between its fork and its exec, may still hold the lock.
const PATIENCE: Duration = Duration::from_secs(3);

/// The lock, held until this is dropped.
#[derive(Debug)]
pub(crate) struct DataLock {
    _file: File,
}

impl DataLock {
    /// Locks a data folder.
    pub(crate) async fn of_folder(data_dir: &Path) -> Result<Self, StartError> {
        Ok(Self { _file: acquire(data_dir, &data_dir.join("lock")).await? })
    }

    /// Locks the database if it is a file: servers on one file cannot forward calls to each other.
    pub(crate) async fn of_database(url: &str) -> Result<Option<Self>, StartError> {
        let Some(file) = sqlite_file(url) else { return Ok(None) };
        let mut lock = file.as_os_str().to_owned();
        lock.push(".lock");
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|error| StartError(format!("{}: {error}", folder.display())))?;
        }
        Ok(Some(Self { _file: acquire(&file, &PathBuf::from(lock)).await? }))
    }
}

async fn acquire(what: &Path, lock: &Path) -> Result<File, StartError> {
    let failed = |error: io::Error| {
        let has_no_locks = error.kind() == io::ErrorKind::Unsupported
            || error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error());
        let why = if has_no_locks { "its file system has no locks, as NFS without a lock service; " } else { "" };
        StartError(format!("{}: {error}: {why}use another location (--data-dir, --database-url)", lock.display()))
    };
    let file = File::options().read(true).write(true).create(true).truncate(false).open(lock).map_err(failed)?;
    let waiting = tokio::task::spawn_blocking(move || lock_within(&file, PATIENCE).map(|locked| (locked, file)));
    let (locked, mut file) = waiting.await.map_err(io::Error::other).and_then(|waited| waited).map_err(failed)?;
    if !locked {
        let mut who = String::new();
        let _ = file.read_to_string(&mut who);
        let who = who.trim().parse::<u32>().map_or(String::new(), |pid| format!(" (process {pid})"));
        return Err(StartError(format!(
            "{} is in use by another Cove{who}: stop that one, or use another location (--data-dir, --database-url)",
            what.display()
        )));
    }
    // For the one who is refused; a disk that is full does not matter here.
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_and_a_database_are_held_by_one_and_free_after() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataLock::of_folder(folder.path()).await.unwrap();
        let refused = DataLock::of_folder(folder.path()).await.unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        DataLock::of_folder(folder.path()).await.unwrap();
        let url = format!("sqlite:{}", folder.path().join("new/x.db").display());
        let first = DataLock::of_database(&url).await.unwrap();
        let refused = DataLock::of_database(&url).await.unwrap_err().to_string();
        assert!(first.is_some() && refused.contains("x.db"), "{refused}");
        assert!(DataLock::of_database("postgresql://h/db").await.unwrap().is_none());
    }
}
