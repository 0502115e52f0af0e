//! Processes that run on by themselves in a sandbox.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Stopped;

/// How a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// It runs.
    Running,
    /// It ended with exit code 0.
    Completed,
    /// It ended with another exit code, or by a signal.
    Failed,
    /// It was ended on request.
    Killed,
    /// It timed out.
    TimedOut,
}

/// A process that was started in a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProcessInfo {
    /// Its id: the name that it was given, or 8 hex digits.
    pub process_id: String,
    /// Its number in the sandbox.
    pub pid: Option<i32>,
    /// The command.
    pub command: String,
    /// The program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The folder that it was started in, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether it runs in a terminal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// How it is doing.
    pub status: ProcessStatus,
    /// Whether it runs.
    pub running: bool,
    /// Its exit code.
    pub return_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it did not end by itself.
    pub error: Option<String>,
    /// Which limit ended it, where that is known.
    pub stopped: Option<Stopped>,
    /// When it was started, in seconds since 1970.
    pub started_at: f64,
    /// How long it ran, or has run.
    pub running_ms: u64,
    /// What it wrote; only where one process was asked for.
    #[serde(flatten)]
    pub output: Option<ProcessOutput>,
}

/// What a process wrote so far: the beginning and the end, where that was much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProcessOutput {
    /// Standard output, or the terminal.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether output was left out.
    pub truncated: bool,
}

/// All processes that were started in a sandbox and are remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProcessList {
    /// The oldest first.
    pub processes: Vec<ProcessInfo>,
}

/// Where a process has written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Its terminal.
    Terminal,
}

/// A program to start. It runs on by itself, and ends with the sandbox's session at the latest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreateProcess {
    /// The program and its arguments. A program without a slash is looked up in `PATH`; a line for a shell is
    /// `["bash", "-c", "…"]`.
    #[schema(min_items = 1)]
    pub argv: Vec<String>,
    /// Environment variables, added to the profile's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The folder to run in, relative to `/workspace`, or an absolute path; default: `/workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its id; default: 8 hex digits. It begins with a letter and has at most 64 letters, digits, `-`, `_` and `.`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether its standard input can be written; otherwise it is empty.
    #[serde(default)]
    pub input: bool,
    /// Runs it in a terminal of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
    /// Seconds after which it is ended; default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000)]
    pub timeout: Option<u32>,
    /// Starts it again with each session of the sandbox, until it is ended with signal 9; it needs a name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
}

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct TerminalSize {
    /// Columns.
    #[schema(minimum = 1, default = 80)]
    pub cols: u16,
    /// Rows.
    #[schema(minimum = 1, default = 24)]
    pub rows: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

/// Something for a process's standard input, or for its terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ProcessInput {
    /// Text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Bytes in base64; they follow the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(content_encoding = "base64")]
    pub data: Option<String>,
    /// Whether nothing follows: its standard input is closed.
    pub end: bool,
}

/// A signal for a process and its group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ProcessSignal {
    /// Its number: 15 asks to end, 2 interrupts, 9 ends the process and everything that it has started.
    #[schema(minimum = 1, maximum = 31, default = 15)]
    pub signal: i32,
}

impl Default for ProcessSignal {
    fn default() -> Self {
        Self { signal: 15 }
    }
}

/// Where to begin with what a process writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ProcessQuery {
    /// After so many bytes of all that it has written; default: only what comes from now on. The header `Last-Event-ID`,
    /// which a browser sends when it reconnects, has priority.
    #[param(minimum = 0)]
    pub from: Option<u64>,
}

/// What happens to a process that is followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessFrame {
    /// The first: which process this is.
    Process(ProcessInfo),
    /// It has written.
    Output(ProcessChunk),
    /// Nothing has happened for a while; in a stream of server-sent events, a comment.
    Alive,
    /// The last: how it ended.
    Ended(ProcessInfo),
}

/// A piece of what a process has written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProcessChunk {
    /// Where to.
    pub stream: ProcessStream,
    /// The bytes, in base64.
    #[schema(content_encoding = "base64")]
    pub data: String,
    /// Its end, in bytes of all that the process has written.
    pub end: u64,
    /// How many bytes before it are lost: nobody has read them in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
