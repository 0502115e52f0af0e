//! Removing a folder that a guest has filled, by handles and without ever following a link.
//!
//! Not by `remove_dir_all`, which holds one descriptor for each level: a guest can nest folders deeper than a process has
//! descriptors. Whatever lies too deep is moved up and taken in its turn. A folder that a guest has closed to itself is
//! opened: it is its owner's to remove.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::folder::{THROUGH, open_up};

/// Levels that are walked before the rest is moved up.
const MAX_DEPTH: usize = 64;

const FOLDER: OFlags = crate::folder::FOLDER.union(OFlags::NOFOLLOW);

/// Removes the folder `name` in `parent`, whatever is in it; fine where there is none.
pub fn remove_tree(parent: impl AsFd, name: impl Arg + Copy) -> Result<(), Errno> {
    let parent = parent.as_fd();
    let top = match open(parent, name) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
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
    gone(unlinkat(parent, name, AtFlags::REMOVEDIR))
}

/// Removes the folder at this path, as [`remove_tree`] does. For folders of our own: the path above it is followed.
pub fn remove_folder(path: &Path) -> Result<(), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    match rustix::fs::open(parent, crate::folder::FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => Ok(()),
        parent => remove_tree(parent?, name),
    }
}

/// Opens a folder, also one that its owner has closed to himself.
fn open(parent: BorrowedFd<'_>, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            open_up(&openat(parent, name, THROUGH | OFlags::NOFOLLOW, Mode::empty())?, Mode::empty())?;
            openat(parent, name, FOLDER, Mode::empty())
        }
        opened => opened,
    }
}

fn empty(folder: &OwnedFd, top: &OwnedFd, depth: usize, moved: &mut u64) -> Result<(), Errno> {
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
        let inner = match open(folder.as_fd(), name.as_c_str()) {
            Err(Errno::NOENT) => continue,
            opened => opened?,
        };
        if depth >= MAX_DEPTH {
            // To move a folder is to write into it: its `..` changes.
            let _ = fchmod(&inner, Mode::RWXU);
            *moved += 1;
            renameat(folder, &name, top, format!(".up-{moved}-{}", stat.st_ino))?;
            continue;
        }
        empty(&inner, top, depth + 1, moved)?;
        drop(inner);
        gone(unlinkat(folder, &name, AtFlags::REMOVEDIR))?;
    }
    Ok(())
}

fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn whatever_is_in_it_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let (outside, tree) = (place.path().join("outside"), place.path().join("tree"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        let mut deep = tree.clone();
        for _ in 0..3 * MAX_DEPTH {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("f"), "x").unwrap();
        symlink(&outside, tree.join("link")).unwrap();
        fs::create_dir_all(tree.join("closed/in")).unwrap();
        symlink(&outside, tree.join("closed/in/link")).unwrap();
        for closed in ["closed/in", "closed", "d/d"] {
            fs::set_permissions(tree.join(closed), PermissionsExt::from_mode(0o000)).unwrap();
        }
        let parent = fs::File::open(place.path()).unwrap();
        remove_folder(&tree).unwrap();
        remove_tree(&parent, "tree").unwrap();
        remove_folder(&tree.join("none/below")).unwrap();
        assert!(!tree.exists() && outside.join("kept").exists());
        // A link to a folder is no folder.
        symlink(&outside, &tree).unwrap();
        assert!(remove_tree(&parent, "tree").is_err() && outside.join("kept").exists());
    }
}
