//! Skills: learnt from executions, evaluated, released and monitored.

use cove_core::{CandidateId, ReleaseId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

fn generic() -> String {
    "generic".to_owned()
}

/// A payload to store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreatePayload {
    /// An object or an array.
    #[schema(value_type = Value)]
    pub payload: Value,
    /// What kind of payload.
    #[serde(default = "generic")]
    #[schema(min_length = 1, default = "generic")]
    pub kind: String,
}

/// Where a payload is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PayloadRef {
    /// `blob:` and its id.
    pub payload_ref: String,
    /// What kind of payload.
    pub kind: String,
}

/// A payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PayloadInfo {
    /// `blob:` and its id.
    pub payload_ref: String,
    /// What kind of payload.
    pub kind: String,
    /// The payload.
    #[schema(value_type = Value)]
    pub payload: Value,
}

/// The state of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CandidateStatus {
    /// New.
    Draft,
    /// Evaluated, not released.
    Evaluating,
    /// Released (older name).
    Promoted,
    /// Released as canary.
    PromotedCanary,
    /// Released as stable.
    PromotedStable,
    /// Failed its evaluation.
    Rejected,
    /// Released and taken back.
    RolledBack,
}

/// The stage of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseStage {
    /// On trial.
    Canary,
    /// For all.
    Stable,
}

/// A candidate to create.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateCandidate {
    /// The skill's name.
    #[schema(min_length = 1)]
    pub skill_key: String,
    /// The executions that it is made from; they must be the caller's own.
    #[schema(min_items = 1)]
    pub source_execution_ids: Vec<String>,
    /// What it is for.
    #[serde(default)]
    pub scenario_key: Option<String>,
    /// Its payload: stored here (`blob:…`), or a reference of the caller's own, which cannot be replayed.
    #[serde(default)]
    pub payload_ref: Option<String>,
    /// What it does.
    #[serde(default)]
    pub summary: Option<String>,
    /// How to use it.
    #[serde(default)]
    pub usage_notes: Option<String>,
    /// Preconditions.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub preconditions: Option<Map<String, Value>>,
    /// Postconditions.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub postconditions: Option<Map<String, Value>>,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CandidateInfo {
    /// `sc-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: CandidateId,
    /// The skill's name.
    pub skill_key: String,
    /// What it is for.
    pub scenario_key: Option<String>,
    /// Its payload.
    pub payload_ref: Option<String>,
    /// `code` or `browser`.
    pub skill_type: String,
    /// Whether it may be released automatically.
    pub auto_release_eligible: bool,
    /// The reason for that.
    pub auto_release_reason: Option<String>,
    /// What it does.
    pub summary: Option<String>,
    /// How to use it.
    pub usage_notes: Option<String>,
    /// Preconditions.
    #[schema(value_type = Option<Object>)]
    pub preconditions: Option<Map<String, Value>>,
    /// Postconditions.
    #[schema(value_type = Option<Object>)]
    pub postconditions: Option<Map<String, Value>>,
    /// The executions that it was made from.
    pub source_execution_ids: Vec<String>,
    /// Its state.
    pub status: CandidateStatus,
    /// The last evaluation's score.
    pub latest_score: Option<f64>,
    /// Whether the last evaluation passed.
    pub latest_pass: Option<bool>,
    /// When it was last evaluated.
    pub last_evaluated_at: Option<Moment>,
    /// Its release, unless that was deleted.
    #[schema(value_type = Option<String>)]
    pub promotion_release_id: Option<ReleaseId>,
    /// Its owner.
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Moment,
    /// When it last changed.
    pub updated_at: Moment,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// When it was deleted.
    pub deleted_at: Option<Moment>,
    /// Who deleted it.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}

/// A page of candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CandidateList {
    /// Newest first.
    pub items: Vec<CandidateInfo>,
    /// Total number.
    pub total: i64,
}

