//! The record of what ran.

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
    /// What kind of work it was.
    #[schema(value_type = ExecType)]
    pub exec_type: String,
    /// What ran.
    pub code: String,
    /// Whether it succeeded.
    pub success: bool,
    /// How long it took.
    pub execution_time_ms: i64,
    /// What it said, cut to a limit.
    pub output: Option<String>,
    /// Why it failed, cut to a limit.
    pub error: Option<String>,
    /// The payload that holds more, such as a trace.
    pub payload_ref: Option<String>,
    /// What the caller said it is.
    pub description: Option<String>,
    /// The caller's words for it, with commas between.
    pub tags: Option<String>,
    /// What was noted later.
    pub notes: Option<String>,
    /// Whether a skill may be learnt from it.
    pub learn_enabled: bool,
    /// `pending`, `processed`, `error`; none: not to be learnt.
    pub learn_status: Option<String>,
    /// Why learning failed.
    pub learn_error: Option<String>,
    /// When it was learnt from.
    pub learn_processed_at: Option<Moment>,
    /// When it ran.
    pub created_at: Moment,
}

/// What kind of work ran.
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
}

/// A page of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryList {
    /// Newest first.
    pub entries: Vec<HistoryEntry>,
    /// How many there are in all.
    pub total: i64,
}

/// Which entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only this kind.
    #[param(inline)]
    pub exec_type: Option<ExecType>,
    /// Only those that succeeded.
    pub success_only: Option<bool>,
    /// How many at most; 100 unless said otherwise.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// How many to leave out first.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
    /// Only those with all of these tags, with commas between.
    pub tags: Option<String>,
    /// Only those with notes.
    pub has_notes: Option<bool>,
    /// Only those with a description.
    pub has_description: Option<bool>,
}

/// What to note. A field that is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Annotation {
    /// What it is.
    pub description: Option<String>,
    /// Words for it, with commas between.
    pub tags: Option<String>,
    /// Anything else.
    pub notes: Option<String>,
}
