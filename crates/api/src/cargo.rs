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
    /// Whether it was created for a sandbox and is deleted with it.
    pub managed: bool,
    /// That sandbox.
    #[schema(value_type = Option<String>)]
    pub managed_by_sandbox_id: Option<SandboxId>,
    /// How it is stored and how its limit is enforced: `local+loop`, `local+watch`, …
    pub backend: String,
    /// Its size limit in MB.
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
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Which cargos.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CargoQuery {
    /// True: cargos that were created for a sandbox and are deleted with it. False: cargos that the caller created.
    pub managed: Option<bool>,
    /// Maximum number of results; default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A cargo to create.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CreateCargo {
    /// Its size limit in MB; default: the configured one.
    #[schema(minimum = 1, maximum = 65536)]
    pub size_limit_mb: Option<u32>,
}
