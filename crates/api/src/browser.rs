//! Browser commands.

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

/// Exit code of a command that the browser could not carry out.
pub const EXIT_FAILED: i32 = 1;

/// Exit code of a command that was refused before anything happened.
pub const EXIT_REFUSED: i32 = 2;

/// Exit code of a command that ran out of time.
pub const EXIT_TIMED_OUT: i32 = -1;

/// Exit code of a command that was not begun, because a person had control of the browser until the command's deadline.
pub const EXIT_HELD: i32 = -2;

/// What refused or ended a command of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BrowserCause {
    /// Its time was over.
    TimedOut,
    /// A person had control of the browser until its time was over; it was not begun.
    Held,
    /// It was refused before anything happened: it does not exist, is written wrongly, or is not allowed.
    NotAllowed,
    /// It was refused before anything happened: the sandbox may not reach the host.
    HostNotAllowed,
    /// The browser did not reach the host.
    HostNotReached,
    /// The element, the reference or the tab is not there, or not there any more.
    NotOnPage,
    /// The browser could not be started; nothing happened.
    NotStarted,
}

/// How each note begins in the standard error of a command.
pub const NOTE: &str = "note: ";

/// How the hint begins there.
pub const HINT: &str = "hint: ";

/// How a refusal begins there.
pub const REFUSED: &str = "✗ ";

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserExecRequest {
    /// An agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`.
    pub cmd: String,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
    #[serde(default)]
    pub tags: Option<String>,
    /// Whether a skill may be learnt from it: its trace is stored, and its entry in the history has the reference (`payload_ref`).
    #[serde(default)]
    pub learn: bool,
    /// Whether to store a trace.
    #[serde(default)]
    pub include_trace: bool,
}

/// The result of a browser command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserExecResult {
    /// Whether its exit code is 0.
    pub success: bool,
    /// Its output. It contains text of the page: do not trust it.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Its exit code; −1: timed out; −2: not begun, because a person had control of the browser all the time.
    pub exit_code: Option<i32>,
    /// What refused or ended it, where Cove knows. Absent: it succeeded, or only the browser's own words say why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<BrowserCause>,
    /// Why Cove refused or ended it; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do next; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What happened besides, such as a browser that was started again; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its entry in the history.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// Time it took, in milliseconds.
    pub execution_time_ms: Option<i64>,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The trace, if requested.
    pub trace_ref: Option<String>,
}

/// Several commands, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserBatchRequest {
    /// The commands.
    #[schema(min_items = 1)]
    pub commands: Vec<String>,
    /// Time limit for all of them together, in seconds.
    #[serde(default = "sixty")]
    #[schema(minimum = 1, maximum = 600, default = 60)]
    pub timeout: u64,
    /// Whether to stop at the first failure.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub stop_on_error: bool,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
    #[serde(default)]
    pub tags: Option<String>,
    /// Whether a skill may be learnt from it: its trace is stored, and its entry in the history has the reference (`payload_ref`).
    #[serde(default)]
    pub learn: bool,
    /// Whether to store a trace.
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
    /// What refused or ended it, where Cove knows. Absent: it succeeded, or only the browser's own words say why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<BrowserCause>,
    /// Why Cove refused or ended it; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do next; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What happened besides, such as a browser that was started again; in `stderr` as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its index, from 0.
    pub step_index: u32,
    /// Time it took, in milliseconds.
    pub duration_ms: i64,
}

impl BrowserStep {
    /// The standard error without the lines that Cove has added: what the browser itself said.
    pub fn browsers_stderr(&self) -> String {
        let reason = self.reason.iter().flat_map(|reason| reason.lines());
        let added: Vec<&str> =
            reason.chain(self.hint.as_deref()).chain(self.notes.iter().map(String::as_str)).collect();
        let is_ours = |line: &str| {
            let bare = [REFUSED, NOTE, HINT].into_iter().find_map(|begin| line.strip_prefix(begin)).unwrap_or(line);
            added.contains(&bare)
        };
        self.stderr.lines().filter(|line| !is_ours(line)).collect::<Vec<_>>().join("\n")
    }
}

