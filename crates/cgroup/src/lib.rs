//! Control groups: memory, processors and processes of a sandbox, counted by the kernel.
//!
//! Version 2 where its controllers are available, else version 1, controller by controller: machines with both are
//! common. Only limits that the kernel really enforces are reported; for the others the caller uses something else, or
//! reports that there is no limit. Groups are made below our own, so that limits on Cove hold for the sandboxes as well.
//!
//! ```no_run
//! use cove_cgroup::{Groups, Wanted};
//!
//! let (groups, counted) = Groups::make("example", &Wanted { cpus: Some(0.5), ..Wanted::default() });
//! for door in groups.admit(std::process::id())? {
//!     door.walk_through()?;
//! }
//! match counted.cpus {
//!     Some(limit) => println!("{} processors, by {}", limit.value, limit.by),
//!     None => println!("nobody counts"),
//! }
//! groups.remove();
//! # Ok::<(), std::io::Error>(())
//! ```

mod controller;
mod cpu_weight;
mod groups;
mod hierarchy;
mod processors;
mod settle;
mod uptime;

use serde::{Deserialize, Serialize};

pub use cpu_weight::CpuWeight;
pub use groups::{Door, Groups, counts_memory, remove, sweep};
pub use processors::Processors;
pub use settle::settle;
pub use uptime::uptime_ms;

/// What is asked for; `None`: as much as there is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wanted {
    /// Memory of all members together, page cache and temporary files included.
    pub memory_bytes: Option<u64>,
    /// Processors; 0.5 is half of one.
    pub cpus: Option<f64>,
    /// Processes and threads.
    pub processes: Option<u64>,
}

/// A limit that is enforced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit<T> {
    /// As the kernel has it, which may be less than what was asked for.
    pub value: T,
    /// By what.
    pub by: LimitedBy,
}

/// What holds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitedBy {
    /// A control group of version 1.
    #[serde(rename = "cgroup v1")]
    CgroupV1,
    /// A control group of version 2.
    #[serde(rename = "cgroup v2")]
    CgroupV2,
    /// A resource limit of each process.
    #[serde(rename = "rlimit")]
    Rlimit,
    /// Somebody who looks, and ends what is over the limit.
    #[serde(rename = "watchdog")]
    Watchdog,
    /// A resource limit for each file, and somebody who looks at their sum.
    #[serde(rename = "rlimit and watchdog")]
    RlimitAndWatchdog,
    /// The size of a file system in memory.
    #[serde(rename = "tmpfs")]
    Tmpfs,
    /// Whole processors, of which nobody can choose others.
    #[serde(rename = "affinity")]
    Affinity,
}

impl LimitedBy {
    /// As it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CgroupV1 => "cgroup v1",
            Self::CgroupV2 => "cgroup v2",
            Self::Rlimit => "rlimit",
            Self::Watchdog => "watchdog",
            Self::RlimitAndWatchdog => "rlimit and watchdog",
            Self::Tmpfs => "tmpfs",
            Self::Affinity => "affinity",
        }
    }

    /// Whether the kernel counts all processes together.
    pub fn is_cgroup(self) -> bool {
        matches!(self, Self::CgroupV1 | Self::CgroupV2)
    }
}

impl std::fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<T> Limit<T> {
    /// A limit and what holds it.
    pub fn new(value: T, by: LimitedBy) -> Self {
        Self { value, by }
    }
}

/// What the kernel counts; `None` where it does not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counted {
    /// Memory.
    pub memory_bytes: Option<Limit<u64>>,
    /// Processors.
    pub cpus: Option<Limit<f64>>,
    /// Processes and threads.
    pub processes: Option<Limit<u64>>,
    /// Each controller that was asked for, and how it went.
    pub outcomes: Vec<(&'static str, Result<String, String>)>,
}
