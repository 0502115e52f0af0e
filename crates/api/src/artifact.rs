//! Artifacts: pictures and other results of JavaScript runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Moment;

/// One artifact of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArtifactInfo {
    /// Its file name, `<uuid>.png`.
    pub name: String,
    /// `image/png`, …
    pub media_type: String,
    /// Its size.
    pub size: u64,
    /// When it was made.
    pub created_at: Moment,
}

/// A sandbox's artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArtifactList {
    /// Newest first.
    pub items: Vec<ArtifactInfo>,
}
