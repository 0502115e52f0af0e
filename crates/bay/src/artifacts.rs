//! Artifacts of a sandbox's JavaScript: pictures that its runs drew.
//!
//! They lie outside of the workspace, so guest code can neither change nor fill them in by another way than drawing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cove_api::SandboxId;
use cove_api::{ArtifactInfo, ArtifactList, BayError, ErrorCode, Moment};
use cove_artifacts::{ArtifactError, ArtifactName};

use crate::{Bay, BayResult, Download, Owner};

/// What the pictures of each owner's sandboxes take, as far as it is known: an owner is looked at when one of its runs has
/// drawn something, and from then on each of its sandboxes when it draws.
#[derive(Debug, Default)]
pub(crate) struct Pictures(Mutex<HashMap<Owner, HashMap<SandboxId, u64>>>);

impl Pictures {
    fn of(&self) -> MutexGuard<'_, HashMap<Owner, HashMap<SandboxId, u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all of an owner's take, as far as it is known.
    pub(crate) fn bytes(&self, owner: &Owner) -> u64 {
        self.of().get(owner).map_or(0, |sandboxes| sandboxes.values().sum())
    }

    fn forget(&self, sandbox_id: &SandboxId) {
        for sandboxes in self.of().values_mut() {
            sandboxes.remove(sandbox_id);
        }
    }
}

/// A picture is read in one piece and sent in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

impl Bay {
    /// All of them, the newest first.
    pub async fn list_artifacts(&self, owner: &Owner, id: &SandboxId) -> BayResult<ArtifactList> {
        self.alive_row(owner, id).await?;
        let pictures = self.inner.javascript.pictures(id);
        let listed = off_thread(move || {
            // A sandbox that never drew has no folder, and none is made by asking.
            if pictures.folder().is_dir() { pictures.store()?.list() } else { Ok(Vec::new()) }
        });
        let items = listed.await?.into_iter().rev().map(|listed| ArtifactInfo {
            name: listed.name.to_string(),
            media_type: listed.name.kind.mime().to_owned(),
            size: listed.bytes,
            created_at: moment(listed.modified),
        });
        Ok(ArtifactList { items: items.collect() })
    }

    /// One of them.
    pub async fn artifact(&self, owner: &Owner, id: &SandboxId, name: &str) -> BayResult<Download> {
        self.alive_row(owner, id).await?;
        let gone = || BayError::new(ErrorCode::FileNotFound, format!("the sandbox has no artifact {name:?}"));
        let wanted: ArtifactName = name.parse().map_err(|_| gone())?;
        let pictures = self.inner.javascript.pictures(id);
        if !pictures.folder().is_dir() {
            return Err(gone());
        }
        let artifact = off_thread(move || pictures.store()?.read(wanted.id)).await?;
        if artifact.name != wanted {
            return Err(gone());
        }
        let bytes = Bytes::from(artifact.bytes);
        let size = bytes.len();
        let pieces =
            (0..size).step_by(PIECE_BYTES).map(move |from| Ok(bytes.slice(from..size.min(from + PIECE_BYTES))));
        Ok(Download {
            name: name.to_owned(),
            size: Some(size as u64),
            bytes: Box::pin(futures_util::stream::iter(pieces)),
        })
    }

    /// Why a run may keep no pictures, if it may not: the owner has as many as it may, or the disk is nearly full.
    pub(crate) fn no_pictures(&self, owner: &Owner) -> Option<String> {
        let (held, limit) = (self.inner.pictures.bytes(owner), self.inner.config.limits.max_artifacts_mb);
        if held >= u64::from(limit) << 20 {
            return Some(format!(
                "your sandboxes hold {} MB of pictures, and the limit is {limit} MB (limits.max_artifacts_mb): \
                 delete sandboxes that you no longer need",
                held >> 20
            ));
        }
        self.may_grow().err().map(|refusal| refusal.message)
    }

    /// A run has drawn: what its sandbox keeps is counted anew, and what the owner's others keep once.
    pub(crate) async fn count_pictures(&self, owner: &Owner, sandbox_id: &SandboxId) -> BayResult<()> {
        let known = self.inner.pictures.of().contains_key(owner);
        let mut ids = if known { Vec::new() } else { self.store().sandboxes_of(owner).await? };
        ids.push(sandbox_id.clone());
        let root = self.inner.javascript.artifacts_root().to_owned();
        let counted = tokio::task::spawn_blocking(move || {
            let bytes = |id: &SandboxId| {
                let files = std::fs::read_dir(root.join(id.as_str())).into_iter().flatten().flatten();
                files.filter_map(|file| Some(file.metadata().ok()?.len())).sum::<u64>()
            };
            ids.into_iter().map(|id| (bytes(&id), id)).map(|(bytes, id)| (id, bytes)).collect::<Vec<_>>()
        });
        let counted = counted.await.unwrap_or_default();
        self.inner.pictures.of().entry(owner.clone()).or_default().extend(counted);
        Ok(())
    }

    /// Removes a sandbox's artifacts; for `delete` and the collector. What cannot be removed is found again by the latter.
    pub(crate) async fn remove_artifacts(&self, sandbox_id: &SandboxId) {
        self.inner.pictures.forget(sandbox_id);
        let folder = self.inner.javascript.forget_pictures(sandbox_id);
        let _ = tokio::task::spawn_blocking(move || cove_workspace::remove_folder(&folder)).await;
    }

    /// Ids of the sandboxes that have artifacts on the disk; for the collector.
    pub(crate) fn sandboxes_with_artifacts(&self) -> Vec<SandboxId> {
        if !self.inner.driver.cargos().is_known() {
            return Vec::new();
        }
        let entries = std::fs::read_dir(self.inner.javascript.artifacts_root()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).collect()
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ArtifactError> + Send + 'static,
) -> BayResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| BayError::new(ErrorCode::InternalError, "the artifacts could not be read"))?;
    done.map_err(|error| match &error {
        ArtifactError::NotFound { .. } => BayError::new(ErrorCode::FileNotFound, error.to_string()),
        _ => BayError::new(ErrorCode::InternalError, error.to_string()),
    })
}

fn moment(time: std::time::SystemTime) -> Moment {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
