//! Pages of lists, and the smallest answer.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// How many at most; 50 unless said otherwise.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// `ok`, `stopped`.
    pub status: String,
}

impl Status {
    /// `{"status":"ok"}`
    pub fn ok() -> Self {
        Self { status: "ok".to_owned() }
    }
}