/// Which candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CandidateQuery {
    /// Only those in this state.
    #[param(inline)]
    pub status: Option<CandidateStatus>,
    /// Only results of this skill.
    pub skill_key: Option<String>,
    /// Maximum number of results; default 100.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Number of results to skip.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
}

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Evaluate {
    /// Whether it passed.
    pub passed: bool,
    /// From 0 to 1.
    #[serde(default)]
    pub score: Option<f64>,
    /// The name of the benchmark.
    #[serde(default)]
    pub benchmark_id: Option<String>,
    /// Report of the evaluation.
    #[serde(default)]
    pub report: Option<String>,
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EvaluationInfo {
    /// `se-` and 12 hex digits.
    pub id: String,
    /// Id of the candidate.
    #[schema(value_type = String)]
    pub candidate_id: CandidateId,
    /// The name of the benchmark.
    pub benchmark_id: Option<String>,
    /// From 0 to 1.
    pub score: Option<f64>,
    /// Whether it passed.
    pub passed: bool,
    /// Report of the evaluation.
    pub report: Option<String>,
    /// Who evaluated it.
    pub evaluated_by: Option<String>,
    /// When.
    pub created_at: Moment,
}

fn canary() -> ReleaseStage {
    ReleaseStage::Canary
}

/// A release to make. The candidate's last evaluation must have passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Promote {
    /// The stage.
    #[serde(default = "canary")]
    pub stage: ReleaseStage,
    /// The release that it replaces.
    #[serde(default)]
    pub upgrade_of_release_id: Option<String>,
    /// Why.
    #[serde(default)]
    pub upgrade_reason: Option<String>,
    /// Release notes.
    #[serde(default)]
    pub change_summary: Option<String>,
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseInfo {
    /// `sr-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: ReleaseId,
    /// The skill's name.
    pub skill_key: String,
    /// The candidate that was released.
    #[schema(value_type = String)]
    pub candidate_id: CandidateId,
    /// Its version, counted per skill.
    pub version: i64,
    /// The stage.
    pub stage: ReleaseStage,
    /// Whether it is active: the last released one of its skill.
    pub is_active: bool,
    /// `manual` or `auto`.
    pub release_mode: String,
    /// Who released it.
    pub promoted_by: Option<String>,
    /// When.
    pub promoted_at: Moment,
    /// The release that this one rolls back.
    #[schema(value_type = Option<String>)]
    pub rollback_of: Option<ReleaseId>,
    /// The canary that it came from.
    #[schema(value_type = Option<String>)]
    pub auto_promoted_from: Option<ReleaseId>,
    /// End of its observation window.
    pub health_window_end_at: Option<Moment>,
    /// The release that it replaces.
    #[schema(value_type = Option<String>)]
    pub upgrade_of_release_id: Option<ReleaseId>,
    /// Why.
    pub upgrade_reason: Option<String>,
    /// Release notes.
    pub change_summary: Option<String>,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// When it was deleted.
    pub deleted_at: Option<Moment>,
    /// Who deleted it.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}

/// A page of releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseList {
    /// Newest first.
    pub items: Vec<ReleaseInfo>,
    /// Total number.
    pub total: i64,
}

/// Which releases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ReleaseQuery {
    /// Only results of this skill.
    pub skill_key: Option<String>,
    /// Only the active release of each skill.
    pub active_only: Option<bool>,
    /// Only releases at this stage.
    #[param(inline)]
    pub stage: Option<ReleaseStage>,
    /// Maximum number of results; default 100.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// Number of results to skip.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
}

/// The health of a release, compared with the previous one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseHealth {
    /// Id of the release.
    #[schema(value_type = String)]
    pub release_id: ReleaseId,
    /// The skill's name.
    pub skill_key: String,
    /// Its stage.
    pub stage: String,
    /// Start of the observation window.
    pub window_start_at: Moment,
    /// End of the observation window.
    pub window_end_at: Moment,
    /// Whether the window has ended.
    pub window_complete: bool,
    /// Number of replays.
    pub samples: i64,
    /// Success rate, from 0 to 1.
    pub success_rate: f64,
    /// Error rate, from 0 to 1.
    pub error_rate: f64,
    /// 95th percentile of the duration, in milliseconds.
    pub p95_duration: i64,
    /// Success rate of the previous release.
    pub baseline_success_rate: f64,
    /// Error rate of the previous release.
    pub baseline_error_rate: f64,
    /// Number of replays of the previous release.
    pub baseline_samples: i64,
    /// Drop of the success rate.
    pub success_drop: f64,
    /// Factor by which the error rate rose.
    pub error_rate_multiplier: f64,
    /// Whether it is healthy.
    pub healthy: bool,
    /// Whether a rollback is recommended.
    pub should_rollback: bool,
    /// Why.
    pub rollback_reasons: Vec<String>,
    /// The thresholds for that.
    #[schema(value_type = Object)]
    pub thresholds: std::collections::BTreeMap<String, f64>,
}

/// The reason for a deletion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DeleteRequest {
    /// The reason.
    pub reason: Option<String>,
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// Its id.
    pub id: String,
    /// When.
    pub deleted_at: Moment,
    /// Who deleted it.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}
