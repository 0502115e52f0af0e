//! The door: one value that is Bay.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{BayError, ErrorCode, ProfileList};

use crate::events::Events;
use crate::javascript::{EngineOptions, JavaScriptRoom};

/// Bay: every verb is a method. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Bay {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) events: Events,
    pub(crate) javascript: JavaScriptRoom,
}

/// Why Bay could not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

impl Bay {
    /// Opens the store, ends what an earlier Bay left behind, and begins to keep house.
    pub async fn open() -> Result<Self, StartError> {
        let javascript = JavaScriptRoom::new(std::env::temp_dir().join("cove-artifacts"), EngineOptions::default());
        Ok(Self { inner: Arc::new(Inner { events: Events::default(), javascript }) })
    }

    /// Takes no more work, waits so long for what runs, then ends everything that this Bay started.
    pub async fn close(&self, grace: Duration) {
        let _ = grace;
        self.inner.javascript.close().await;
        self.inner.events.end_all();
    }

    /// The profiles that sandboxes can be made of.
    pub fn profiles(&self, detail: bool) -> ProfileList {
        let _ = detail;
        ProfileList { items: Vec::new() }
    }
}

/// Stands where a verb is still to be built.
pub(crate) fn unbuilt() -> BayError {
    BayError::new(ErrorCode::InternalError, "this verb is not built yet")
}
