//! The walls between guests and what serves them, inside one sandbox.
//!
//! Guests have Ship's user, because an ordinary user cannot have a second one. Ship is process 1, which the kernel shields
//! from signals; these walls close the other ways to one process from another of the same user.

use std::fs;
use std::io;

use cove_walls::take_usual_turns;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::{landlock_rules, seccomp};

/// How far guests stand back where no control group deals out processor time: many of them must not keep waiting those
/// who serve, or other programs of the machine that come to their processor.
const GUEST_NICE: i32 = 10;

/// What they depend on.
#[derive(Debug)]
pub struct GuestWalls {
    /// Whether a control group counts memory.
    pub memory_counted: bool,
    /// The processors that guests have; empty: all.
    pub processors: Vec<usize>,
}

impl GuestWalls {
    /// Puts them on for this thread and for everybody whom it starts. All threads of Ship must be there by now.
    pub fn put_on(&self) -> io::Result<()> {
        let mut threads = Vec::new();
        for entry in fs::read_dir("/proc/self/task")? {
            threads.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        if !self.processors.is_empty() {
            let mut chosen = CpuSet::new();
            self.processors.iter().for_each(|number| chosen.set(*number));
            sched_setaffinity(None, &chosen)?;
        }
        take_usual_turns(if self.processors.is_empty() { 0 } else { GUEST_NICE });
        // Where the kernel does not know the rule, that was said when the walls were counted.
        let _ = landlock_rules::scope_signals();
        seccomp::put_on_guests(&threads, self).map_err(io::Error::other)
    }
}
