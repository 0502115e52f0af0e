//! Health and the collector.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Moment;

/// Bay is there.
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
    /// Only these; none: all that are enabled.
    pub tasks: Option<Vec<String>>,
}

/// What one task did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcTaskReport {
    /// `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, …
    pub task: String,
    /// How many things were cleaned away.
    pub cleaned: u64,
    /// How many were looked at and left.
    pub skipped: u64,
    /// What went wrong.
    pub errors: Vec<String>,
}

/// What the collector did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcReport {
    /// One report for each task.
    pub results: Vec<GcTaskReport>,
    /// Things cleaned away in all.
    pub total_cleaned: u64,
    /// Faults in all.
    pub total_errors: u64,
    /// How long it took.
    pub duration_ms: u64,
}

/// The collector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GcStatus {
    /// Whether it runs by itself.
    pub enabled: bool,
    /// Whether it is at work now.
    pub is_running: bool,
    /// Which Bay this is.
    pub instance_id: String,
    /// How often it runs.
    pub interval_seconds: u64,
    /// When it last ran.
    pub last_run_at: Option<Moment>,
    /// What it did then.
    pub last_report: Option<GcReport>,
    /// Its tasks, and whether each is enabled.
    #[schema(value_type = Object)]
    pub tasks: std::collections::BTreeMap<String, bool>,
}
