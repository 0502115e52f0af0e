//! Namespaces of the worker's own: no interface, no process, no name of the machine is in them.

use std::io;

use cove_walls::namespaces::{OneUser, UnshareFlags, map_one_user, open_proc, unshare};
use rustix::process::{getegid, geteuid};

use super::identity::NOBODY;
use super::{Left, Survey, WallName};

const OTHERS: [(WallName, UnshareFlags); 6] = [
    (WallName::NetworkNamespace, UnshareFlags::NEWNET),
    (WallName::MountNamespace, UnshareFlags::NEWNS),
    (WallName::PidNamespace, UnshareFlags::NEWPID),
    (WallName::IpcNamespace, UnshareFlags::NEWIPC),
    (WallName::UtsNamespace, UnshareFlags::NEWUTS),
    (WallName::CgroupNamespace, UnshareFlags::NEWCGROUP),
];

/// Leaves every namespace that the kernel lets us leave.
pub(super) fn leave(survey: &mut Survey) -> Left {
    survey.note(WallName::UserNamespace, leave_user_namespace());
    let all = OTHERS.iter().fold(UnshareFlags::empty(), |all, (_, flag)| all | *flag);
    let together = unshare(all);
    let mut left = Left { pid_namespace: false, mount_namespace: false };
    for (name, flag) in OTHERS {
        // One call for all is the quick way; where it fails, one by one, so that each says for itself.
        let outcome = if together.is_ok() { Ok(()) } else { unshare(flag) };
        left.pid_namespace |= outcome.is_ok() && name == WallName::PidNamespace;
        left.mount_namespace |= outcome.is_ok() && name == WallName::MountNamespace;
        survey.note(name, outcome.map(|()| "new"));
    }
    left
}

/// A user namespace in which nobody is the only user there is.
fn leave_user_namespace() -> io::Result<String> {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER)?;
    // Without /proc there are no maps: then every id is the overflow id, which is nobody as well.
    let mapped = open_proc().and_then(|proc| map_one_user(proc, OneUser { inside: NOBODY, uid, gid }));
    Ok(match mapped {
        Ok(()) => format!("one user, {NOBODY}"),
        Err(error) => format!("no user at all ({error})"),
    })
}
