//! The kernel's short account of a process: what `/proc/PID/stat` says of its life and its relatives.

use std::fs;

/// What the file said of one process.
#[derive(Debug, Clone)]
pub struct Stat {
    text: String,
    /// Where the fields after the name begin.
    after_name: usize,
}

impl Stat {
    /// Reads it; `None` when there is no such process.
    pub fn of(pid: u32) -> Option<Self> {
        // The name may be other than UTF-8.
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// `pid (name) state parent group session …`; the name may hold anything, also brackets and newlines.
    pub fn parse(text: &str) -> Option<Self> {
        let after_name = text.rfind(')')? + 1;
        Some(Self { text: text.to_owned(), after_name })
    }

    fn field<T: std::str::FromStr>(&self, number: usize) -> Option<T> {
        self.text.get(self.after_name..)?.split_ascii_whitespace().nth(number)?.parse().ok()
    }

    /// Whether it has ended and only waits to be taken away.
    pub fn is_dead(&self) -> Option<bool> {
        self.field::<char>(0).map(|state| matches!(state, 'Z' | 'X'))
    }

    /// Whether it has begun to end, or has ended: it runs nothing of its own any more.
    pub fn is_ending(&self) -> Option<bool> {
        /// The kernel's `PF_EXITING`.
        const ENDING: u32 = 0x4;
        self.field::<u32>(6).map(|flags| flags & ENDING != 0)
    }

    /// Whether it is a copy of its parent and no program of its own yet.
    pub fn is_copy(&self) -> Option<bool> {
        /// The kernel's `PF_FORKNOEXEC`.
        const NO_PROGRAM_YET: u32 = 0x40;
        self.field::<u32>(6).map(|flags| flags & NO_PROGRAM_YET != 0)
    }

    /// Its parent.
    pub fn parent(&self) -> Option<u32> {
        self.field(1)
    }

    /// The leader of its process group; zero where that one is outside our PID namespace.
    pub fn group(&self) -> Option<u32> {
        self.field(2)
    }

    /// The leader of its session; zero where that one is outside our PID namespace.
    pub fn session(&self) -> Option<u32> {
        self.field(3)
    }

    /// Pages that it has touched for the first time and that needed no disk.
    pub fn faults(&self) -> Option<u64> {
        self.field(7)
    }

    /// For how long it and those of its children that it has taken away have used a processor, in ticks of the kernel.
    pub fn processor_ticks(&self) -> Option<u64> {
        (11..=14).map(|number| self.field::<u64>(number)).sum()
    }

    /// How many threads it has.
    pub fn threads(&self) -> Option<u32> {
        self.field(17)
    }

    /// When it began, by the kernel's count: with its number it means this process and no later one.
    pub fn began(&self) -> Option<u64> {
        self.field(19)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_anything() {
        let text = "12 (a) Z 1 (b) R 7 5 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 4 0 99";
        let stat = Stat::parse(text).unwrap();
        assert_eq!(stat.is_dead(), Some(false));
        assert_eq!((stat.parent(), stat.group(), stat.session()), (Some(7), Some(5), Some(3)));
        assert_eq!((stat.faults(), stat.threads(), stat.began()), (Some(1), Some(4), Some(99)));
        assert_eq!(stat.processor_ticks(), Some(5 + 6 + 7 + 8));
        let cut_off = Stat::parse("1 (a) S 1").unwrap();
        assert_eq!((cut_off.parent(), cut_off.group()), (Some(1), None));
        assert!(Stat::parse("nonsense").is_none());
    }

    #[test]
    fn the_kernel_writes_what_is_read_here() {
        let own = Stat::of(std::process::id()).unwrap();
        assert_eq!(own.is_dead(), Some(false));
        assert_eq!(own.parent(), Some(std::os::unix::process::parent_id()));
        assert!(own.faults() > Some(0) && own.threads() > Some(0) && own.began() > Some(0));
        assert!(crate::process::all().unwrap().any(|pid| pid == std::process::id()));
    }
}
