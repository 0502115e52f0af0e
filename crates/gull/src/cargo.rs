//! The workspace as Gull sees it: files are read and written through its opened folder, one step at a time, and no
//! symlink is ever followed.
//!
//! agent-browser itself gets no path in here. A guest may put a symlink where a picture is about to be written; whoever
//! opens that path as a file name writes to wherever the guest pointed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use cove_files::RelPath;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, mkdirat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

pub(crate) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The opened workspace.
#[derive(Debug)]
pub(crate) struct Cargo {
    root: OwnedFd,
    /// Who owns it: what Gull writes becomes theirs.
    owner: (u32, u32),
}

impl Cargo {
    /// Opens the workspace. A guest may have shut its own folder; it is ours to open.
    pub(crate) fn open(workspace: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = match rustix::fs::open(workspace, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                rustix::fs::chmod(workspace, Mode::RWXU)?;
                rustix::fs::open(workspace, flags, Mode::empty())?
            }
            other => other?,
        };
        Self::from_folder(root)
    }

    /// The same for a folder that is open already.
    pub(crate) fn from_folder(root: OwnedFd) -> io::Result<Self> {
        let meta = File::from(root.try_clone()?).metadata()?;
        Ok(Self { root, owner: (meta.uid(), meta.gid()) })
    }

    /// The user who owns the workspace.
    pub(crate) fn owner(&self) -> u32 {
        self.owner.0
    }

    /// Opens a plain file for reading.
    pub(crate) fn read(&self, path: &RelPath) -> io::Result<File> {
        let (folder, name) = self.parent(path.as_str(), false)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&folder, name, flags, Mode::empty()).map_err(told)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
    }

    /// Puts a whole file in place; folders on the way are made, a file of that name is replaced.
    pub(crate) fn write(
        &self,
        path: &str,
        mode: u32,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, name) = self.parent(path, true)?;
        let draft = format!(".cove-{}", crate::secret::hex(8)?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&folder, &draft, flags, Mode::from_raw_mode(mode))?);
        let placed = fill(&mut file)
            .and_then(|()| self.give(&file))
            .and_then(|()| renameat(&folder, &draft, &folder, name).map_err(told));
        if placed.is_err() {
            let _ = unlinkat(&folder, &draft, AtFlags::empty());
        }
        placed
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// Opens a folder that is there.
    pub(crate) fn existing_folder(&self, path: &str) -> io::Result<OwnedFd> {
        self.walk(path.split('/').filter(|name| !name.is_empty()), false)
    }

    fn parent<'a>(&self, path: &'a str, make: bool) -> io::Result<(OwnedFd, &'a str)> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.walk(folders.split('/').filter(|name| !name.is_empty()), make)?, name))
    }

    /// Makes a folder that is its owner's from the moment it has its name: Ship may be about to write into it.
    fn make_folder(&self, parent: &OwnedFd, name: &str) -> io::Result<()> {
        let draft = format!(".cove-{}", crate::secret::hex(8)?);
        mkdirat(parent, &draft, Mode::from_raw_mode(0o755))?;
        let made = openat(parent, &draft, FOLDER, Mode::empty()).map_err(told).and_then(|made| self.give(&made));
        let placed = made.and_then(|()| match renameat_with(parent, &draft, parent, name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => unlinkat(parent, &draft, AtFlags::REMOVEDIR).map_err(told),
            other => other.map_err(told),
        });
        if placed.is_err() {
            let _ = unlinkat(parent, &draft, AtFlags::REMOVEDIR);
        }
        placed
    }

    fn walk<'a>(&self, names: impl Iterator<Item = &'a str>, make: bool) -> io::Result<OwnedFd> {
        let mut folder = self.root.try_clone()?;
        for name in names {
            let opened = match openat(&folder, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    self.make_folder(&folder, name)?;
                    openat(&folder, name, FOLDER, Mode::empty()).map_err(told)?
                }
                other => other.map_err(told)?,
            };
            folder = opened;
        }
        Ok(folder)
    }

    /// Hands a new thing to the workspace's owner; only root can, and only root has to.
    fn give(&self, thing: &impl AsFd) -> io::Result<()> {
        if !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        fchown(thing.as_fd(), Some(self.owner.0), Some(self.owner.1))
    }
}

/// The kernel's word for a symlink on the way, in plain words.
fn told(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => io::Error::other("a symlink or a plain file is on the way"),
        Errno::NOENT => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;

    #[test]
    fn symlinks_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret"), "s").unwrap();
        symlink(&outside, inside.join("door")).unwrap();
        symlink(outside.join("secret"), inside.join("file")).unwrap();
        let cargo = Cargo::open(&inside).unwrap();
        let put = |path: &str| cargo.write(path, 0o644, |file| file.write_all(b"new"));
        let get = |path: &str| {
            let mut text = String::new();
            cargo.read(&RelPath::parse(path).unwrap())?.read_to_string(&mut text).map(|_| text)
        };
        assert!(get("file").is_err() && get("door/secret").is_err() && get("nothing").is_err());
        assert!(put("door/secret").is_err());
        // A symlink as the last name is replaced, not followed.
        put("file").unwrap();
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "s");
        assert_eq!(get("file").unwrap(), "new");
        put("a/b/c.txt").unwrap();
        assert_eq!(get("a/b/c.txt").unwrap(), "new");
        std::fs::create_dir(inside.join("folder")).unwrap();
        assert!(put("folder").is_err());
        let names: Vec<_> = std::fs::read_dir(&inside).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(".cove-")), "{names:?}");
    }
}
