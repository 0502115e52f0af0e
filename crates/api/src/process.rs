//! Processes that run on by themselves in a sandbox.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
