//! What a world is set up with: plain data that can cross a wire, because the world usually sits in another process than
//! whoever asks. What it is given to run and what it says afterwards are `cove_core`'s `RunRequest` and `RunReport`.

use cove_core::{Clock, ImportPolicy, Limits, LogLevel, Random};
use serde::{Deserialize, Serialize};

/// What makes one session's world different from another's. Given once, after the fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Memory of the heap, length of results.
    pub limits: Limits,
    /// The clock that guest code sees.
    pub clock: Clock,
    /// The randomness that guest code sees.
    pub random: Random,
    /// Fresh entropy from the host: worlds forked from one zygote must not share their randomness.
    pub seed: [u8; 32],
    /// Modules that `import()` may load.
    pub imports: ImportPolicy,
    /// Whether `fetch` is connected to the host (tool name `__cove_fetch`).
    pub network: bool,
    /// Console levels that are handed to the port.
    pub log_levels: Vec<LogLevel>,
}

/// A host function by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDecl {
    /// The global by which guest code calls it.
    pub name: String,
    /// Whether the guest gets the value itself (and stands still meanwhile) instead of a promise.
    pub sync: bool,
}
