//! A folder of a workspace, watched. While somebody watches, the session is in use.

use std::sync::Arc;
use std::time::Duration;

use cove_api::SandboxId;
use cove_runtime_api::{Frames, WatchFolder, WatchFrame};

use crate::files::relative;
use crate::router::{Route, broken};
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

/// How long a watch may take to begin.
const LIMIT: Duration = Duration::from_secs(30);

/// A watched folder. Dropping this ends the watch.
pub struct FolderWatch {
    bay: Bay,
    route: Route,
    frames: Frames<WatchFrame>,
}

impl std::fmt::Debug for FolderWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderWatch").field("sandbox", &self.route.session.sandbox_id).finish_non_exhaustive()
    }
}

impl FolderWatch {
    /// What happens next. May be dropped and called again.
    pub async fn next(&mut self) -> BayResult<WatchFrame> {
        let next = tokio::select! {
            frame = self.frames.next() => frame,
            wedged = self.route.container.watch() => return Err(self.bay.ended(&self.route).await?.unwrap_or(wedged)),
        };
        match next {
            Ok(frame) => Ok(frame),
            Err(error) => Err(self.bay.ended(&self.route).await?.unwrap_or_else(|| broken(&error))),
        }
    }
}

impl Bay {
    /// Watches a folder; when this comes back, nothing is missed any more.
    pub async fn watch_folder(
        &self,
        owner: &Owner,
        id: &SandboxId,
        path: &str,
        recursive: bool,
    ) -> BayResult<FolderWatch> {
        let request = WatchFolder { path: relative(path)?, recursive };
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let mut route = self.route(&call).await?;
        let (request, deadline) = (&request, call.work_deadline());
        let asked = |container: Arc<crate::session::LiveContainer>| async move {
            container.client.follow(request, deadline).await
        };
        let frames = self.ask(&call, &mut route, asked).await?;
        let mut watch = FolderWatch { bay: self.clone(), route, frames };
        watch.next().await?;
        Ok(watch)
    }
}
