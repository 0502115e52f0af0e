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
    /// Output of Python or a shell command while it runs: `{execution_id, tag, stream, text, dropped}`. `tag` is the
    /// request's `output_tag`.
    Output,
    /// Guest code calls a tool that the client answers: `{call_id, execution_id, session, name, args}`.
    ToolCall,
    /// A call waits for a person: an `Approval`, and `execution_id`.
    ApprovalAsked,
    /// It waits no more: `{id, execution_id, tool, end}`.
    ApprovalEnded,
    /// A run ended: `{execution_id, exec_type, success, execution_time_ms}`.
    RunFinished,
    /// The ports on which programs listen have changed: `{ports: [{port, addresses, url}]}`, all of them. Told while
    /// somebody follows the sandbox's events, and first when that begins and there are some.
    Ports,
    /// A connection was refused because its host is not open, or closed because it no longer is: `{host, port, verdict}`.
    Network,
    /// Events before this one are gone, because the reader was away too long or too slow: `{after, missed}`. `missed` is
    /// their number, where it is known.
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

/// Where a program wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// New output of Python or a shell command. Whole lines, unless the end of one is late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputChunk {
    /// Standard output or standard error.
    pub stream: OutputStream,
    /// The text.
    pub text: String,
    /// Bytes of either stream that were left out here, because the program writes faster than its output is sent. The final
    /// answer has them.
    #[serde(default)]
    pub dropped: u64,
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
