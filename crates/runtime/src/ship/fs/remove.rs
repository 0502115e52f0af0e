//! Removes a folder with everything in it, by handles, without ever following a link.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

/// Each storey holds a handle; deeper trees are removed by guests themselves (`rm -r`).
const MAX_DEPTH: usize = 512;

/// Removes `name` in `parent`.
pub(super) fn remove_folder(parent: &OwnedFd, name: &str) -> Result<(), Errno> {
    remove_below(parent, name.as_bytes(), 0)
}

fn remove_below(parent: &OwnedFd, name: &[u8], depth: usize) -> Result<(), Errno> {
    if depth > MAX_DEPTH {
        return Err(Errno::NAMETOOLONG);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = openat(parent, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let inner = entry.file_name().to_bytes();
        if inner == b"." || inner == b".." {
            continue;
        }
        match unlinkat(&dir, inner, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR | Errno::PERM) => remove_below(&dir, inner, depth + 1)?,
            Err(errno) => return Err(errno),
        }
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
