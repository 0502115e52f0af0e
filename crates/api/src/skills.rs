//! Skills: what was learnt from executions, tried, released and watched.

use cove_core::{CandidateId, ReleaseId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

fn generic() -> String {
    "generic".to_owned()
}

/// A payload to keep.
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

/// A candidate's life.
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

/// How far a release goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseStage {
    /// On trial.
    Canary,
    /// For all.
    Stable,
}

/// A wish for a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateCandidate {
    /// The skill's name.
    #[schema(min_length = 1)]
    pub skill_key: String,
    /// The executions that it comes from; the caller's own.
    #[schema(min_items = 1)]
    pub source_execution_ids: Vec<String>,
    /// What it is for.
    #[serde(default)]
    pub scenario_key: Option<String>,
    /// Its payload: of ours (`blob:…`) or the caller's own reference, which cannot be replayed here.
    #[serde(default)]
    pub payload_ref: Option<String>,
    /// What it does.
    #[serde(default)]
    pub summary: Option<String>,
    /// How to use it.
    #[serde(default)]
    pub usage_notes: Option<String>,
    /// What must hold before.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub preconditions: Option<Map<String, Value>>,
    /// What holds after.
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
    /// Whether it may be released without a person.
    pub auto_release_eligible: bool,
    /// Why it may or may not.
    pub auto_release_reason: Option<String>,
    /// What it does.
    pub summary: Option<String>,
    /// How to use it.
    pub usage_notes: Option<String>,
    /// What must hold before.
    #[schema(value_type = Option<Object>)]
    pub preconditions: Option<Map<String, Value>>,
    /// What holds after.
    #[schema(value_type = Option<Object>)]
    pub postconditions: Option<Map<String, Value>>,
    /// The executions that it comes from.
    pub source_execution_ids: Vec<String>,
    /// Where it is in its life.
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
    /// Whose it is.
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Moment,
    /// When it last changed.
    pub updated_at: Moment,
    /// Whether it is gone.
    pub is_deleted: bool,
    /// Since when.
    pub deleted_at: Option<Moment>,
    /// By whom.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}

/// A page of candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CandidateList {
    /// Newest first.
    pub items: Vec<CandidateInfo>,
    /// How many there are in all.
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
    /// Only those of this skill.
    pub skill_key: Option<String>,
    /// How many at most; 100 unless said otherwise.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// How many to leave out first.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
}

/// What an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Evaluate {
    /// Whether it passed.
    pub passed: bool,
    /// From 0 to 1.
    #[serde(default)]
    pub score: Option<f64>,
    /// What it was tried on.
    #[serde(default)]
    pub benchmark_id: Option<String>,
    /// In words.
    #[serde(default)]
    pub report: Option<String>,
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EvaluationInfo {
    /// `se-` and 12 hex digits.
    pub id: String,
    /// Of which candidate.
    #[schema(value_type = String)]
    pub candidate_id: CandidateId,
    /// What it was tried on.
    pub benchmark_id: Option<String>,
    /// From 0 to 1.
    pub score: Option<f64>,
    /// Whether it passed.
    pub passed: bool,
    /// In words.
    pub report: Option<String>,
    /// Who evaluated.
    pub evaluated_by: Option<String>,
    /// When.
    pub created_at: Moment,
}

fn canary() -> ReleaseStage {
    ReleaseStage::Canary
}

/// A wish for a release. The candidate's last evaluation must have passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Promote {
    /// How far.
    #[serde(default = "canary")]
    pub stage: ReleaseStage,
    /// The release that it replaces.
    #[serde(default)]
    pub upgrade_of_release_id: Option<String>,
    /// Why.
    #[serde(default)]
    pub upgrade_reason: Option<String>,
    /// What is new.
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
    /// Counts up in each skill.
    pub version: i64,
    /// How far.
    pub stage: ReleaseStage,
    /// Whether it is the one in use: the one of its skill that was released last.
    pub is_active: bool,
    /// `manual` or `auto`.
    pub release_mode: String,
    /// Who released it.
    pub promoted_by: Option<String>,
    /// When.
    pub promoted_at: Moment,
    /// The release that this one takes back.
    #[schema(value_type = Option<String>)]
    pub rollback_of: Option<ReleaseId>,
    /// The canary that it came from.
    #[schema(value_type = Option<String>)]
    pub auto_promoted_from: Option<ReleaseId>,
    /// Until when it is watched.
    pub health_window_end_at: Option<Moment>,
    /// The release that it replaces.
    #[schema(value_type = Option<String>)]
    pub upgrade_of_release_id: Option<ReleaseId>,
    /// Why.
    pub upgrade_reason: Option<String>,
    /// What is new.
    pub change_summary: Option<String>,
    /// Whether it is gone.
    pub is_deleted: bool,
    /// Since when.
    pub deleted_at: Option<Moment>,
    /// By whom.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}

/// A page of releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseList {
    /// Newest first.
    pub items: Vec<ReleaseInfo>,
    /// How many there are in all.
    pub total: i64,
}

/// Which releases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ReleaseQuery {
    /// Only those of this skill.
    pub skill_key: Option<String>,
    /// Only the one in use of each skill.
    pub active_only: Option<bool>,
    /// Only those at this stage.
    #[param(inline)]
    pub stage: Option<ReleaseStage>,
    /// How many at most; 100 unless said otherwise.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// How many to leave out first.
    #[param(minimum = 0)]
    pub offset: Option<u32>,
}

/// How a release does, beside what was before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseHealth {
    /// Which release.
    #[schema(value_type = String)]
    pub release_id: ReleaseId,
    /// The skill's name.
    pub skill_key: String,
    /// How far it goes.
    pub stage: String,
    /// Watched from.
    pub window_start_at: Moment,
    /// Watched until.
    pub window_end_at: Moment,
    /// Whether that time is over.
    pub window_complete: bool,
    /// How many replays were seen.
    pub samples: i64,
    /// How many of them succeeded, from 0 to 1.
    pub success_rate: f64,
    /// How many failed, from 0 to 1.
    pub error_rate: f64,
    /// The slowest but for one in twenty, in milliseconds.
    pub p95_duration: i64,
    /// The release before it: successes.
    pub baseline_success_rate: f64,
    /// The release before it: failures.
    pub baseline_error_rate: f64,
    /// The release before it: replays seen.
    pub baseline_samples: i64,
    /// By how much successes fell.
    pub success_drop: f64,
    /// How many times as often it fails.
    pub error_rate_multiplier: f64,
    /// Whether all is well.
    pub healthy: bool,
    /// Whether it should be taken back.
    pub should_rollback: bool,
    /// Why.
    pub rollback_reasons: Vec<String>,
    /// What is held to be well.
    #[schema(value_type = Object)]
    pub thresholds: std::collections::BTreeMap<String, f64>,
}

/// Why something is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DeleteRequest {
    /// In words.
    pub reason: Option<String>,
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// Its id.
    pub id: String,
    /// When.
    pub deleted_at: Moment,
    /// By whom.
    pub deleted_by: Option<String>,
    /// Why.
    pub delete_reason: Option<String>,
}
