//! Who a process is: another user, without capabilities, and nobody whom a neighbour can look into.

use std::io;

use rustix::process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// Whether this process has `CAP_SYS_ADMIN`: root in a container often has not.
pub fn has_sys_admin() -> bool {
    capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// What root needs to make sandboxes without a user namespace around them: namespaces and mounts, an interface in a new
/// network, files and processes of other users, and becoming one of them.
const FULL: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// Whether this is root with every capability that it needs to make namespaces and mounts without a user namespace, and
/// with every user to choose from. Any other root, such as that of a container, does as an ordinary user does.
pub fn is_full_root() -> bool {
    rustix::process::geteuid().is_root()
        && capabilities(None).is_ok_and(|held| held.effective.contains(FULL))
        && std::fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| has_every_user(&map))
}

/// Whether a user namespace has all users of the machine, as the first one has.
fn has_every_user(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Root becomes this user and this group, with no other groups. It gives up its capabilities by that.
///
/// Only for a process with a single thread: other threads would stay who they are.
pub(crate) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    set_thread_groups(&[])?;
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_res_gid(gid, gid, gid)?;
    Ok(set_thread_res_uid(uid, uid, uid)?)
}

/// Root becomes this user but keeps its capabilities for the next steps: where ordinary users may not make user namespaces,
/// root's still can be made.
pub fn become_user_with_capabilities(uid: u32, gid: u32) -> io::Result<()> {
    set_keep_capabilities(true)?;
    become_user(uid, gid)?;
    let held = capabilities(None)?.permitted;
    let sets = CapabilitySets { effective: held, permitted: held, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)?;
    // Changing the user makes a process undumpable, and then its own id maps are not its own to write.
    set_dumpable(true)
}

/// Empties all five sets. What is dropped here can never come back where `no_new_privs` is on.
pub fn drop_capabilities() -> io::Result<()> {
    for bit in 0..64 {
        // The first number that is no capability ends the list. Without CAP_SETPCAP the bounding set stays as it is; it
        // only matters to an exec that could raise privileges.
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// No program that is executed from now on has more privileges than this one.
pub fn set_no_new_privileges() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Whether other processes of the same user may trace this one and read its memory, and whether it leaves core dumps.
pub fn set_dumpable(dumpable: bool) -> io::Result<()> {
    let behaviour = if dumpable { DumpableBehavior::Dumpable } else { DumpableBehavior::NotDumpable };
    Ok(set_dumpable_behavior(behaviour)?)
}

#[cfg(test)]
mod tests {
    use super::has_every_user;

    #[test]
    fn a_user_namespace_of_a_container_has_fewer_users() {
        assert!(has_every_user("         0          0 4294967295\n"));
        assert!(!has_every_user("         0       1000          1\n         1     100000      65536\n"));
        assert!(!has_every_user(""));
    }
}
