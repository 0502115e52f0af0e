//! What happens in a sandbox, as it happens.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::Moment;

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The sandbox's state changed: `{status}`.
    State,
    /// A run began: `{execution_id, exec_type}`.
    RunStarted,
    /// A console line of a run: `{execution_id, level, text}`.
    Console,
    /// Guest code calls a tool that the client answers: `{call_id, execution_id, session, name, args}`.
    ToolCall,
    /// A run ended: `{execution_id, exec_type, success, execution_time_ms}`.
    RunFinished,
    /// Events before this one are gone: the reader was away too long.
    Gap,
}

/// One event. Its number is the `id` of the server-sent event, by which a reader resumes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Counts up in each sandbox.
    pub seq: u64,
    /// What kind.
    pub kind: EventKind,
    /// When.
    pub at: Moment,
    /// What.
    #[schema(value_type = Object)]
    pub data: Map<String, Value>,
}

/// A client's answer to a tool call: a result or an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ToolAnswer {
    /// What the tool gives back.
    #[schema(value_type = Option<Value>)]
    pub result: Option<Value>,
    /// What it throws instead.
    pub error: Option<String>,
}
