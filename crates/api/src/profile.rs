//! Profiles: recipes for sandboxes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Resource limits of a container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Resources {
    /// Processors; 0.5 is half of one.
    pub cpus: f64,
    /// Memory, as `512m` or `1g`.
    pub memory: String,
}

/// A profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProfileInfo {
    /// Its name.
    pub id: String,
    /// Image of the first container; not used by the local driver.
    pub image: String,
    /// Resource limits of its first container.
    pub resources: Resources,
    /// Its capabilities.
    pub capabilities: Vec<String>,
    /// Seconds without a call after which its session ends.
    pub idle_timeout: u64,
    /// What it is for; with `detail=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its containers; with `detail=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<Vec<ContainerProfile>>,
}

/// One container of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContainerProfile {
    /// Its name.
    pub name: String,
    /// `ship` or `gull`.
    pub runtime_type: String,
    /// Its capabilities.
    pub capabilities: Vec<String>,
    /// Its resource limits.
    pub resources: Resources,
}

/// All profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProfileList {
    /// The profiles.
    pub items: Vec<ProfileInfo>,
}
