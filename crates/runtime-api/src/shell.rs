//! `/shell/…`: commands, waited for or left running.

use std::collections::BTreeMap;

use cove_api::Stopped;
use serde::{Deserialize, Serialize};

use crate::Call;

/// A command for `bash -lc`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShellRequest {
    /// The command.
    pub command: String,
    /// The folder to run in; none: the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Added to the profile's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Seconds; none: the usual limit, or no limit for a background command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether it is left running.
    #[serde(default)]
    pub background: bool,
    /// Whether the answer comes line by line, with what is written meanwhile ([`LiveFrame`](crate::LiveFrame)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
}

impl Call for ShellRequest {
    type Answer = ShellAnswer;
    const PATH: &'static str = "/shell/exec";
}

/// How a command ended, or that it was started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellAnswer {
    /// Whether its exit code is 0.
    pub success: bool,
    /// Its exit code; −1: out of time.
    pub return_code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Its process.
    pub pid: Option<i32>,
    /// The name of a background command.
    pub process_id: Option<String>,
    /// Why it did not end by itself.
    pub error: Option<String>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Which limit ended it, where that is known.
    pub stopped: Option<Stopped>,
    /// Whether its time was over.
    pub timed_out: bool,
    /// Whether output was left out.
    pub truncated: bool,
    /// How long it took.
    pub execution_time_ms: u64,
}

/// How a background command is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Its time was over.
    TimedOut,
}

/// A background command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// Its name.
    pub process_id: String,
    /// Its process.
    pub pid: Option<i32>,
    /// The command.
    pub command: String,
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
    /// What it wrote; only where one command was asked for.
    #[serde(flatten)]
    pub output: Option<ProcessOutput>,
}

/// What a background command wrote so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether output was left out.
    pub truncated: bool,
}

/// All background commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessList {
    /// The oldest first.
    pub processes: Vec<ProcessInfo>,
}

/// Where commands start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingFolder {
    /// Its path.
    pub cwd: String,
}
