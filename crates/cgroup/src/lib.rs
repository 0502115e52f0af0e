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
    /// By what: `cgroup v1`, `cgroup v2`, `rlimit`, `watchdog`, `tmpfs`, `affinity`.
    pub by: String,
}

impl<T> Limit<T> {
    /// A limit and what holds it.
    pub fn new(value: T, by: impl Into<String>) -> Self {
        Self { value, by: by.into() }
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
