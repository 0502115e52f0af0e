//! A plain status answer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
