//! Landlock: the file rules once more, by another part of the kernel.
//!
//! Even if a mount could be made writable again, only the workspace and the temporary folders may be written.

use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope,
};

/// The newest rules that we know; older kernels take what they know of them.
const NEWEST: ABI = ABI::V6;

/// Everything that can be done to files, and making devices is none of it.
fn all_but_devices() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn rules() -> Result<LandlockStatus, RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let mut ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?.create()?;
    let terminal = AccessFs::WriteFile | AccessFs::IoctlDev;
    let rights = [
        ("/", read),
        ("/workspace", all_but_devices()),
        ("/tmp", all_but_devices()),
        ("/dev/shm", all_but_devices()),
        ("/dev", read | terminal),
        ("/proc", read | AccessFs::WriteFile),
    ];
    for (path, allowed) in rights {
        if let Ok(folder) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(folder, allowed))?;
        }
    }
    Ok(ruleset.restrict_self()?.landlock)
}

/// Puts them on for this process and everybody below.
pub(super) fn put_on() -> Result<String, String> {
    match rules() {
        Ok(LandlockStatus::Available { effective_abi, .. }) => {
            Ok(format!("version {}; written are /workspace, /tmp, /dev/shm", effective_abi as i32))
        }
        Ok(other) => Err(format!("not there: {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}
