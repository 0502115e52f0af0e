//! Who the guest is: `shipyard` inside, somebody who owns nothing outside, without privilege in any namespace.

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use crate::sys;

/// The guest's id inside.
pub(super) const INSIDE: u32 = 1000;

/// Root becomes somebody who owns nothing but the cargo. The capabilities are kept for the next step.
pub(super) fn become_owner_of_cargo(uid: u32, gid: u32) -> io::Result<()> {
    set_keep_capabilities(true)?;
    set_thread_groups(&[])?;
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    let held = capabilities(None)?.permitted;
    let sets = CapabilitySets { effective: held, permitted: held, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)?;
    // Changing the user makes a process undumpable, and then its own id maps are not its own to write.
    Ok(set_dumpable_behavior(DumpableBehavior::Dumpable)?)
}

/// A user namespace in which the guest is the only user there is.
pub(super) fn enter_user_namespace(proc: &OwnedFd, uid: u32, gid: u32) -> io::Result<()> {
    sys::unshare(UnshareFlags::NEWUSER)?;
    write_below(proc, "self/setgroups", "deny")?;
    write_below(proc, "self/gid_map", &format!("{INSIDE} {gid} 1"))?;
    write_below(proc, "self/uid_map", &format!("{INSIDE} {uid} 1"))
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

/// Writes a file of `/proc` as it is outside: the sandbox's own is read-only.
fn write_below(proc: &OwnedFd, path: &str, text: &str) -> io::Result<()> {
    let file = openat(proc, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    fs::File::from(file).write_all(text.as_bytes())
}

/// Empties all five sets. What is dropped here can never come back: `no_new_privs` is on.
pub(super) fn drop_capabilities() -> io::Result<()> {
    for bit in 0..64 {
        // The first number that is no capability ends the list.
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
