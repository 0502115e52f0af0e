//! Who the worker is: nobody, with no privilege in any namespace.

use rustix::io;
use rustix::process::{Gid, Uid, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use super::{Survey, WallName};

/// The id that owns nothing on a usual machine; also the id that the worker has inside its user namespace.
pub(super) const NOBODY: u32 = 65534;

/// Root becomes nobody; anybody else stays who he is, for he may not change it and is no danger as such.
///
/// The capabilities are kept for now: where ordinary users may not make user namespaces, root's namespaces still can be.
pub(super) fn become_nobody(survey: &mut Survey) {
    if geteuid().is_root() {
        let change = || -> io::Result<String> {
            set_keep_capabilities(true)?;
            set_thread_groups(&[])?;
            let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            set_thread_res_gid(gid, gid, gid)?;
            set_thread_res_uid(uid, uid, uid)?;
            let held = capabilities(None)?.permitted;
            set_capabilities(
                None,
                CapabilitySets { effective: held, permitted: held, inheritable: CapabilitySet::empty() },
            )?;
            Ok(format!("uid {NOBODY} instead of root"))
        };
        survey.note(WallName::UnprivilegedUser, change());
    } else {
        let detail = format!("uid {}, gid {}", geteuid().as_raw(), getegid().as_raw());
        survey.note(WallName::UnprivilegedUser, Ok::<_, io::Errno>(detail));
    }
}

/// Empties all five sets. What is dropped here can never come back: `no_new_privs` is on.
pub(super) fn drop_capabilities(survey: &mut Survey) {
    for bit in 0..64 {
        // Without CAP_SETPCAP the bounding set stays; it only matters to an exec that could raise privileges.
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)).is_err() {
            break;
        }
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let dropped = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
    survey.note(WallName::Capabilities, dropped.map(|()| "none".into()));
}
