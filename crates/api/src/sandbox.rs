//! Sandboxes: the only resource that a client has to name.

use std::collections::BTreeMap;

use cove_core::{CargoId, SandboxId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

/// The state of a sandbox.
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

impl SandboxStatus {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }
}

/// A sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SandboxInfo {
    /// `sandbox-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: SandboxId,
    /// Its state.
    pub status: SandboxStatus,
    /// Its profile.
    pub profile: String,
    /// Its cargo, mounted at `/workspace`.
    #[schema(value_type = String)]
    pub cargo_id: CargoId,
    /// Capabilities of its profile.
    pub capabilities: Vec<String>,
    /// When it was made.
    pub created_at: Moment,
    /// When it expires; null: never.
    pub expires_at: Option<Moment>,
    /// When its session ends if it is not used; null: no session.
    pub idle_expires_at: Option<Moment>,
    /// Its session's containers, while it has a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<Vec<ContainerInfo>>,
    /// Where each container of its profile may connect to. Not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<ContainerNetwork>>,
    /// Warnings: limits that are not enforced (`memory: watched, not enforced`), and what this machine lacks for it, with the
    /// command that installs it (`browser: agent-browser was not found; install it with …`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What its session uses now: in a list with `usage=true`, where that can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<SandboxUsage>,
    /// What its owner says of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// What a door keeps with it. Only for callers in this process.
    #[serde(skip)]
    pub note: Option<String>,
}

/// Where a container may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContainerNetwork {
    /// Its name in the profile.
    pub container: String,
    /// Hosts that are open; none: the network is closed.
    pub allow_hosts: Vec<String>,
    /// Private addresses that are open.
    pub allow_private: Vec<String>,
}

/// What the processes of a session use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxUsage {
    /// Memory that each has for itself, in bytes.
    pub memory_bytes: u64,
    /// Processor time since the session began, in milliseconds: two readings give the share of a processor between them.
    pub cpu_ms: u64,
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
    /// Its capabilities.
    pub capabilities: Vec<String>,
    /// Whether it answers; null: not checked.
    pub healthy: Option<bool>,
}

/// A page of sandboxes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SandboxList {
    /// The sandboxes of this page.
    pub items: Vec<SandboxInfo>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Which sandboxes to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct SandboxQuery {
    /// Maximum number of results; default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Only those in this state.
    #[param(inline)]
    pub status: Option<SandboxStatus>,
    /// Whether to count what each session uses.
    pub usage: bool,
}

/// A sandbox to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CreateSandbox {
    /// Name of the profile.
    #[schema(default = "python-default")]
    pub profile: String,
    /// Id of an existing cargo; default: a new one that is deleted with the sandbox.
    pub cargo_id: Option<String>,
    /// Lifetime in seconds; null or 0: unlimited.
    #[schema(minimum = 0)]
    pub ttl: Option<i64>,
    /// Words of your own to find it by: at most 64, of at most 256 bytes each, with at most 4 KiB for each value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Whether its session, with all processes in it, goes on without calls for as long as the sandbox lives.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_session: bool,
    /// What a door keeps with it. Only for callers in this process.
    #[serde(skip)]
    pub note: Option<String>,
    /// When a session that is kept ends all the same. Only for callers in this process.
    #[serde(skip)]
    pub session_ends_at: Option<Moment>,
}

/// What of a sandbox is to change; what is left out stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct AmendSandbox {
    /// Lifetime in seconds from now; 0: unlimited.
    #[schema(minimum = 0)]
    pub ttl: Option<i64>,
    /// Words of your own, in place of those that it has.
    pub metadata: Option<BTreeMap<String, String>>,
    /// What a door keeps with it. Only for callers in this process.
    #[serde(skip)]
    pub note: Option<String>,
    /// When its session ends though it is kept; none within: with the sandbox. Only for callers in this process.
    #[serde(skip)]
    pub session_ends_at: Option<Option<Moment>>,
}

impl Default for CreateSandbox {
    fn default() -> Self {
        Self {
            profile: "python-default".to_owned(),
            cargo_id: None,
            ttl: None,
            metadata: BTreeMap::new(),
            keep_session: false,
            note: None,
            session_ends_at: None,
        }
    }
}

/// An extension of a lifetime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExtendTtl {
    /// Seconds, counted from the expiry or from now, whichever is later.
    #[schema(minimum = 1)]
    pub extend_by: i64,
}
