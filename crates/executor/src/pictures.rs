//! The picture store: where the pictures of runs are kept, whoever asked for the run and whichever engine drew.
//!
//! The folder becomes an artifact store with the first picture: a run that draws nothing must leave nothing behind, not
//! even an empty folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cove_artifacts::{ArtifactError, ArtifactStore, PictureMeta, PictureSource, StoreLimits};
use cove_core::{EngineName, Finished, KeptPicture, Picture, PictureFailure, RunRequest};

/// A folder that becomes an artifact store on first use.
#[derive(Debug)]
pub struct PictureStore {
    folder: PathBuf,
    limits: StoreLimits,
    store: Mutex<Option<Arc<ArtifactStore>>>,
}

impl PictureStore {
    /// Names the folder; touches nothing.
    pub fn at(folder: impl Into<PathBuf>, limits: StoreLimits) -> Self {
        Self { folder: folder.into(), limits, store: Mutex::new(None) }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The artifact store; made now if this is the first time.
    pub fn store(&self) -> Result<Arc<ArtifactStore>, ArtifactError> {
        let mut slot = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(store.clone());
        }
        let store = Arc::new(ArtifactStore::open(&self.folder, self.limits)?);
        *slot = Some(store.clone());
        Ok(store)
    }
}

/// Whether the pictures of a run are kept, and where.
#[derive(Debug, Clone)]
pub enum Pictures {
    /// In this store.
    Kept(Arc<PictureStore>),
    /// Nowhere, for this reason: a run that draws answers `canvas_export_failed`.
    Refused(String),
}

impl Default for Pictures {
    fn default() -> Self {
        Self::Refused("no artifact folder was given".to_owned())
    }
}

impl Pictures {
    /// Keeps what a run has drawn: `pictures` become `images`, or the reason why they could not.
    pub fn keep(&self, request: &RunRequest, engine: EngineName, finished: &mut Finished) {
        let pictures = std::mem::take(&mut finished.pictures);
        if pictures.is_empty() || finished.canvas_error.is_some() {
            return;
        }
        let saved: Result<_, PictureFailure> =
            pictures.iter().map(|picture| self.save(request, engine, picture)).collect();
        match saved {
            Ok(images) => finished.images = images,
            Err(error) => finished.canvas_error = Some(error),
        }
    }

    fn save(&self, request: &RunRequest, engine: EngineName, picture: &Picture) -> Result<KeptPicture, PictureFailure> {
        let store = match self {
            Self::Kept(pictures) => pictures.store().map_err(|error| PictureFailure::store(error.to_string()))?,
            Self::Refused(reason) => return Err(PictureFailure::store(reason)),
        };
        let (width, height) = (picture.width, picture.height);
        let meta = PictureMeta {
            message_id: request.message_id.clone(),
            agent_id: request.agent_id.clone(),
            width,
            height,
            source: match engine {
                EngineName::Embedded => PictureSource::Canvas,
                EngineName::Browser => PictureSource::BrowserCanvas,
            },
        };
        match store.save_picture(&picture.png, meta) {
            Ok(saved) => Ok(KeptPicture { file_name: saved.file_name, width, height }),
            Err(error @ (ArtifactError::TooLarge { .. } | ArtifactError::NotPng)) => {
                Err(PictureFailure::drawing(error.to_string()))
            }
            Err(error) => Err(PictureFailure::store(error.to_string())),
        }
    }
}
