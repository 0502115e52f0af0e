//! What a world is set up with, what it is given to run, and what it says afterwards.
//!
//! All of it is plain data that can cross a wire: the world usually sits in another process than whoever asks.

use cove_core::{Clock, Fault, ImportPolicy, Limits, LogLevel, Random};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// One piece of code to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The user's own source, JavaScript or TypeScript.
    pub code: String,
    /// A cell (the last expression is the value, declarations persist) or a function body (`return` gives the value).
    pub cell: bool,
    /// The last expression is the value of a function body that has no `return`.
    pub last_value: bool,
    /// The variable `input` of a function body; `None` is `undefined`.
    pub input: Option<Value>,
    /// Loop iterations; `None`: only the host's clock limits.
    pub max_operations: Option<u64>,
    /// The host's deadline. The world does not watch it; it is here for messages.
    pub timeout_ms: u64,
}

/// How one run ended and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The value, or what went wrong.
    pub result: Result<Ended, Fault>,
    /// Loop iterations made; 0 where they were not counted.
    pub operations: u64,
    /// The most that the heap held during the run; its limit, if that was reached.
    pub memory_bytes: u64,
    /// Whether the world can run more code. `false` once memory ran out: then no state in it can be trusted.
    pub usable: bool,
}

/// A run that came to its end. Pictures travel separately, by [`crate::Port::picture`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ended {
    /// The value as JSON; `undefined` is `null`.
    pub value: Value,
    /// Whether `final_answer` gave it.
    pub is_final_answer: bool,
    /// Why a canvas that was used could not be exported, if so.
    pub canvas_error: Option<String>,
    /// What of the value was lost on its way to JSON, and how to write it instead.
    pub warnings: Vec<String>,
}
