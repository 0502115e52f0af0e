//! The empty root: after this there is no file left to open, whatever else fails.

use std::io;

use cove_walls::mounts::make_private;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{chdir, pivot_root};

/// Swaps the root for an empty, read-only file system and lets go of the old one. Needs a mount namespace of our own.
pub(super) fn make_empty() -> io::Result<String> {
    make_private()?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Any directory will do as a place to mount on; these two are there on every Linux.
    let place = ["/proc", "/tmp"]
        .into_iter()
        .find(|place| mount("none", *place, "tmpfs", flags, c"size=4k,nr_inodes=2,mode=111").is_ok())
        .ok_or_else(|| io::Error::other("no directory to mount on"))?;
    chdir(place)?;
    pivot_root(".", ".")?;
    // The old root now lies on top of the new one, under the same path: this lets go of it.
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    Ok("an empty root, read-only".into())
}