/// The results of several browser commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserBatchResult {
    /// The result of each command that ran.
    pub results: Vec<BrowserStep>,
    /// Number of commands in the request.
    pub total_steps: u32,
    /// Number of commands that ran.
    pub completed_steps: u32,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// Time they took, in milliseconds.
    pub duration_ms: i64,
    /// Their entry in the history: one for all of them.
    #[schema(value_type = Option<String>)]
    pub execution_id: Option<ExecutionId>,
    /// Time the call took, in milliseconds.
    pub execution_time_ms: Option<i64>,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The trace, if requested.
    pub trace_ref: Option<String>,
}

/// A replay of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSkillRequest {
    /// Time limit for all commands, in seconds.
    #[serde(default = "sixty")]
    #[schema(minimum = 1, maximum = 600, default = 60)]
    pub timeout: u64,
    /// Whether to stop at the first failure.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub stop_on_error: bool,
    /// Whether to store a trace.
    #[serde(default)]
    pub include_trace: bool,
    /// Description, for the history.
    #[serde(default)]
    pub description: Option<String>,
    /// Tags, separated by commas.
    #[serde(default)]
    pub tags: Option<String>,
}

/// The result of a replay.
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
    /// Time the call took, in milliseconds.
    pub execution_time_ms: i64,
    /// Whether it is in the history. False: the database could not be written; the entry is added later.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub recorded: bool,
    /// The trace, if requested.
    pub trace_ref: Option<String>,
    /// The result of each command that ran.
    pub results: Vec<BrowserStep>,
    /// Number of commands.
    pub total_steps: u32,
    /// Number of commands that ran.
    pub completed_steps: u32,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// Time they took, in milliseconds.
    pub duration_ms: i64,
}

/// A stored trace.
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

/// The kind of a trace.
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

/// A trace: every step of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceContent {
    /// One command or several.
    pub kind: TraceKind,
    /// Whether all ran and succeeded.
    pub success: bool,
    /// Number of commands in the request.
    pub total_steps: u32,
    /// Number of commands that ran.
    pub completed_steps: u32,
    /// Each command that ran: `cmd`, `stdout`, `stderr`, `exit_code`, `step_index`, `duration_ms`; long outputs are cut.
    #[schema(value_type = Vec<Object>)]
    pub steps: Vec<Value>,
}

/// A URL to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NavigateRequest {
    /// The URL.
    pub url: String,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// A snapshot to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotRequest {
    /// Only interactive elements.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub interactive: bool,
    /// Time limit in seconds.
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
    /// Time limit in seconds.
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
    /// The text. It is typed as it is.
    pub text: String,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

/// A screenshot to take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScreenshotRequest {
    /// Path relative to `/workspace`; default: a new name.
    #[serde(default)]
    pub path: Option<String>,
    /// The whole page instead of the visible part.
    #[serde(default)]
    pub full_page: bool,
    /// Time limit in seconds.
    #[serde(default = "thirty")]
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cove_has_added_is_taken_out_of_the_standard_error() {
        let check = |stderr: &str, expected: &str| {
            let step = BrowserStep {
                cmd: "click @e1".to_owned(),
                stdout: String::new(),
                stderr: stderr.to_owned(),
                exit_code: EXIT_FAILED,
                cause: None,
                reason: Some("why\nhow".to_owned()),
                hint: Some("next".to_owned()),
                notes: vec!["besides".to_owned()],
                step_index: 0,
                duration_ms: 0,
            };
            assert_eq!(step.browsers_stderr(), expected, "{stderr}");
        };
        check("✗ Unknown ref: e1\nhint: next\nnote: besides", "✗ Unknown ref: e1");
        check("✗ why\nnote: how\nhint: next", "");
        check("why\nnote: how", "");
        check("note: a page wrote this\nhint: and this", "note: a page wrote this\nhint: and this");
        check("", "");
    }
}
