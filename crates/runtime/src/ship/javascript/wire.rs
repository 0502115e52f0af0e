//! What Ship and its JavaScript process say to each other, one JSON frame each.

use cove_core::{LogLine, RunRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From Ship to the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub(super) enum Command {
    /// Runs code.
    Exec { id: u64, request: Box<RunRequest> },
    /// Ends a session, or all of them.
    Reset { id: u64, session: Option<String> },
    /// Nobody waits for this one any more.
    Cancel { id: u64 },
}

/// From the process to Ship.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "lowercase")]
pub(super) enum Message {
    /// The engine stands, behind these walls.
    Ready { walls: Walls },
    /// A console line, as it was written.
    Log { id: u64, line: LogLine },
    /// The answer to a command; nothing follows it.
    Done { id: u64, answer: Value },
}

/// Which of the engine's own walls stand inside those of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Walls {
    pub(super) active: Vec<String>,
    pub(super) missing: Vec<String>,
}
