//! The browser by command.

use cove_core::{ExecutionId, ReleaseId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Moment;

fn thirty() -> u64 {
    30
}
fn sixty() -> u64 {
    60
}
fn yes() -> bool {
    true
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserExecRequest {
    /// An agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`.
    pub cmd: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
    /// Whether a skill may be learnt from it: its trace is kept, and is the `payload_ref` of its entry in the history.
    #[serde(default)]
    pub learn: bool,
    /// Whether a trace is kept.
    #[serde(default)]
    pub include_trace: bool,
}

/// What the browser said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserExecResult {
    /// Whether its exit code is 0.
    pub success: bool,
    /// What it wrote. A page's words are in it: not to be trusted.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Its exit code; −1: out of time.
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
    /// The trace, if asked for.
    pub trace_ref: Option<String>,
}

/// Several commands, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserBatchRequest {
    /// The commands.
    #[schema(min_items = 1)]
    pub commands: Vec<String>,
    /// Seconds for all of them together.
    #[serde(default = "sixty")]
    #[schema(minimum = 1, maximum = 600, default = 60)]
    pub timeout: u64,
    /// Whether the first failure ends it.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub stop_on_error: bool,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
    /// Whether a skill may be learnt from it: its trace is kept, and is the `payload_ref` of its entry in the history.
    #[serde(default)]
    pub learn: bool,
    /// Whether a trace is kept.
    #[serde(default)]
    pub include_trace: bool,
}

/// One command of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserStep {
    /// The command.
    pub cmd: String,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Its exit code.
    pub exit_code: i32,
    /// Its place, from 0.
    pub step_index: u32,
    /// How long it took.
    pub duration_ms: i64,
}

/// What the browser said to several commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserBatchResult {
    /// Each command that ran.
    pub results: Vec<BrowserStep>,
    /// How many were asked for.
    pub total_steps: u32,
    /// How many ran.
    pub completed_steps: u32,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// How long they took.
    pub duration_ms: i64,
    /// Their entry in the history: one for all.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// How long the call took.
    pub execution_time_ms: Option<i64>,
    /// Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The trace, if asked for.
    pub trace_ref: Option<String>,
}

/// A replay of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSkillRequest {
    /// Seconds for all of it.
    #[serde(default = "sixty")]
    #[schema(minimum = 1, maximum = 600, default = 60)]
    pub timeout: u64,
    /// Whether the first failure ends it.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub stop_on_error: bool,
    /// Whether a trace is kept.
    #[serde(default)]
    pub include_trace: bool,
    /// What it is, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Words for it, with commas between.
    #[serde(default)]
    pub tags: Option<String>,
}

/// What a replay did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSkillResult {
    /// The skill.
    pub skill_key: String,
    /// The release that was replayed.
    #[schema(value_type = String)]
    pub release_id: ReleaseId,
    /// Its entry in the history.
    #[schema(value_type = String)]
    pub execution_id: ExecutionId,
    /// How long the call took.
    pub execution_time_ms: i64,
    /// Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The trace, if asked for.
    pub trace_ref: Option<String>,
    /// Each command that ran.
    pub results: Vec<BrowserStep>,
    /// How many there are.
    pub total_steps: u32,
    /// How many ran.
    pub completed_steps: u32,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// How long they took.
    pub duration_ms: i64,
}

/// A trace that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowserTrace {
    /// Its reference.
    pub trace_ref: String,
    /// The execution that it belongs to.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// When.
    pub created_at: Moment,
    /// The trace; the same as the payload of this reference.
    pub trace: TraceContent,
}

/// What kind of call a trace is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// One command.
    BrowserExecTrace,
    /// Several commands.
    BrowserBatchTrace,
}

impl TraceKind {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BrowserExecTrace => "browser_exec_trace",
            Self::BrowserBatchTrace => "browser_batch_trace",
        }
    }
}

/// Every step of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceContent {
    /// One command or several.
    pub kind: TraceKind,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// How many were asked for.
    pub total_steps: u32,
    /// How many ran.
    pub completed_steps: u32,
    /// Each command that ran: `cmd`, `stdout`, `stderr`, `exit_code`, `step_index`, `duration_ms`; long outputs are cut.
    #[schema(value_type = Vec<Object>)]
    pub steps: Vec<Value>,
}

/// Where to go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NavigateRequest {
    /// The address.
    pub url: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// What to see of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotRequest {
    /// Only what can be used.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub interactive: bool,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// What to click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClickRequest {
    /// `@e1`, from the last snapshot.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// What to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FillRequest {
    /// `@e1`, from the last snapshot.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The text; whatever is in it, it is text.
    pub text: String,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// A picture of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScreenshotRequest {
    /// Relative to `/workspace`; none: a new name there.
    #[serde(default)]
    pub path: Option<String>,
    /// The whole page, not only what is seen of it.
    #[serde(default)]
    pub full_page: bool,
    /// Seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}
