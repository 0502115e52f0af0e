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

/// Where commands start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingFolder {
    /// Its path.
    pub cwd: String,
}
