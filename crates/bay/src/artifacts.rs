//! Artifacts of a sandbox's JavaScript.

use cove_api::ArtifactList;

use crate::{Answer, Bay, Download, Owner};

impl Bay {
    /// All of them.
    pub async fn list_artifacts(&self, owner: &Owner, id: &str) -> Answer<ArtifactList> {
        let _ = (owner, id);
        Err(crate::bay::unbuilt())
    }

    /// One of them.
    pub async fn artifact(&self, owner: &Owner, id: &str, name: &str) -> Answer<Download> {
        let _ = (owner, id, name);
        Err(crate::bay::unbuilt())
    }
}
