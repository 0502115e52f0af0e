//! What the processes of a container use now: memory and processor time.
//!
//! Counted from outside, from what the kernel tells everybody: the container is asked nothing, and nothing runs while nobody
//! wants to know. Memory is what each process has for itself; what several share is not counted several times.

use std::time::Duration;

use cove_walls::{Stat, Status, process};

/// The kernel counts processor time for others in hundredths of a second, whatever its own clock does.
const TICKS_PER_SECOND: u64 = 100;

/// More processes than any sandbox may have.
const MAX_PROCESSES: usize = 20_000;

/// What processes use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memory that each has for itself.
    pub memory_bytes: u64,
    /// For how long they, and those of them that have ended, have used a processor.
    pub processor_time: Duration,
}

impl Usage {
    /// Of a process and all that it has started; none where it has ended.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let mut usage = Self::one(pid)?;
        let mut next = process::children(pid).unwrap_or_default();
        let mut seen = 0;
        while let Some(pid) = next.pop() {
            seen += 1;
            if seen > MAX_PROCESSES {
                break;
            }
            // It may have ended meanwhile.
            let Some(one) = Self::one(pid) else { continue };
            usage += one;
            next.extend(process::children(pid).unwrap_or_default());
        }
        Some(usage)
    }

    fn one(pid: u32) -> Option<Self> {
        let ticks = Stat::of(pid)?.processor_ticks()?;
        let status = Status::of(pid).ok();
        let own = status.as_ref().and_then(|status| status.field("RssAnon"));
        let kilobytes = own.and_then(|text| text.strip_suffix("kB")?.trim().parse::<u64>().ok());
        Some(Self {
            memory_bytes: kilobytes.unwrap_or_default() << 10,
            processor_time: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
        })
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.memory_bytes += other.memory_bytes;
        self.processor_time += other.processor_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_uses_is_known() {
        let held = std::hint::black_box(vec![1_u8; 64 << 20]);
        let usage = Usage::of(std::process::id()).unwrap();
        assert!(usage.memory_bytes > 64 << 20, "{usage:?}");
        drop(held);
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        let later = Usage::of(std::process::id()).unwrap();
        assert!(later.processor_time >= usage.processor_time);
        assert_eq!(Usage::of(u32::MAX), None);
    }
}
