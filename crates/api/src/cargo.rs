//! Cargos: the volumes behind `/workspace`.

use cove_core::{CargoId, SandboxId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Moment;

/// The largest cargo that can be asked for.
pub const MAX_CARGO_MB: u32 = 65_536;

/// A cargo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CargoInfo {
    /// `ws-` and 12 hex digits.
    #[schema(value_type = String)]
    pub id: CargoId,
    /// Whether it was made for a sandbox and goes with it.
    pub managed: bool,
    /// That sandbox.
    #[schema(value_type = Option<String>)]
    pub managed_by_sandbox_id: Option<SandboxId>,
    /// What holds it, and how its limit is kept: `local+loop`, `local+watch`, …
    pub backend: String,
    /// What may be in it.
    pub size_limit_mb: u32,
    /// When it was made.
    pub created_at: Moment,
    /// When a sandbox last used it.
    pub last_accessed_at: Moment,
}

/// A page of cargos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CargoList {
    /// The cargos of this page.
    pub items: Vec<CargoInfo>,
    /// For the next page; none: this was the last.
    pub next_cursor: Option<String>,
}

/// Which cargos.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CargoQuery {
    /// True: those that were made for a sandbox and go with it. Else those of the caller's own making.
    pub managed: Option<bool>,
    /// How many at most; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A wish for a cargo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CreateCargo {
    /// What may be in it; none: as configured.
    #[schema(minimum = 1, maximum = 65536)]
    pub size_limit_mb: Option<u32>,
}
