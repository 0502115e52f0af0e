//! The bounds that the schema states and types alone cannot hold: checked here, once, before Bay is asked.

use cove_api::{
    Annotation, ApprovalDecision, BrowserBatchRequest, BrowserExecRequest, BrowserSkillRequest, CandidateQuery,
    CargoQuery, ClickRequest, CreateCandidate, CreateCargo, CreatePayload, CreatePortLink, CreateProcess,
    CreateSandbox, DeleteRequest, Evaluate, ExtendTtl, FileQuery, FillRequest, GcRequest, HistoryQuery,
    JavaScriptExecRequest, MAX_CARGO_MB, NavigateRequest, ProcessInput, ProcessQuery, ProcessSignal, Promote,
    PythonExecRequest, ReleaseQuery, SandboxQuery, ScreenshotRequest, SetNetwork, ShellExecRequest, SnapshotRequest,
    TerminalSize, ToolAnswer, WatchQuery, WriteFile,
};

use crate::limits::{MAX_JSON_BYTES, MAX_VALUES_BYTES};
use crate::schema::Problems;

/// The longest time-out of one command or one piece of code, in seconds.
const MAX_EXEC_SECS: u64 = 300;
/// The longest time-out of a batch, in seconds.
const MAX_BATCH_SECS: u64 = 600;
/// The longest life of a link to a port, in seconds: 30 days.
const MAX_LINK_SECS: u32 = 30 * 24 * 3600;
/// The longest time of a process, in seconds: 30 days.
const MAX_PROCESS_SECS: u32 = 30 * 24 * 3600;
/// The last signal that has a name.
const MAX_SIGNAL: i32 = 31;
/// The longest page of sandboxes or cargos.
const MAX_PAGE: u32 = 200;
/// The longest page of history or skills.
const MAX_LONG_PAGE: u32 = 500;

/// Something with bounds.
pub(crate) trait Bounded {
    /// Fields whose unknown word is an invalid value (400), as existing clients expect it, and no misfit (422).
    const WORDS: &'static [&'static str] = &[];

    /// Its text at most.
    const MAX_BYTES: usize = MAX_JSON_BYTES;

    /// Whether a part of it is JSON of any form, which weighs more than its text once it is read.
    const HOLDS_VALUES: bool = false;

    /// Notes what is out of them.
    fn check(&self, problems: &mut Problems) {
        let _ = problems;
    }
}

/// Types whose form says it all.
macro_rules! boundless {
    ($($name:ty),* $(,)?) => { $(impl Bounded for $name {})* };
}

boundless!(
    Annotation,
    ApprovalDecision,
    DeleteRequest,
    Evaluate,
    FileQuery,
    GcRequest,
    ProcessInput,
    ProcessQuery,
    SetNetwork,
    WatchQuery,
    WriteFile,
);

impl Bounded for ToolAnswer {
    const HOLDS_VALUES: bool = true;
}

impl Bounded for serde_json::Map<String, serde_json::Value> {
    const MAX_BYTES: usize = MAX_VALUES_BYTES;
    const HOLDS_VALUES: bool = true;
}

/// Types whose only bound is a time-out.
macro_rules! timed {
    ($max:ident: $($name:ty),* $(,)?) => {
        $(impl Bounded for $name {
            fn check(&self, problems: &mut Problems) {
                problems.range("timeout", self.timeout, 1, $max);
            }
        })*
    };
}

timed!(
    MAX_EXEC_SECS: PythonExecRequest,
    ShellExecRequest,
    JavaScriptExecRequest,
    BrowserExecRequest,
    NavigateRequest,
    SnapshotRequest,
    ClickRequest,
    FillRequest,
    ScreenshotRequest,
);
timed!(MAX_BATCH_SECS: BrowserSkillRequest);

impl Bounded for BrowserBatchRequest {
    fn check(&self, problems: &mut Problems) {
        problems.range("timeout", self.timeout, 1, MAX_BATCH_SECS);
        problems.some("commands", &self.commands);
    }
}

impl Bounded for CreateSandbox {
    fn check(&self, problems: &mut Problems) {
        problems.range("ttl", self.ttl.unwrap_or(0), 0, i64::MAX);
    }
}

impl Bounded for CreatePortLink {
    fn check(&self, problems: &mut Problems) {
        problems.range("port", self.port, 1, u16::MAX);
        problems.range("seconds", self.seconds.unwrap_or(1), 1, MAX_LINK_SECS);
    }
}

impl Bounded for CreateProcess {
    fn check(&self, problems: &mut Problems) {
        problems.some("argv", &self.argv);
        problems.range("timeout", self.timeout.unwrap_or(1), 1, MAX_PROCESS_SECS);
    }
}

impl Bounded for ProcessSignal {
    fn check(&self, problems: &mut Problems) {
        problems.range("signal", self.signal, 1, MAX_SIGNAL);
    }
}

impl Bounded for TerminalSize {
    fn check(&self, problems: &mut Problems) {
        problems.range("cols", self.cols, 1, u16::MAX);
        problems.range("rows", self.rows, 1, u16::MAX);
    }
}

impl Bounded for ExtendTtl {
    fn check(&self, problems: &mut Problems) {
        problems.range("extend_by", self.extend_by, 1, i64::MAX);
    }
}

impl Bounded for CreateCargo {
    fn check(&self, problems: &mut Problems) {
        problems.range("size_limit_mb", self.size_limit_mb.unwrap_or(1), 1, MAX_CARGO_MB);
    }
}

impl Bounded for CreatePayload {
    const MAX_BYTES: usize = MAX_VALUES_BYTES;
    const HOLDS_VALUES: bool = true;

    fn check(&self, problems: &mut Problems) {
        problems.filled("kind", &self.kind);
        if !self.payload.is_object() && !self.payload.is_array() {
            problems.add(Some("payload"), "value_error", "must be an object or an array");
        }
    }
}

impl Bounded for CreateCandidate {
    fn check(&self, problems: &mut Problems) {
        problems.filled("skill_key", &self.skill_key);
        problems.some("source_execution_ids", &self.source_execution_ids);
    }
}

impl Bounded for CargoQuery {
    fn check(&self, problems: &mut Problems) {
        problems.range("limit", self.limit.unwrap_or(1), 1, MAX_PAGE);
    }
}

impl Bounded for SandboxQuery {
    fn check(&self, problems: &mut Problems) {
        problems.range("limit", self.limit.unwrap_or(1), 1, MAX_PAGE);
    }
}

impl Bounded for HistoryQuery {
    fn check(&self, problems: &mut Problems) {
        problems.range("limit", self.limit.unwrap_or(1), 1, MAX_LONG_PAGE);
    }
}

impl Bounded for Promote {
    const WORDS: &'static [&'static str] = &["stage"];
}

impl Bounded for CandidateQuery {
    const WORDS: &'static [&'static str] = &["status"];

    fn check(&self, problems: &mut Problems) {
        problems.range("limit", self.limit.unwrap_or(1), 1, MAX_LONG_PAGE);
    }
}

impl Bounded for ReleaseQuery {
    const WORDS: &'static [&'static str] = &["stage"];

    fn check(&self, problems: &mut Problems) {
        problems.range("limit", self.limit.unwrap_or(1), 1, MAX_LONG_PAGE);
    }
}
