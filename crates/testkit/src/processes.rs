//! Processes as the kernel tells them in `/proc`: who is below whom, who is alive, what each was started with.
//!
//! "Nothing is left behind" is a promise of many rooms; this is how their tests look.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// One line of `/proc/<pid>/stat`, as far as tests look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// `R` runs, `S` and `D` wait, `T` is stopped, `Z` has ended and is not reaped yet.
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Processor time that it has used, in ticks of the clock.
    pub ticks: u64,
}

/// What the kernel says of a process; none: there is no such process.
pub fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, a bracket too; the fields begin after the last one.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let id = |at: usize| number(at).and_then(|id| u32::try_from(id).ok());
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: id(1)?,
        // Both are 0 for a process of a namespace above ours.
        group: id(2)?,
        session: id(3)?,
        ticks: number(11)? + number(12)?,
    })
}

/// Every process that can be seen from here.
pub fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Everybody below a process but itself, zombies too; each comes before those that are below it.
pub fn below(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in all() {
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = children.remove(&root).unwrap_or_default();
    next.reverse();
    while let Some(pid) = next.pop() {
        found.push(pid);
        next.extend(children.remove(&pid).unwrap_or_default().into_iter().rev());
    }
    found
}

/// Whether a process is there and not merely a zombie.
pub fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

/// What a process was started with, its words parted by spaces; empty for one that is gone.
pub fn command_line(pid: u32) -> String {
    words(pid).join(" ")
}

/// The words that a process was started with.
pub fn words(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// A figure from `/proc/<pid>/status` that is told in kB, in bytes: `VmRSS`, `RssAnon`.
pub fn status_bytes(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Ends a process that the test knows; one that is gone already is no trouble.
pub fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the child is ended two lines below")]
    fn a_child_is_seen_and_its_end_too() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id();
        crate::until_blocking("the child runs its program", || command_line(pid) == "sleep 1000");
        assert!(below(own).contains(&pid) && alive(pid) && alive(own));
        assert_eq!(words(pid), ["sleep", "1000"]);
        assert_eq!(stat(pid).unwrap().parent, own);
        assert!(status_bytes(own, "VmRSS").unwrap() > 1 << 20);
        kill(pid);
        crate::until_blocking("the child has ended", || !alive(pid));
        assert_eq!(stat(pid).unwrap().state, 'Z', "a zombie is not alive");
        child.wait().unwrap();
        assert_eq!((stat(pid), command_line(pid)), (None, String::new()));
        kill(pid);
    }
}
