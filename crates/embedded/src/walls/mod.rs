//! The walls around guest code, put up by the worker before it holds any.
//!
//! Three stages. Before the zygote exists: another user, namespaces of its own. In the zygote: an empty root, no
//! capabilities, resource limits, Landlock, seccomp. In each child: what only a child can do without. Every wall says
//! from inside whether it stands; nothing is assumed. What a missing wall means is the host's decision (see
//! [`WallPolicy`](crate::WallPolicy)).

mod identity;
mod landlock_rules;
mod limits;
mod namespaces;
mod report;
mod root;
mod seccomp;
mod status;

pub use cove_walls::WallState;
pub use report::{Wall, WallName, WallReport};

pub(crate) use limits::{cap_memory, deepen_stack, max_child_bytes};
pub(crate) use report::{Survey, finish};
pub(crate) use seccomp::ChildFilter;

use std::sync::atomic::{AtomicI32, Ordering};

use cove_walls::Status;
use cove_walls::identity::{drop_capabilities, set_dumpable, set_no_new_privileges};
use cove_walls::process::die_with_parent;
use rustix::process::getpid;

use crate::probe::Behind;

/// The zygote's id: whom a child must have as its parent.
static ZYGOTE: AtomicI32 = AtomicI32::new(0);

/// What the first stage left to do.
pub(crate) struct Left {
    /// The next fork steps into a new PID namespace.
    pub(crate) pid_namespace: bool,
    mount_namespace: bool,
}

/// First stage: in the freshly started process, whose descriptors and environment are already gone.
pub(crate) fn leave_what_is_shared(survey: &mut Survey) -> Left {
    survey.note(WallName::NoNewPrivileges, set_no_new_privileges().map(|()| "set"));
    identity::become_nobody(survey);
    // A program that cannot be read is undumpable when it starts, and then its own id maps are not its own to write.
    let _ = set_dumpable(true);
    namespaces::leave(survey)
}

/// What the second stage leaves for the children.
pub(crate) struct Shared {
    /// The filter that each child puts on.
    pub(crate) child_filter: Option<ChildFilter>,
    /// Address space in use before any guest.
    pub(crate) base_bytes: u64,
    /// Where a child's first allocations will lie.
    pub(crate) fresh: Option<crate::sys::heap::Fresh>,
}

/// Second stage: in the zygote, before its world is built.
pub(crate) fn close_in(survey: &mut Survey, left: &Left, behind: Behind) -> Shared {
    let own = getpid().as_raw_nonzero().get();
    ZYGOTE.store(own, Ordering::Relaxed);
    let inside = own == 1;
    if left.pid_namespace {
        let seen = if inside { Ok("the zygote is process 1".to_owned()) } else { Err("process 1 is another process") };
        survey.note(WallName::PidNamespace, seen);
    }
    // Opened while there still is a /proc; read when all walls stand.
    let status = Status::open_own();
    if left.mount_namespace {
        survey.note(WallName::MountNamespace, root::make_empty());
    }
    survey.note(WallName::Capabilities, drop_capabilities().map(|()| "none"));
    survey.note(WallName::ResourceLimits, limits::lower_in_zygote());
    landlock_rules::restrict(survey);
    let hidden = set_dumpable(false).map(|()| "no core, no ptrace, no /proc/PID/mem");
    survey.note(WallName::NotDumpable, hidden);
    let child_filter = if behind == Behind::All { seccomp::put_on(survey) } else { None };
    let seen = status.and_then(|status| Status::read(status).ok()).unwrap_or_default();
    status::confirm(&seen, survey);
    Shared { child_filter, base_bytes: status::address_space_bytes(&seen), fresh: None }
}

/// Third stage: in each child, right after the fork. `false`: a wall that should stand does not, and the child must end.
pub(crate) fn finish_in_child(filter: Option<&mut ChildFilter>) -> bool {
    // Where there is a PID namespace the kernel ends the children with the zygote anyway; this is for where there is none.
    die_with_parent(ZYGOTE.load(Ordering::Relaxed)).is_ok()
        && limits::lower_in_child().is_ok()
        && filter.is_none_or(|filter| filter.put_on().is_ok())
}
