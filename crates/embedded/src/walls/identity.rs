//! Who the worker is: nobody, with no privilege in any namespace.

use std::io;

use cove_walls::identity;
use rustix::process::{getegid, geteuid};

use super::{Survey, WallName};

/// The id that owns nothing on a usual machine; also the id that the worker has inside its user namespace.
pub(super) const NOBODY: u32 = 65534;

/// Root becomes nobody; anybody else stays who he is, for he may not change it and is no danger as such.
pub(super) fn become_nobody(survey: &mut Survey) {
    let outcome = if geteuid().is_root() {
        identity::become_user_with_capabilities(NOBODY, NOBODY).map(|()| format!("uid {NOBODY} instead of root"))
    } else {
        Ok::<_, io::Error>(format!("uid {}, gid {}", geteuid().as_raw(), getegid().as_raw()))
    };
    survey.note(WallName::UnprivilegedUser, outcome);
}
