//! Resolves a path one component at a time, on handles.
//!
//! A handle, once opened, stays the folder it was, whatever is renamed meanwhile; `..` goes back to the handle that we
//! came from instead of asking the file system. So there is no moment in which somebody else decides where we are.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchown, mkdirat, openat, readlinkat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::draft::{Owner, draft_name};

/// As many symlinks as the kernel itself follows.
const MAX_SYMLINKS: usize = 40;

/// Each step holds a handle for a moment; deeper trees than this are not made by people.
const MAX_DEPTH: usize = 256;

const ENTER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What to do about folders that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The path is not found.
    Refuse,
    /// They are made.
    Create,
}

/// Where a file is or would be: a folder's handle and a name in it.
#[derive(Debug)]
pub struct Location {
    /// The folder.
    pub dir: OwnedFd,
    /// `None` when the path is the folder itself.
    pub name: Option<Vec<u8>>,
}

/// How steps are taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepOptions {
    /// Whether symlinks on the way are followed; if not, each is `ELOOP`.
    pub(crate) follow: bool,
    /// Whether the last name is followed as well, and folders are made also where a link leads; if not, that name is
    /// left as it is, link or not, and a link to nowhere stays one.
    pub(crate) follow_last: bool,
    /// How missing folders are made, if they are.
    pub(crate) make: Option<Make>,
}

/// How folders are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Make {
    pub(crate) mode: Mode,
    pub(crate) owner: Option<Owner>,
}

/// Follows `path` from `root`.
pub(crate) fn place(root: BorrowedFd<'_>, path: &[u8], gait: StepOptions) -> Result<Location, Errno> {
    let mut dirs: Vec<OwnedFd> = Vec::new();
    let mut todo: Vec<Name> = Vec::new();
    push(&mut todo, path, false);
    let mut symlinks = 0;
    while let Some(Name { name, of_link }) = todo.pop() {
        if name == b".." {
            // Above the first handle is the root, and above the root is nothing.
            dirs.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let here = dirs.last().map_or(root, AsFd::as_fd);
        if todo.is_empty() {
            let is_link = gait.follow_last
                && match statat(here, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode).is_symlink(),
                    Err(Errno::NOENT) => false,
                    Err(error) => return Err(error),
                };
            if !is_link {
                return Ok(Location { dir: duplicate(here)?, name: Some(name) });
            }
        } else {
            match enter(here, &name, gait.make.filter(|_| gait.follow_last || !of_link)) {
                Ok(dir) if dirs.len() < MAX_DEPTH => {
                    dirs.push(dir);
                    continue;
                }
                Ok(_) => return Err(Errno::NAMETOOLONG),
                Err(Errno::NOTDIR | Errno::LOOP) => {}
                Err(error) => return Err(error),
            }
        }
        let target = match readlinkat(here, name.as_slice(), Vec::new()) {
            Ok(target) => target.into_bytes(),
            // Not a symlink: a file where a folder should be.
            Err(Errno::INVAL) => return Err(Errno::NOTDIR),
            Err(error) => return Err(error),
        };
        symlinks += 1;
        if !gait.follow || symlinks > MAX_SYMLINKS {
            return Err(Errno::LOOP);
        }
        if target.starts_with(b"/") {
            return Err(Errno::XDEV);
        }
        push(&mut todo, &target, true);
    }
    let dir = match dirs.pop() {
        Some(dir) => dir,
        None => duplicate(root)?,
    };
    Ok(Location { dir, name: None })
}

fn enter(here: BorrowedFd<'_>, name: &[u8], make: Option<Make>) -> Result<OwnedFd, Errno> {
    match (openat(here, name, ENTER, Mode::empty()), make) {
        (Err(Errno::NOENT), Some(make)) => match make.folder(here, name) {
            Ok(()) | Err(Errno::EXIST) => openat(here, name, ENTER, Mode::empty()),
            Err(error) => Err(error),
        },
        (opened, _) => opened,
    }
}

impl Make {
    /// Makes a folder that is its owner's from the moment it has its name: somebody may be about to write into it.
    pub(crate) fn folder(self, here: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
        let Some((uid, gid)) = self.owner else { return mkdirat(here, name, self.mode) };
        let draft = draft_name()?;
        mkdirat(here, &draft, self.mode)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let placed = openat(here, &draft, flags, Mode::empty())
            .and_then(|made| fchown(&made, Some(uid), Some(gid)))
            .and_then(|()| renameat_with(here, &draft, here, name, RenameFlags::NOREPLACE));
        if placed.is_err() {
            let _ = unlinkat(here, &draft, AtFlags::REMOVEDIR);
        }
        placed
    }
}

/// One step to take.
struct Name {
    name: Vec<u8>,
    /// Whether a symlink said it, not the path itself.
    of_link: bool,
}

fn push(todo: &mut Vec<Name>, path: &[u8], of_link: bool) {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    let first = todo.len();
    todo.extend(names.map(|name| Name { name: name.to_vec(), of_link }));
    todo[first..].reverse();
}

fn duplicate(fd: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    fd.try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
