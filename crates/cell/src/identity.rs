//! Who the guest is: `shipyard` inside, somebody who owns nothing outside, without privilege in any namespace.

use std::io;
use std::os::fd::OwnedFd;

use super::blocked::wall;
use cove_walls::namespaces::{OneUser, UnshareFlags, map_one_user, unshare, write_below};

/// The guest's id inside.
pub(super) const INSIDE: u32 = 1000;

/// A user namespace in which the guest is the only user there is.
pub(super) fn enter_user_namespace(proc: &OwnedFd, uid: u32, gid: u32) -> io::Result<()> {
    wall("user-namespace", unshare(UnshareFlags::NEWUSER))?;
    wall("user-map", map_one_user(proc, OneUser { inside: INSIDE, uid, gid }))
}

/// What the kernel counts for each user namespace apart, and the most of it. A user has 128 inotify instances for all
/// of his programs; eight sandboxes have room in them. A watch takes about a kilobyte.
const SHARES: [(&str, u32); 2] = [("max_inotify_instances", 16), ("max_inotify_watches", 8192)];

/// Bounds what this user namespace may take of what its owner's other programs need, too.
pub(super) fn bound_user_namespace(proc: &OwnedFd) -> io::Result<String> {
    for (name, most) in SHARES {
        write_below(proc, &format!("sys/user/{name}"), &most.to_string())?;
    }
    Ok(format!("{} inotify instances, {} watches", SHARES[0].1, SHARES[1].1))
}
