//! What happens in a watched folder.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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

/// Which folder to watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct WatchQuery {
    /// Relative to `/workspace`.
    #[param(default = ".")]
    pub path: String,
    /// Whether folders in it are watched as well.
    pub recursive: bool,
}

impl Default for WatchQuery {
    fn default() -> Self {
        Self { path: ".".to_owned(), recursive: false }
    }
}

/// What happens to a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchFrame {
    /// The first: from here on nothing is missed.
    Watching {},
    /// Something has happened.
    Event(FolderEvent),
    /// So many events are lost: too many came at once.
    Lost(u64),
    /// Nothing has happened for a while; in a stream of server-sent events, a comment.
    Alive {},
    /// The folder itself is gone; nothing more will come.
    Gone {},
}
