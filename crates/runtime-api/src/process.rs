//! `/processes/…`: programs that run on by themselves: started, followed, fed, signalled, listed, ended.
//!
//! A process is named by the id that it got or was given at its start, or by its number. What it writes are bytes, not text.

use std::collections::BTreeMap;

use cove_api::{ProcessFrame, ProcessInfo};
use hyper::Method;
use serde::{Deserialize, Serialize};

use crate::{Call, TerminalSize};

/// The longest line of a [`ProcessFrame`], as JSON.
pub(crate) const MAX_FRAME_BYTES: usize = 1 << 20;

/// A process that nobody hears of for so long is asked after: Ship says this often that it is there.
pub const PROCESS_HEARTBEAT: std::time::Duration = std::time::Duration::from_secs(10);

/// A program to start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StartProcess {
    /// The program's path, or its name, looked up in `PATH`.
    pub program: String,
    /// What follows its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Added to the profile's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The folder to run in; none: the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its id; none: a new one. No running process may have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether its standard input can be written; otherwise it is empty.
    #[serde(default)]
    pub input: bool,
    /// Whether it runs in a terminal of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
    /// Seconds after which it is ended; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether the answer is a stream of [`ProcessFrame`]s until its end, from its first byte on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follow: bool,
}

impl Call for StartProcess {
    type Answer = ProcessInfo;
    const PATH: &'static str = "/processes/start";
}

/// What a process writes from now on, or has written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowProcess {
    /// Which.
    pub process_id: String,
    /// Where to begin, in bytes of all that it has written; what is no longer kept is left out and counted. None: at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

impl Call for FollowProcess {
    type Answer = ProcessFrame;
    const PATH: &'static str = "/processes/follow";
}

/// Bytes for a process's standard input or terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteProcess {
    /// Which.
    pub process_id: String,
    /// The bytes, in base64.
    #[serde(default)]
    pub data: String,
    /// Whether nothing follows.
    #[serde(default)]
    pub end: bool,
}

impl Call for WriteProcess {
    type Answer = ProcessInfo;
    const PATH: &'static str = "/processes/write";
}

/// A signal for a process and those of its group; the one that kills ends everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalProcess {
    /// Which.
    pub process_id: String,
    /// Its number.
    pub signal: i32,
}

impl Call for SignalProcess {
    type Answer = ProcessInfo;
    const PATH: &'static str = "/processes/signal";
}

/// Another size for a process's terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResizeProcess {
    /// Which.
    pub process_id: String,
    /// How large.
    pub size: TerminalSize,
}

impl Call for ResizeProcess {
    type Answer = ProcessInfo;
    const PATH: &'static str = "/processes/resize";
}

/// One process with what it wrote, as far as that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowProcess {
    /// Which.
    pub process_id: String,
}

impl Call for ShowProcess {
    type Answer = ProcessInfo;
    const PATH: &'static str = "/processes/show";
}

/// All processes that were started and are remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListProcesses {}

impl Call for ListProcesses {
    type Answer = cove_api::ProcessList;
    const PATH: &'static str = "/shell/processes";
    const METHOD: Method = Method::GET;
}
