//! What Ship and the memory watch know of one another: how often memory ran out and how much was used, which Ship reads when
//! a process of a guest was killed; and whether the watch sleeps, because there is nobody but Ship.
//!
//! The kernel's count (a control group) and the watch's own look the same from here. Both are written before the kill is
//! sent, so that whoever sees the end of a process sees its reason, too.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use cove_walls::SharedPage;

use super::{EndedByLimit, ExceededLimit};

/// The files of a group that counts memory: its events, its highest use and its present one.
pub(super) const LEDGER_FILES: usize = 3;

/// The ledger of one sandbox.
#[derive(Debug, Clone)]
pub struct MemoryLedger(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    limit_bytes: u64,
    /// Where the kernel counts.
    group: Option<[File; LEDGER_FILES]>,
    /// What the watch has written.
    page: SharedPage,
    /// Where a watch that sleeps can hear.
    line: Option<UnixStream>,
}

/// What the watch writes, by place in the page.
const KILLS: usize = 0;
const USED: usize = 1;
const ASLEEP: usize = 2;

/// What Ship says to a watch that sleeps.
const WAKE: &[u8] = b"s";

impl MemoryLedger {
    pub(super) fn new(
        limit_bytes: u64,
        group: Option<[File; LEDGER_FILES]>,
        page: SharedPage,
        line: Option<UnixStream>,
    ) -> Self {
        Self(Arc::new(Kept { limit_bytes, group, page, line }))
    }

    /// Whether the watch sleeps: then there is nobody but Ship.
    pub fn watch_sleeps(&self) -> bool {
        self.0.page.get(ASLEEP) != 0
    }

    /// Says that somebody is about to be started. To be called before: from then on there is something to look at.
    pub fn wake_watch(&self) {
        if self.watch_sleeps() {
            // A line that is full says it as well.
            let _ = self.0.line.as_ref().map(|mut line| line.write(WAKE));
        }
    }

    /// How often a process was killed for memory so far.
    pub fn kills(&self) -> u64 {
        let group = self.0.group.as_ref().map_or(0, |[events, ..]| count(&text(events)));
        group + self.0.page.get(KILLS)
    }

    /// Whether the kernel may have to kill somebody for the next few pages.
    pub(crate) fn is_nearly_full(&self) -> bool {
        /// What guests take while a process is made, with room to spare.
        const ROOM_BYTES: u64 = 16 << 20;
        let now = self.0.group.as_ref().and_then(|[.., now]| text(now).trim().parse::<u64>().ok());
        now.is_some_and(|now| now.saturating_add(ROOM_BYTES) > self.0.limit_bytes)
    }

    /// What is to be said of a process that was killed, if memory ran out since `before`.
    pub fn since(&self, before: u64) -> Option<EndedByLimit> {
        if self.kills() == before {
            return None;
        }
        let peak = self.0.group.as_ref().and_then(|[_, peak, _]| text(peak).trim().parse().ok()).unwrap_or(0);
        let used_bytes = self.0.page.get(USED).max(peak);
        let limit_bytes = self.0.limit_bytes;
        Some(EndedByLimit { cause: ExceededLimit::MemoryLimit, used_bytes, limit_bytes, hidden: None })
    }
}

/// Notes a kill in the page, before it is done.
pub(super) fn note_kill(page: &SharedPage, used_bytes: u64) {
    page.set(USED, used_bytes);
    page.set(KILLS, page.get(KILLS) + 1);
}

/// Notes whether the watch sleeps.
pub(super) fn note_sleep(page: &SharedPage, asleep: bool) {
    page.set(ASLEEP, asleep.into());
}

/// The files of the kernel are short and are read anew from their start.
fn text(file: &File) -> String {
    let mut bytes = [0; 1024];
    let length = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// `oom_kill N` in `memory.events` (version 2) and in `memory.oom_control` (version 1).
fn count(events: &str) -> u64 {
    let line = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn kills_are_read_in_both_versions() {
        assert_eq!(count("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"), 2);
        assert_eq!(count("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7);
        assert_eq!(count(""), 0);
    }

    #[test]
    fn a_kill_is_told_once_to_those_who_were_there() {
        let page = SharedPage::new().unwrap();
        let ledger = MemoryLedger::new(64 << 20, None, page.clone(), None);
        let before = ledger.kills();
        assert_eq!(ledger.since(before), None);
        note_kill(&page, 70 << 20);
        let stopped = ledger.since(before).unwrap();
        assert_eq!((stopped.used_bytes, stopped.limit_bytes), (70 << 20, 64 << 20));
        assert!(stopped.to_string().starts_with("memory limit: the sandbox used 70 MiB of 64 MiB"), "{stopped:?}");
        assert_eq!(ledger.since(ledger.kills()), None);
    }

    #[test]
    fn only_who_sleeps_is_woken() {
        let page = SharedPage::new().unwrap();
        let (mut watch, line) = UnixStream::pair().unwrap();
        watch.set_nonblocking(true).unwrap();
        let ledger = MemoryLedger::new(64 << 20, None, page.clone(), Some(line));
        ledger.wake_watch();
        assert!(watch.read(&mut [0; 8]).is_err());
        note_sleep(&page, true);
        ledger.wake_watch();
        assert_eq!(watch.read(&mut [0; 8]).unwrap(), WAKE.len());
    }
}
