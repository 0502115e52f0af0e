//! `/ipython/…`: Python that remembers.

use std::collections::BTreeMap;

use cove_api::{PythonOutput, Stopped};
use serde::{Deserialize, Serialize};

use crate::Call;

/// A piece of Python.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PythonRequest {
    /// The code.
    pub code: String,
    /// Seconds; none: the usual limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether its output is left out of the answer.
    #[serde(default)]
    pub silent: bool,
    /// Whether the answer comes line by line, with what is written meanwhile ([`LiveFrame`](crate::LiveFrame)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Which interpreter; none: the usual one. A new name starts a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Environment variables for this piece alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Whether the last expression's value is not printed: it is among the results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub value_apart: bool,
}

impl Call for PythonRequest {
    type Answer = PythonAnswer;
    const PATH: &'static str = "/ipython/exec";
}

/// How a piece of Python ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PythonAnswer {
    /// Whether it ended without an error.
    pub success: bool,
    /// How many pieces this interpreter has run.
    pub execution_count: Option<u64>,
    /// Text and pictures.
    pub output: PythonOutput,
    /// The error with its traceback.
    pub error: Option<String>,
    /// Why the code did not end by itself: it was interrupted, or Python was ended. Then `error` only says where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The error's class.
    pub error_name: Option<String>,
    /// What the error says.
    #[serde(default)]
    pub error_message: Option<String>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether its time was over.
    pub timed_out: bool,
    /// The signal that has ended the interpreter, where one has.
    pub signal: Option<i32>,
    /// Which limit ended the interpreter, where that is known.
    pub stopped: Option<Stopped>,
    /// The interpreter had to be replaced: variables are gone.
    pub state_lost: bool,
    /// Whether output was left out.
    pub truncated: bool,
    /// How long it took.
    pub execution_time_ms: u64,
}

/// Ends an interpreter with a name of its own, and all variables in it; without a name the usual one is restarted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndPython {
    /// Which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Call for EndPython {
    type Answer = Restarted;
    const PATH: &'static str = "/ipython/end";
}

/// What the interpreter is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelState {
    /// There is none; the next piece of code starts one.
    #[default]
    NotStarted,
    /// It waits.
    Idle,
    /// It runs code.
    Busy,
}

/// The interpreter, as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelStatus {
    /// What it is doing.
    pub status: KernelState,
    /// Whether there is one.
    pub alive: bool,
    /// Its version, once one was started.
    pub python_version: Option<String>,
    /// Whether IPython's shell runs the code.
    pub ipython: bool,
    /// How many pieces it has run.
    pub execution_count: u64,
    /// How often it was replaced.
    pub restarts: u64,
}

/// That the interpreter was restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restarted {
    /// Always.
    pub success: bool,
    /// In a sentence.
    pub message: String,
}
