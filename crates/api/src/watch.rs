//! What happens in a watched folder.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What has happened to a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FolderChange {
    /// It is there now.
    Created,
    /// Its content was changed.
    Written,
    /// It is gone.
    Removed,
    /// It has another name now, or is elsewhere; where that is watched, too, it is created there.
    Renamed,
    /// Its permissions or other attributes were changed.
    Attributes,
}

/// One change in a watched folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FolderEvent {
    /// The name, relative to the watched folder.
    pub path: String,
    /// What has happened.
    pub change: FolderChange,
}
