//! The empty root: after this there is no file left to open, whatever else fails.

use std::io;

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use rustix::process::{chdir, pivot_root};

/// Swaps the root for an empty, read-only file system and lets go of the old one. Needs a mount namespace of our own.
pub(super) fn make_empty() -> io::Result<String> {
    // Nothing we do here may be seen outside, nor anything outside be seen here.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Any directory will do as a place to mount on; these two are there on every Linux.
    let place = ["/proc", "/tmp"]
        .into_iter()
        .find(|place| mount("none", *place, "tmpfs", flags, c"size=4k,nr_inodes=2,mode=0").is_ok())
        .ok_or_else(|| io::Error::other("no directory to mount on"))?;
    chdir(place)?;
    pivot_root(".", ".")?;
    // The old root now lies on top of the new one, under the same path: this lets go of it.
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    Ok("an empty root, read-only".into())
}
