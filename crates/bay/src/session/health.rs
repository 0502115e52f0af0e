//! Whether a runtime still works: it is asked to run something, and a runtime that does not answer is ended, so that
//! the next call gets a new one.
//!
//! That a process is alive says little: a stopped process, or one that waits for ever, is alive as well.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use cove_api::{BayError, ErrorCode, RuntimeCause, SandboxId};
use cove_core::Deadline;
use cove_runtime_api::HealthRequest;
use futures_util::future::join_all;

use super::{LiveContainer, LiveSession};
use crate::Bay;

/// How long a runtime may take before it is ended. Its own look at its health takes five seconds at most, and a sandbox
/// that uses all its processors is slow and not ill.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long somebody who only wants to see the sandbox waits for the look.
const CHECK_LIMIT: Duration = Duration::from_secs(3);

/// How long the last good look counts.
const FRESH: Duration = Duration::from_secs(2);

/// The same for those who want to see many sandboxes at once: each look is a program that runs.
const FRESH_IN_LISTS: Duration = Duration::from_secs(30);

/// When a call that has no answer yet makes us look, and how often again.
const FIRST_LOOK: Duration = Duration::from_secs(2);
const NEXT_LOOK: Duration = Duration::from_secs(10);

impl LiveContainer {
    /// Whether it lives and answered when it was last looked at.
    pub(crate) fn is_well(&self) -> bool {
        self.handle.is_alive() && self.seen().is_none_or(|(_, well)| well)
    }

    fn seen(&self) -> Option<(Instant, bool)> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at it, unless that was just done.
    async fn look(&self, fresh: Duration, limit: Duration) -> bool {
        if self.seen().is_some_and(|(at, well)| well && at.elapsed() < fresh) {
            return true;
        }
        let well = self.client.call(&HealthRequest, Deadline::after(limit)).await.is_ok();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), well));
        well
    }

    async fn end_wedged(&self) {
        tracing::warn!(container = %self.spec.name, "a runtime does not answer any more and is ended");
        metrics::counter!("cove_wedged_runtimes_total").increment(1);
        self.handle.stop().await;
    }

    /// Looks at it for as long as it is well; ends it and returns when it is not.
    pub(crate) async fn watch(&self) -> BayError {
        tokio::time::sleep(FIRST_LOOK).await;
        while !self.handle.is_alive() || self.look(FRESH, PATIENCE).await {
            tokio::time::sleep(NEXT_LOOK).await;
        }
        self.end_wedged().await;
        self.wedged()
    }

    /// What a call is told that was with a runtime which did not answer any more.
    fn wedged(&self) -> BayError {
        let message =
            "the runtime stopped responding and was ended; the next call starts a new one with the same files";
        BayError::new(ErrorCode::ShipError, message)
            .caused_by(RuntimeCause::Silent)
            .with("container", self.spec.name.as_str())
    }

    /// The same for a call whose line broke when it was ended; none where it broke for another reason.
    pub(crate) fn ended_for_silence(&self) -> Option<BayError> {
        self.seen().is_some_and(|(_, well)| !well).then(|| self.wedged())
    }
}

impl Bay {
    /// Looks at a session for somebody who wants to see its sandbox.
    pub(crate) async fn check_health(&self, sandbox_id: &SandboxId) {
        self.check_health_of(sandbox_id, FRESH).await;
    }

    /// Looks at the sessions of these sandboxes, where nobody has for a while.
    pub(crate) async fn check_health_of_all(&self, sandbox_ids: impl Iterator<Item = &SandboxId>) {
        join_all(sandbox_ids.map(|id| self.check_health_of(id, FRESH_IN_LISTS))).await;
    }

    async fn check_health_of(&self, sandbox_id: &SandboxId, fresh: Duration) {
        let Some(session) = self.inner.sessions.get(sandbox_id) else { return };
        let living = session.all().into_iter().filter(|one| one.handle.is_alive());
        join_all(living.map(|container| check_health(container, fresh))).await;
    }

    /// Whether every container of a session that lives answered when it was last looked at.
    pub(crate) fn is_well(session: &LiveSession) -> bool {
        session.all().iter().all(|container| !container.handle.is_alive() || container.is_well())
    }
}

/// Who is not well at a check_health is looked at again with more patience, and ended if that does not help.
async fn check_health(container: Arc<LiveContainer>, fresh: Duration) {
    if !container.look(fresh, CHECK_LIMIT).await {
        tokio::spawn(async move {
            if container.handle.is_alive() && !container.look(FRESH, PATIENCE).await {
                container.end_wedged().await;
            }
        });
    }
}
