//! Events of a sandbox, as they happen.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::Moment;

/// The kind of an event.
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

/// One event. Its number is the `id` of the server-sent event, from which a reader can resume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Its number, counted per sandbox.
    pub seq: u64,
    /// Its kind.
    pub kind: EventKind,
    /// When.
    pub at: Moment,
    /// Its data.
    #[schema(value_type = Object)]
    pub data: Map<String, Value>,
}

/// A client's answer to a tool call: a result or an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ToolAnswer {
    /// The result of the tool.
    #[schema(value_type = Option<Value>)]
    pub result: Option<Value>,
    /// The error that it throws.
    pub error: Option<String>,
}
