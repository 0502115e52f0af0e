//! What stands and what does not: the walls as they were seen from inside, the limits as the kernel has them.

use cove_cgroup::{Limit, LimitedBy};
use serde::{Deserialize, Serialize};

/// One wall of a sandbox, by a name such as `seccomp` or `pid-namespace`.
pub type Wall = cove_walls::Wall<String>;

/// Gathers the report while the walls go up.
pub(super) type Survey = cove_walls::Survey<String>;

/// What is really enforced; `None` where nothing is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EffectiveLimits {
    /// Memory of the whole sandbox.
    pub memory_bytes: Option<Limit<u64>>,
    /// Processors of the whole sandbox.
    pub cpus: Option<Limit<f64>>,
    /// Processes and threads of the guests.
    pub processes: Option<Limit<u64>>,
    /// Size of `/tmp`.
    pub tmp_bytes: Option<Limit<u64>>,
    /// Size of the workspace; a single file is held to it at once, all together by a watchdog.
    pub workspace_bytes: Option<Limit<u64>>,
    /// Open files per process.
    pub open_files: Option<Limit<u64>>,
}

/// What is said where no control group counts memory.
pub const MEMORY_WATCHED: &str = "memory: watched, not enforced";

impl EffectiveLimits {
    /// Whether the kernel itself holds memory to its limit.
    pub fn memory_is_enforced(&self) -> bool {
        self.memory_bytes.as_ref().is_some_and(|limit| limit.by.is_cgroup())
    }

    /// Whether guests have processors of their own, and must not choose others.
    pub(crate) fn processors_are_chosen(&self) -> bool {
        self.cpus.as_ref().is_some_and(|limit| limit.by == LimitedBy::Affinity)
    }

    /// What an operator should know, in the words of `cove doctor`.
    pub fn warnings(&self) -> Vec<String> {
        if self.memory_is_enforced() { Vec::new() } else { vec![MEMORY_WATCHED.to_owned()] }
    }
}

/// The walls of one cell, as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectiveWalls {
    /// Each wall once.
    pub walls: Vec<Wall>,
    /// What is enforced.
    pub limits: EffectiveLimits,
    /// What can be reached.
    pub network: super::CellNetwork,
    /// Whom the guest is inside.
    pub inside_uid: u32,
    /// Whom the guest is outside.
    pub outside_uid: u32,
    /// The init's process id outside.
    pub init_pid: u32,
    /// The folders of its control groups.
    pub cgroups: Vec<String>,
}

impl EffectiveWalls {
    /// The walls that do not stand.
    pub fn missing(&self) -> impl Iterator<Item = &Wall> {
        self.walls.iter().filter(|wall| wall.is_missing())
    }
}
