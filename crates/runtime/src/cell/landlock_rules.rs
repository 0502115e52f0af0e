//! Landlock: the file rules once more, by another part of the kernel.
//!
//! Even if a mount could be made writable again, only the workspace and the temporary folders may be written.

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
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
        ("/dev", read),
        ("/dev/null", read | AccessFs::WriteFile),
        ("/dev/full", read | AccessFs::WriteFile),
        ("/dev/tty", read | terminal),
        ("/dev/pts", read | terminal),
        // Not /dev/zero: whoever may write it can map memory that belongs to no process.
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

/// Whether this kernel can keep guests' signals among guests.
pub(super) fn scopes_signals() -> Result<String, String> {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let known = strict.scope(Scope::Signal).map(|_| "guests can signal guests only".to_owned());
    known.map_err(|error| format!("guests can stop and kill the process that runs JavaScript: {error}"))
}

/// Keeps the signals of this thread and of everybody whom it starts from now on among themselves. All guests are started
/// by one thread, so that one command can still end what another one has left running.
pub(super) fn scope_signals() -> Result<(), RulesetError> {
    Ruleset::default().scope(Scope::Signal)?.create()?.restrict_self().map(drop)
}
