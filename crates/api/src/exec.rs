//! Python, shell and JavaScript.

use std::collections::BTreeMap;

use cove_core::{EngineReason, ExecutionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, schema::Type};

fn thirty() -> u64 {
    30
}
fn yes() -> bool {
    true
}

/// Python to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PythonExecRequest {
    /// The code. State is kept between calls.
    pub code: String,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// Whether the answer includes the code.
    #[serde(default)]
    pub include_code: bool,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
    #[serde(default)]
    pub tags: Option<String>,
    /// Sends the output as `output` events of the sandbox while it runs. Each event carries this word, so that a client
    /// recognises its own: 1 to 64 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tag: Option<String>,
    /// A name keeps an interpreter of its own, with its own variables: 1 to 64 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Environment variables for this run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Whether the value of the last expression is left out of the printed text: it is among the results. Only for callers
    /// in this process.
    #[serde(skip)]
    pub value_apart: bool,
}

/// The result of Python.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonExecResult {
    /// Whether it ended without an error.
    pub success: bool,
    /// What it printed, and the value of the last expression.
    pub output: String,
    /// The error with its traceback.
    pub error: Option<String>,
    /// Whether it timed out.
    #[serde(default)]
    pub timed_out: bool,
    /// Whether the interpreter was restarted: variables and imports are lost.
    #[serde(default)]
    pub state_lost: bool,
    /// The signal that ended the interpreter; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it was killed; null: it was not killed, or the reason is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The result in detail.
    pub data: Option<PythonData>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// Time it took, in milliseconds.
    pub execution_time_ms: Option<i64>,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The code, if requested.
    pub code: Option<String>,
    /// Why the code did not end by itself. Only for callers in this process: for others `error` begins with it.
    #[serde(skip)]
    pub ending: Option<String>,
}

/// Why something was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// All memory that the sandbox may use was used; the largest process was ended. Files and the session stay.
    MemoryLimit,
    /// The workspace is larger than it may be; who wrote to it was ended. Delete files to make room.
    DiskLimit,
}

/// Why something was killed, with numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stopped {
    /// Why.
    pub cause: StopCause,
    /// The limit in bytes.
    pub limit_bytes: u64,
    /// The usage in bytes.
    pub used_bytes: u64,
}

/// The result of Python, in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonData {
    /// Number of executions of this interpreter.
    pub execution_count: Option<i64>,
    /// Text, pictures and other results.
    pub output: PythonOutput,
    /// The class of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_name: Option<String>,
    /// What the error says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// Text and pictures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonOutput {
    /// The text.
    pub text: String,
    /// Pictures: a media type and base64 each.
    #[schema(value_type = Vec<Object>)]
    pub images: Vec<BTreeMap<String, String>>,
    /// What was displayed, and at last the value of the last expression, each in all the forms that it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<PythonResult>,
}

/// A value that was displayed, or the value of the last expression.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PythonResult {
    /// Whether it is the value of the last expression.
    #[serde(default)]
    pub main: bool,
    /// Its forms by media type: text as it is, pictures in base64. `application/vnd.cove.chart+json` has the data of a chart.
    #[schema(value_type = Object)]
    pub data: BTreeMap<String, Value>,
}

/// A shell command to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShellExecRequest {
    /// The command, for `bash -lc`.
    pub command: String,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// The folder to run in, relative to `/workspace`.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Whether the answer includes the command.
    #[serde(default)]
    pub include_code: bool,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
    #[serde(default)]
    pub tags: Option<String>,
    /// Sends the output as `output` events of the sandbox while it runs. Each event carries this word, so that a client
    /// recognises its own: 1 to 64 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tag: Option<String>,
}

/// The result of a shell command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShellExecResult {
    /// Whether its exit code is 0.
    pub success: bool,
    /// Its output.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it timed out.
    #[serde(default)]
    pub timed_out: bool,
    /// The signal that ended it; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why it was killed; null: it was not killed, or the reason is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// Time it took, in milliseconds.
    pub execution_time_ms: Option<i64>,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The command, if requested.
    pub command: Option<String>,
    /// What a failed command wrote to standard error. Only for callers in this process: others have it in `error`.
    #[serde(skip)]
    pub stderr: String,
    /// Why a failed command did not end by itself. Only for callers in this process: others have it in `error`.
    #[serde(skip)]
    pub ending: Option<String>,
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
    /// Time limit in seconds.
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
    /// Whether the answer includes the code.
    #[serde(default)]
    pub include_code: bool,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
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
    /// Whether a person must allow each call (`/v1/approvals`). The code waits meanwhile, and its time stands still.
    #[serde(default)]
    pub ask: bool,
}

/// The result of JavaScript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JavaScriptExecResult {
    /// Whether it ended without an error.
    pub success: bool,
    /// Console lines, then the value, as text.
    pub output: String,
    /// The error with its code frame.
    pub error: Option<String>,
    /// The result in detail.
    pub data: Option<JavaScriptData>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// Time it took, in milliseconds.
    pub execution_time_ms: Option<i64>,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The code, if requested.
    pub code: Option<String>,
}

/// The result of JavaScript, in detail.
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
    /// Whether the code called `final_answer`.
    #[serde(default)]
    pub is_final: bool,
    /// Warnings: why another engine ran than the requested one, that the state of a session is lost, …
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
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

/// Which engine ran, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EngineUsed {
    /// `embedded` or `browser`.
    pub name: String,
    /// Why this one.
    #[schema(schema_with = engine_reasons)]
    pub reason: EngineReason,
    /// The same in words.
    pub because: String,
}

fn engine_reasons() -> utoipa::openapi::schema::Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(EngineReason::ALL.map(EngineReason::as_str)))
        .description(Some("Why this one."))
        .build()
}
