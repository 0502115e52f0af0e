//! What the browser may use of the machine: memory of all its processes together, and processors.
//!
//! The kernel counts, in control groups, where it can be asked to. Where it cannot, whole processors still can be kept
//! from the browser (pages cannot take them back: they have no system calls). `/meta` says what holds and by what;
//! what does not hold is not claimed. Gull itself stays outside: who keeps deadlines must not be slowed down by the page
//! that breaks them. The commands of agent-browser are outside, too: they live for milliseconds and only ask.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Once};

use cove_cgroup::{Groups, Limit, LimitedBy, Processors, Wanted};
use cove_walls::{Stat, process};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::watch;

/// No limit at all.
const NOTHING: Wanted = Wanted { memory_bytes: None, cpus: None, processes: None };

/// What is really enforced; `None` where nothing is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BrowserLimits {
    /// Memory of the browser and of agent-browser's daemon together.
    pub memory_bytes: Option<Limit<u64>>,
    /// Memory that any one process of the browser may hold beyond what it starts with.
    pub process_memory_bytes: Option<Limit<u64>>,
    /// Processors of all of them together.
    pub cpus: Option<Limit<f64>>,
}

/// Holds the processes of one browser after another to their limits.
#[derive(Debug)]
pub(crate) struct Governor {
    groups: Groups,
    processors: Option<CpuSet>,
    limits: BrowserLimits,
    /// Memory of all together, where no group counts it.
    watched_bytes: Option<u64>,
    /// The browser that is watched.
    watched: AtomicU32,
    /// A process could not be held: nothing is claimed any more.
    failed: AtomicBool,
}

impl Governor {
    /// Makes what can be had of the limits that are asked for.
    pub(crate) fn new(
        memory_bytes: Option<u64>,
        cpus: Option<f64>,
        process_memory_bytes: u64,
        control_groups: bool,
    ) -> Self {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(cove_cgroup::sweep);
        let wanted = Wanted { memory_bytes, cpus, processes: None };
        let (groups, counted) = Groups::make("gull", if control_groups { &wanted } else { &NOTHING });
        let mut limits = BrowserLimits {
            memory_bytes: counted.memory_bytes,
            process_memory_bytes: Some(Limit::new(process_memory_bytes, LimitedBy::Rlimit)),
            cpus: counted.cpus,
        };
        let mut watched_bytes = None;
        if let (Some(bytes), None) = (memory_bytes, &limits.memory_bytes) {
            limits.memory_bytes = Some(Limit::new(bytes, LimitedBy::Watchdog));
            watched_bytes = Some(bytes);
        }
        let mut processors = None;
        if let (Some(cpus), None) = (cpus, &limits.cpus)
            && let Ok(all) = sched_getaffinity(None)
        {
            let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
            let mut chosen = CpuSet::new();
            let taken = Processors::take(&allowed, cpus, std::process::id() as usize);
            taken.numbers().iter().for_each(|cpu| chosen.set(*cpu));
            limits.cpus = Some(Limit::new(f64::from(chosen.count()), LimitedBy::Affinity));
            processors = Some(chosen);
        }
        Self { groups, processors, limits, watched_bytes, watched: AtomicU32::new(0), failed: AtomicBool::new(false) }
    }

    /// What holds.
    pub(crate) fn limits(&self) -> BrowserLimits {
        let mut limits = self.limits.clone();
        if self.failed.load(Ordering::Relaxed) {
            (limits.memory_bytes, limits.cpus) = (None, None);
        }
        limits
    }

    /// Holds a process that was just started, and everybody below it. Waits for the kernel, which takes its time.
    pub(crate) async fn hold(self: &Arc<Self>, pid: u32) {
        if let Some(bytes) = self.watched_bytes
            && self.watched.swap(pid, Ordering::Relaxed) != pid
        {
            watch::start(pid, bytes);
        }
        if self.groups.is_empty() && self.processors.is_none() {
            return;
        }
        let governor = Arc::clone(self);
        let held = tokio::task::spawn_blocking(move || governor.hold_now(pid)).await;
        // One that has ended needs no holding.
        let lives = fs::exists(format!("/proc/{pid}")).unwrap_or(true);
        if lives && !matches!(held, Ok(Ok(()))) {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    fn hold_now(&self, root: u32) -> std::io::Result<()> {
        let family = family(root);
        self.groups.attach_missing(&family)?;
        if let Some(processors) = &self.processors {
            for pid in family {
                for thread in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
                    let id = thread.file_name().to_str().and_then(|name| Pid::from_raw(name.parse().ok()?));
                    match sched_setaffinity(id, processors) {
                        // A thread may end before it is asked.
                        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes what was made; the browser must have ended.
    pub(crate) fn end(&self) {
        self.groups.remove();
    }
}

impl Drop for Governor {
    fn drop(&mut self) {
        self.end();
    }
}

/// A process and everybody below it.
pub(crate) fn family(root: u32) -> Vec<u32> {
    let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in process::all().into_iter().flatten() {
        if let Some(parent) = Stat::of(pid).and_then(|stat| stat.parent()) {
            below.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        let children = below.remove(parent).unwrap_or_default();
        found.extend(children);
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_found() {
        let own = std::process::id();
        assert!(family(own).contains(&own));
        assert!(family(std::os::unix::process::parent_id()).contains(&own));
    }
}
