//! `/fs/watch`: what happens in a folder, told while it happens.

use serde::{Deserialize, Serialize};

use crate::Call;
use cove_api::FolderEvent;

/// A folder to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchFolder {
    /// Relative to the workspace.
    pub path: String,
    /// Whether folders in it are watched as well.
    #[serde(default)]
    pub recursive: bool,
}

impl Call for WatchFolder {
    type Answer = WatchFrame;
    const PATH: &'static str = "/fs/watch";
}

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchFrame {
    /// The first: from here on nothing is missed.
    Watching,
    /// Something has happened.
    Event(FolderEvent),
    /// So many events are lost: too many came at once.
    Lost(u64),
    /// Nothing has happened for a while.
    Alive,
    /// The folder itself is gone; nothing more will come.
    Gone,
}
