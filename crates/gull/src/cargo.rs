//! The workspace as Gull sees it: the one confined folder, in which no symlink is ever followed.
//!
//! agent-browser itself gets no path in here. A guest may put a symlink where a picture is about to be written; whoever
//! opens that path as a file name writes to wherever the guest pointed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use cove_workspace::{FOLDER, Folder, Missing, READ, RelPath};
use rustix::io::Errno;

/// The opened workspace.
#[derive(Debug)]
pub(crate) struct Cargo {
    folder: Folder,
    owner: u32,
}

impl Cargo {
    /// Opens the workspace. A guest may have shut its own folder; it is ours to open.
    pub(crate) fn open(workspace: &Path) -> io::Result<Self> {
        let cargo = Self::with(Folder::open(workspace)?.reopening())?;
        drop(cargo.existing_folder("")?);
        Ok(cargo)
    }

    /// The same for a folder that is open already.
    pub(crate) fn from_folder(root: OwnedFd) -> io::Result<Self> {
        Self::with(Folder::from_fd(root))
    }

    /// What Gull makes in it becomes its owner's.
    fn with(folder: Folder) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&folder)?;
        let folder = folder.without_symlinks().with_folder_mode(0o755).giving_to(stat.st_uid, stat.st_gid);
        Ok(Self { folder, owner: stat.st_uid })
    }

    /// The user who owns the workspace.
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    /// Opens a plain file for reading.
    pub(crate) fn read(&self, path: &str) -> io::Result<File> {
        self.folder.open_file(&inside(path)?, READ).map(|(file, _)| file).map_err(told)
    }

    /// Puts a whole file in place; folders on the way are made, a file or a symlink of that name is replaced.
    pub(crate) fn write(
        &self,
        path: &str,
        mode: u32,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let place = self.folder.place(&inside(path)?, Missing::Create).map_err(told)?;
        let name = place.name.as_deref().ok_or(Errno::ISDIR).map_err(told)?;
        let mut draft = self.folder.draft_at(&place, mode)?;
        fill(draft.file())?;
        draft.publish(&place.dir, name).map_err(told)
    }

    /// Opens a folder that is there.
    pub(crate) fn existing_folder(&self, path: &str) -> io::Result<OwnedFd> {
        self.folder.open_path(&inside(path)?, FOLDER).map_err(told)
    }
}

impl AsFd for Cargo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

fn inside(path: &str) -> io::Result<RelPath> {
    RelPath::parse(path).map_err(io::Error::other)
}

/// The kernel's word for a symlink on the way, in plain words.
fn told(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => io::Error::other("a symlink or a plain file is on the way"),
        Errno::NOENT => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
        Errno::ISDIR | Errno::NXIO => io::Error::other("it is not a plain file"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use cove_workspace::testkit::escape::{Expect, LINKS, PATHS, Stage};

    use super::*;

    fn put(cargo: &Cargo, path: &str) -> io::Result<String> {
        cargo.write(path, 0o644, |file| file.write_all(b"new")).map(|()| String::new())
    }

    fn get(cargo: &Cargo, path: &str) -> io::Result<String> {
        let mut text = String::new();
        cargo.read(path)?.read_to_string(&mut text).map(|_| text)
    }

    fn told(answer: io::Result<String>) -> Result<String, String> {
        answer.map_err(|error| error.to_string())
    }

    /// The escape suite through what Gull does with paths of commands: none is read, and a symlink is replaced at most.
    #[test]
    fn no_path_leads_out() {
        let stage = Stage::new();
        let cargo = Cargo::open(&stage.workspace()).unwrap();
        for path in PATHS.iter().chain(LINKS) {
            assert!(get(&cargo, path).is_err(), "{path:?} was read");
        }
        for path in PATHS {
            assert!(put(&cargo, path).is_err(), "{path:?} was written");
        }
        stage.check("gull", LINKS, Expect::Inside, |path| vec![("write", told(put(&cargo, path)))]);
        for path in LINKS {
            assert_eq!(get(&cargo, path).unwrap(), "new", "{path:?}: the symlink was followed");
        }
    }

    #[test]
    fn a_symlink_swapping_racer_gains_nothing() {
        let stage = Stage::new();
        let cargo = Cargo::open(&stage.workspace()).unwrap();
        let get = |path| told(get(&cargo, path));
        let put = |path| told(put(&cargo, path));
        stage.race("gull", || {
            vec![
                ("read", get("real/a.txt")),
                ("read a secret", get("real/secret.txt")),
                ("write", put("real/a.txt")),
                ("write deeper", put("real/new/deep/b.txt")),
                ("write a secret", put("swap/new.txt")),
            ]
        });
    }

    #[test]
    fn files_are_whole_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let cargo = Cargo::open(dir.path()).unwrap();
        put(&cargo, "a/b/c.txt").unwrap();
        assert_eq!(get(&cargo, "a/b/c.txt").unwrap(), "new");
        assert_eq!(get(&cargo, "nothing").unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(put(&cargo, "folder").is_err());
        assert_eq!(get(&cargo, "folder").unwrap_err().to_string(), "it is not a plain file");
        assert!(cargo.write("broken", 0o644, |_| Err(io::Error::other("no"))).is_err());
        let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }
}
