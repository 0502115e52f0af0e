//! Where pictures go: an artifact store that is opened when the first picture comes.
//!
//! A run that draws nothing must leave nothing behind, not even an empty folder.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::{Arc, PoisonError};

use cove_artifacts::{ArtifactStore, StoreError, StoreLimits};

/// A folder that becomes a store on first use.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    limits: StoreLimits,
    store: Mutex<Option<Arc<ArtifactStore>>>,
}

impl Shelf {
    /// Names the folder; touches nothing.
    pub fn at(folder: impl Into<PathBuf>, limits: StoreLimits) -> Self {
        Self { folder: folder.into(), limits, store: Mutex::new(None) }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The store; made now if this is the first time.
    pub fn store(&self) -> Result<Arc<ArtifactStore>, StoreError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(store.clone());
        }
        let store = Arc::new(ArtifactStore::open(&self.folder, self.limits)?);
        *slot = Some(store.clone());
        Ok(store)
    }
}
