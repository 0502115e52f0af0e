//! Removing a folder that a guest has filled.
//!
//! Not by `remove_dir_all`, which holds one descriptor for each level: a guest can nest folders deeper than a process has
//! descriptors. Whatever lies too deep is moved up and taken in its turn.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, fchmod, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::cargo::FOLDER;

/// Levels that are walked before the rest is moved up.
const MAX_DEPTH: usize = 64;

/// Removes `name` in `root`, whatever is in it. No link is followed.
pub(super) fn remove_tree(root: &Path, name: &str) -> io::Result<()> {
    let root = rustix::fs::open(root, FOLDER, Mode::empty())?;
    let top = match openat(&root, name, FOLDER, Mode::empty()) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let mut moved = 0;
    // Each turn takes everything down to the deepest level that is walked; what was moved up is there for the next.
    loop {
        let before = moved;
        empty(&top, &top, 0, &mut moved)?;
        if moved == before {
            break;
        }
    }
    drop(top);
    unlinkat(&root, name, AtFlags::REMOVEDIR)?;
    Ok(())
}

fn empty(folder: &OwnedFd, top: &OwnedFd, depth: usize, moved: &mut u64) -> io::Result<()> {
    // A guest may have closed its own folder; it is ours to open.
    let _ = fchmod(folder, Mode::RWXU);
    let names: Vec<_> = Dir::read_from(folder)?.flatten().map(|entry| entry.file_name().to_owned()).collect();
    for name in names {
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(stat) = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if !FileType::from_raw_mode(stat.st_mode).is_dir() {
            gone(unlinkat(folder, &name, AtFlags::empty()))?;
            continue;
        }
        if depth >= MAX_DEPTH {
            *moved += 1;
            renameat(folder, &name, top, format!(".up-{moved}-{}", stat.st_ino))?;
            continue;
        }
        let inner = match openat(folder, &name, FOLDER, Mode::empty()) {
            Ok(inner) => inner,
            Err(Errno::NOENT) => continue,
            Err(Errno::ACCESS) => {
                rustix::fs::chmodat(folder, &name, Mode::RWXU, AtFlags::empty())?;
                openat(folder, &name, FOLDER, Mode::empty())?
            }
            Err(errno) => return Err(errno.into()),
        };
        empty(&inner, top, depth + 1, moved)?;
        drop(inner);
        gone(unlinkat(folder, &name, AtFlags::REMOVEDIR))?;
    }
    Ok(())
}

fn gone(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
