//! Landlock: the file rules once more, by another part of the kernel.
//!
//! Even if a mount could be made writable again, only the workspace and the temporary folders may be written.

use cove_walls::landlock_rules::{AccessFs, LandlockRules, Rights, can_keep_signals, every_right, read_rights};

/// Everything that can be done to files, and making devices is none of it.
fn all_but_devices() -> Rights {
    every_right() & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Puts them on for this process and everybody below.
pub(super) fn put_on() -> Result<String, String> {
    let read = read_rights();
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
    let nothing = LandlockRules::default().without_files().without_others();
    let rules = rights.into_iter().fold(nothing, |rules, (path, rights)| rules.allow(path, rights));
    rules.put_on().map(|version| format!("version {version}; written are /workspace, /tmp, /dev/shm"))
}

/// Whether this kernel can keep guests' signals among guests.
pub(super) fn scopes_signals() -> Result<String, String> {
    let known = can_keep_signals().map(|()| "guests can signal guests only".to_owned());
    known.map_err(|error| format!("guests can stop and kill the process that runs JavaScript: {error}"))
}

/// Keeps the signals of this thread and of everybody whom it starts from now on among themselves. All guests are started
/// by one thread, so that one command can still end what another one has left running.
pub(super) fn scope_signals() -> Result<i32, String> {
    LandlockRules::default().without_signals().put_on()
}
