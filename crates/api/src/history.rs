//! The record of what ran.

use std::fmt;

use cove_core::ExecutionId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

/// One execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryEntry {
    /// `exec-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: ExecutionId,
    /// The session it ran in.
    pub session_id: Option<String>,
    /// Its kind.
    pub exec_type: ExecType,
    /// What ran.
    pub code: String,
    /// Whether it succeeded.
    pub success: bool,
    /// Time it took, in milliseconds.
    pub execution_time_ms: i64,
    /// Its output, up to a limit.
    pub output: Option<String>,
    /// Its error, up to a limit.
    pub error: Option<String>,
    /// What ended or refused it; null: nothing did, it failed by itself or succeeded.
    pub barrier: Option<Barrier>,
    /// The payload that holds more, such as a trace.
    pub payload_ref: Option<String>,
    /// Names of the artifacts that it drew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Description by the caller.
    pub description: Option<String>,
    /// Tags by the caller, separated by commas.
    pub tags: Option<String>,
    /// Notes that were added later.
    pub notes: Option<String>,
    /// Whether a skill may be learnt from it.
    pub learn_enabled: bool,
    /// `pending`, `processed` or `error`; null: not to be learnt from.
    pub learn_status: Option<String>,
    /// Why learning failed.
    pub learn_error: Option<String>,
    /// When it was learnt from.
    pub learn_processed_at: Option<Moment>,
    /// When it ran.
    pub created_at: Moment,
}

/// The limit or the wall that ended or refused an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// Its time was over.
    TimeLimit,
    /// It made as many steps as it may.
    StepLimit,
    /// All memory that the sandbox may use was used.
    MemoryLimit,
    /// The workspace is larger than it may be.
    DiskLimit,
    /// Its code or its result is larger than it may be.
    SizeLimit,
    /// It asked for something that is not allowed: a command, an address, a flag, a module.
    NotAllowed,
}

impl Barrier {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TimeLimit => "time_limit",
            Self::StepLimit => "step_limit",
            Self::MemoryLimit => "memory_limit",
            Self::DiskLimit => "disk_limit",
            Self::SizeLimit => "size_limit",
            Self::NotAllowed => "not_allowed",
        }
    }
}

/// The kind of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecType {
    /// Python.
    Python,
    /// A shell command.
    Shell,
    /// JavaScript.
    #[serde(rename = "javascript")]
    JavaScript,
    /// A browser command.
    Browser,
    /// Several browser commands.
    BrowserBatch,
}

impl ExecType {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Shell => "shell",
            Self::JavaScript => "javascript",
            Self::Browser => "browser",
            Self::BrowserBatch => "browser_batch",
        }
    }

    /// Whether it drives the browser.
    pub fn is_browser(self) -> bool {
        matches!(self, Self::Browser | Self::BrowserBatch)
    }
}

impl fmt::Display for ExecType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A page of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryList {
    /// Newest first.
    pub entries: Vec<HistoryEntry>,
    /// Total number.
    pub total: i64,
}

/// Which entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only entries of this kind.
    #[param(inline)]
    pub exec_type: Option<ExecType>,
    /// Only successful entries.
    pub success_only: Option<bool>,
    /// Only failed entries.
    pub failed_only: Option<bool>,
    /// Maximum number of results; default 100.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Number of results to skip.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
    /// Only entries with all of these tags, separated by commas.
    pub tags: Option<String>,
    /// Only entries with none of these tags, separated by commas.
    pub without_tags: Option<String>,
    /// Only entries that a limit or a wall ended or refused.
    pub barred: Option<bool>,
    /// Only entries with notes.
    pub has_notes: Option<bool>,
    /// Only entries with a description.
    pub has_description: Option<bool>,
}

/// An annotation. A missing field is not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Annotation {
    /// Description.
    pub description: Option<String>,
    /// Tags, separated by commas.
    pub tags: Option<String>,
    /// Notes.
    pub notes: Option<String>,
}
