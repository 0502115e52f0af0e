//! The walls between guests and what serves them, inside one sandbox.
//!
//! Guests have Ship's user, because an ordinary user cannot have a second one. Ship is process 1, which the kernel shields
//! from signals; these walls close the other ways to one process from another of the same user.

use std::fs;
use std::io;

use super::{landlock_rules, seccomp};

/// Puts them on for this thread and for everybody whom it starts. All threads of Ship must be there by now.
/// `memory_counted`: by a control group.
pub(crate) fn wall_guests_off(memory_counted: bool) -> io::Result<()> {
    let mut threads = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
        threads.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    // Where the kernel does not know the rule, that was said when the walls were counted.
    let _ = landlock_rules::scope_signals();
    seccomp::put_on_guests(&threads, memory_counted).map_err(io::Error::other)
}
