//! Health and the collector.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Moment;

/// The server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`
    pub status: String,
    /// Cove's version.
    pub version: String,
}

/// Which of the collector's tasks to run now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct GcRequest {
    /// The tasks; default: all that are enabled.
    pub tasks: Option<Vec<String>>,
}

/// What one task did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcTaskReport {
    /// `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, …
    pub task: String,
    /// Number of things cleaned up.
    pub cleaned: u64,
    /// Number of things checked and left alone.
    pub skipped: u64,
    /// What went wrong.
    pub errors: Vec<String>,
}

/// What the collector did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcReport {
    /// One report for each task.
    pub results: Vec<GcTaskReport>,
    /// Total number of things cleaned up.
    pub total_cleaned: u64,
    /// Total number of errors.
    pub total_errors: u64,
    /// Time it took, in milliseconds.
    pub duration_ms: u64,
}

/// The collector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcStatus {
    /// Whether it runs by itself.
    pub enabled: bool,
    /// Whether it is running now.
    pub is_running: bool,
    /// Id of this Bay.
    pub instance_id: String,
    /// Interval in seconds.
    pub interval_seconds: u64,
    /// When it last ran.
    pub last_run_at: Option<Moment>,
    /// Report of that run.
    pub last_report: Option<GcReport>,
    /// Its tasks, and whether each is enabled.
    #[schema(value_type = Object)]
    pub tasks: std::collections::BTreeMap<String, bool>,
}
