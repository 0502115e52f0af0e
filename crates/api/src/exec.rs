//! Python, shell and JavaScript.

use std::collections::BTreeMap;

use cove_core::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

fn thirty() -> u64 {
    30
}
fn yes() -> bool {
    true
}

/// Python to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PythonExecRequest {
    /// The code. State is kept between calls.
    pub code: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// Whether the answer repeats the code.
    #[serde(default)]
    pub include_code: bool,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
}

/// What Python said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonExecResult {
    /// Whether it ended without an error.
    pub success: bool,
    /// What it printed, and the last expression's value.
    pub output: String,
    /// The error with its traceback.
    pub error: Option<String>,
    /// Whether it was ended because its time was over.
    #[serde(default)]
    pub timed_out: bool,
    /// Whether the interpreter had to be replaced: variables and imports are gone.
    #[serde(default)]
    pub state_lost: bool,
    /// The signal that ended the interpreter; none: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it was ended by force; none: it was not, or nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The rich form.
    pub data: Option<PythonData>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// How long it took.
    pub execution_time_ms: Option<i64>,
    /// Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The code, if asked for.
    pub code: Option<String>,
}

/// Why something was ended by force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// All memory that the sandbox may use was used; the largest process was ended. Files and the session stay.
    MemoryLimit,
    /// The workspace is larger than it may be; who wrote to it was ended. Delete files to make room.
    DiskLimit,
}

/// An ending by force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stopped {
    /// Why.
    pub cause: StopCause,
    /// What may be used, in bytes.
    pub limit_bytes: u64,
    /// What was used, in bytes.
    pub used_bytes: u64,
}

/// The rich form of what Python said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonData {
    /// How many pieces of code this interpreter has run.
    pub execution_count: Option<i64>,
    /// Text and pictures.
    pub output: PythonOutput,
}

/// Text and pictures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonOutput {
    /// The text.
    pub text: String,
    /// Pictures: a media type and base64 each.
    #[schema(value_type = Vec<Object>)]
    pub images: Vec<BTreeMap<String, String>>,
}

/// A shell command to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShellExecRequest {
    /// The command, for `bash -lc`.
    pub command: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// The folder to run in, relative to `/workspace`.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Whether the answer repeats the command.
    #[serde(default)]
    pub include_code: bool,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
}

/// What the shell said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShellExecResult {
    /// Whether its exit code is 0.
    pub success: bool,
    /// What it wrote.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it was ended because its time was over.
    #[serde(default)]
    pub timed_out: bool,
    /// The signal that ended it; none: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it was ended by force; none: it was not, or nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// How long it took.
    pub execution_time_ms: Option<i64>,
    /// Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The command, if asked for.
    pub command: Option<String>,
}

/// JavaScript or TypeScript to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JavaScriptExecRequest {
    /// A function body; with a session, statements whose last value is the result.
    pub code: String,
    /// The variable `input`.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub input: Option<Value>,
    /// `embedded`, `browser` or `auto` (the default).
    #[serde(default)]
    pub engine: Option<String>,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// `true` keeps state between calls; a name keeps a session of that name.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub session: Option<JavaScriptSession>,
    /// Tools that the caller answers itself: each call appears as a `tool_call` event of the sandbox, and is answered at
    /// `/v1/sandboxes/{id}/javascript/tools/{call_id}`.
    #[serde(default)]
    pub tools: Vec<RemoteTool>,
    /// Whether the answer repeats the code.
    #[serde(default)]
    pub include_code: bool,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
}

/// Whether state is kept, and under which name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum JavaScriptSession {
    /// The sandbox's usual session, or none.
    Kept(bool),
    /// A session of its own.
    Named(String),
}

/// A tool that the caller answers itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RemoteTool {
    /// The name of the function that guest code calls.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
}

/// What JavaScript said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JavaScriptExecResult {
    /// Whether it ended without an error.
    pub success: bool,
    /// Console lines, then the value, as text.
    pub output: String,
    /// The error with its code frame.
    pub error: Option<String>,
    /// The rich form.
    pub data: Option<JavaScriptData>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// How long it took.
    pub execution_time_ms: Option<i64>,
    /// Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The code, if asked for.
    pub code: Option<String>,
}

/// The rich form of what JavaScript said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JavaScriptData {
    /// The value; with a failure, what `run_javascript` answers (`error`, `message`, `line`, `frame`, …).
    #[schema(value_type = Value)]
    pub result: Value,
    /// Pictures that were drawn, as artifacts.
    pub images: Vec<JavaScriptImage>,
    /// Console lines.
    pub logs: String,
    /// Which engine ran it.
    pub engine: Option<EngineUsed>,
    /// Whether the session said that this is its final answer.
    #[serde(default)]
    pub is_final: bool,
    /// What else is worth knowing: why another engine ran than the one asked for, that a session's state is lost, …
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A picture that was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JavaScriptImage {
    /// Its artifact: download it at `/v1/sandboxes/{id}/artifacts/{name}`.
    pub name: String,
    /// `image/png`
    pub media_type: String,
    /// Pixels across.
    pub width: Option<u32>,
    /// Pixels down.
    pub height: Option<u32>,
}

/// Which engine ran, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EngineUsed {
    /// `embedded` or `browser`.
    pub name: String,
    /// Why this one.
    pub because: String,
}
