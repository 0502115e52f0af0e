//! Sandboxes: the only thing that a client names.

use cove_core::{CargoId, SandboxId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

/// What a sandbox is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxStatus {
    /// No session; the next call starts one.
    Idle,
    /// Its session is starting.
    Starting,
    /// Its session answers.
    Ready,
    /// Its last session could not start, or does not answer any more; the next call tries again.
    Failed,
    /// Past its end: every call is refused.
    Expired,
}

/// A sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SandboxInfo {
    /// `sandbox-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: SandboxId,
    /// What it is doing.
    pub status: SandboxStatus,
    /// The profile it was made with.
    pub profile: String,
    /// Its cargo: what is in `/workspace`.
    #[schema(value_type = String)]
    pub cargo_id: CargoId,
    /// What the profile can do.
    pub capabilities: Vec<String>,
    /// When it was made.
    pub created_at: Moment,
    /// When it ends; none: never.
    pub expires_at: Option<Moment>,
    /// When its session ends for want of calls; none: no session.
    pub idle_expires_at: Option<Moment>,
    /// Its session's containers, while it has a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<Vec<ContainerInfo>>,
    /// What its operator should know, such as `memory: watched, not enforced`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One container of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContainerInfo {
    /// Its name in the profile.
    pub name: String,
    /// `ship` or `gull`.
    pub runtime_type: String,
    /// `running`, `stopped` or `failed`.
    pub status: String,
    /// The runtime's version.
    pub version: Option<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Whether it answers; none: not asked.
    pub healthy: Option<bool>,
}

/// A page of sandboxes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SandboxList {
    /// The sandboxes of this page.
    pub items: Vec<SandboxInfo>,
    /// For the next page; none: this was the last.
    pub next_cursor: Option<String>,
}

/// Which sandboxes to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct SandboxQuery {
    /// How many at most; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Only those in this state.
    #[param(inline)]
    pub status: Option<SandboxStatus>,
}

/// A wish for a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CreateSandbox {
    /// Which profile.
    #[schema(default = "python-default")]
    pub profile: String,
    /// A cargo that is there already; none: a new one that goes with the sandbox.
    pub cargo_id: Option<String>,
    /// Seconds until its end; none or 0: for ever.
    #[schema(minimum = 0)]
    pub ttl: Option<i64>,
}

impl Default for CreateSandbox {
    fn default() -> Self {
        Self { profile: "python-default".to_owned(), cargo_id: None, ttl: None }
    }
}

/// A wish for more time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExtendTtl {
    /// Seconds, counted from its end or from now, whichever is later.
    #[schema(minimum = 1)]
    pub extend_by: i64,
}
