//! `/fs/watch`: what happens in a folder, told while it happens.

use serde::{Deserialize, Serialize};

use crate::Call;
use cove_api::WatchFrame;

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
