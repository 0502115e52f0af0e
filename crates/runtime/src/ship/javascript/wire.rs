//! What Ship and the JavaScript room say to each other, one JSON frame each.

use cove_core::LogLine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Ship's word to the room.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "lowercase")]
pub(super) enum Order {
    /// Runs code.
    Exec { id: u64, run: Run },
    /// Ends a session, or all of them.
    Reset { id: u64, session: Option<String> },
    /// Nobody waits for this one any more.
    Cancel { id: u64 },
}

/// One run, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) code: String,
    pub(super) input: Option<Value>,
    pub(super) timeout_ms: u64,
    pub(super) max_operations: Option<u64>,
    /// The session to run in; `None` for a world of its own that ends with the run.
    pub(super) session: Option<String>,
    /// Whether the program's free names decide the engine; they cannot bring a browser here, only say that one is missed.
    pub(super) auto: bool,
    /// Whether a program that wants a browser may run without one.
    pub(super) fallback: bool,
    pub(super) message_id: Option<String>,
    pub(super) agent_id: Option<String>,
}

/// The room's word to Ship.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "lowercase")]
pub(super) enum Word {
    /// The engine stands, behind these walls.
    Ready { walls: Walls },
    /// A console line, as it was written.
    Log { id: u64, line: LogLine },
    /// The answer; nothing follows it.
    Done { id: u64, answer: Value },
}

/// Which of the engine's own walls stand inside those of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Walls {
    pub(super) active: Vec<String>,
    pub(super) missing: Vec<String>,
}
