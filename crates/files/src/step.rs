//! Resolves a path one component at a time, on handles.
//!
//! A handle, once opened, stays the folder it was, whatever is renamed meanwhile; `..` goes back to the handle that we
//! came from instead of asking the file system. So there is no moment in which somebody else decides where we are.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, readlinkat, statat};
use rustix::io::Errno;

/// As many symlinks as the kernel itself follows.
const MAX_SYMLINKS: usize = 40;

/// Each step holds a handle for a moment; deeper trees than this are not made by people.
const MAX_DEPTH: usize = 256;

/// What to do about folders that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Refuse,
    Create,
}

/// Where a file is or would be: a folder's handle and a name in it that is no symlink.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dir: OwnedFd,
    /// `None` when the path is the folder itself.
    pub(crate) name: Option<Vec<u8>>,
}

/// Follows `path` from `root`. With `follow` unset, a symlink anywhere is `ELOOP`.
pub(crate) fn place(root: BorrowedFd<'_>, path: &[u8], missing: Missing, follow: bool) -> Result<Place, Errno> {
    let mut dirs: Vec<OwnedFd> = Vec::new();
    let mut todo: Vec<Vec<u8>> = Vec::new();
    push(&mut todo, path);
    let mut symlinks = 0;
    while let Some(name) = todo.pop() {
        if name == b".." {
            // Above the first handle is the root, and above the root is nothing.
            dirs.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let here = dirs.last().map_or(root, AsFd::as_fd);
        let symlink = if todo.is_empty() {
            match statat(here, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => true,
                Ok(_) | Err(Errno::NOENT) => {
                    return Ok(Place { dir: duplicate(here)?, name: Some(name) });
                }
                Err(error) => return Err(error),
            }
        } else {
            match enter(here, &name, missing) {
                Ok(dir) if dirs.len() < MAX_DEPTH => {
                    dirs.push(dir);
                    continue;
                }
                Ok(_) => return Err(Errno::NAMETOOLONG),
                Err(Errno::NOTDIR | Errno::LOOP) => true,
                Err(error) => return Err(error),
            }
        };
        if symlink {
            let target = match readlinkat(here, name.as_slice(), Vec::new()) {
                Ok(target) => target.into_bytes(),
                // Not a symlink: a file where a folder should be.
                Err(Errno::INVAL) => return Err(Errno::NOTDIR),
                Err(error) => return Err(error),
            };
            symlinks += 1;
            if !follow || symlinks > MAX_SYMLINKS {
                return Err(Errno::LOOP);
            }
            if target.starts_with(b"/") {
                return Err(Errno::XDEV);
            }
            push(&mut todo, &target);
        }
    }
    let dir = match dirs.pop() {
        Some(dir) => dir,
        None => duplicate(root)?,
    };
    Ok(Place { dir, name: None })
}

fn enter(here: BorrowedFd<'_>, name: &[u8], missing: Missing) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(here, name, flags, Mode::empty()) {
        Err(Errno::NOENT) if missing == Missing::Create => match mkdirat(here, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => openat(here, name, flags, Mode::empty()),
            Err(error) => Err(error),
        },
        other => other,
    }
}

fn push(todo: &mut Vec<Vec<u8>>, path: &[u8]) {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    todo.extend(names.map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter().rev());
}

fn duplicate(fd: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    fd.try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
