//! Making sure of a session and of its containers, and ending one.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{BayError, ErrorCode, Moment};
use cove_core::{Deadline, SandboxId, SessionId};
use futures_util::future::join_all;

use super::start::{BrowserStart, SessionPlan, stop_all};
use super::{LiveContainer, LiveSession, Turn};
use crate::id::fresh;
use crate::{Bay, BayResult};
use cove_config::{Capability, Profile};
use cove_store::{Begin, NewSession, SandboxRow};

/// When a client whose session is not ready may ask again.
const RETRY_AFTER_MS: u64 = 500;

/// How long the end of a session waits for its turn; a start takes seconds at most, and is bounded itself.
const END_PATIENCE: Duration = Duration::from_secs(60);

impl Bay {
    /// The sandbox's session, started where there is none, for a call that needs this. One start for all who ask at once.
    pub(crate) async fn ensure_session(
        &self,
        row: &SandboxRow,
        profile: &Arc<Profile>,
        capability: Capability,
        deadline: Deadline,
    ) -> BayResult<Arc<LiveSession>> {
        // It may just be ending, or another Bay's by now; the row knows.
        let ours = |live: &Arc<LiveSession>| row.session.as_ref().is_some_and(|session| session.id == live.id);
        if let Some(live) = self.inner.sessions.get(&row.id).filter(ours) {
            return Ok(live);
        }
        self.open_for_work()?;
        self.may_start(capability == Capability::Filesystem)?;
        let browser = if capability == Capability::Browser { BrowserStart::AtOnce } else { BrowserStart::WhenNeeded };
        let (bay, row, profile) = (self.clone(), row.clone(), Arc::clone(profile));
        // On its own: who asked may go away, and a start that is given up halfway would leave a row behind.
        let starting = tokio::spawn(async move {
            let turn = bay.inner.sessions.turn(&row.id, deadline).await.ok_or_else(not_ready)?;
            bay.begin(&row, &profile, browser, &turn).await
        });
        match tokio::time::timeout_at(deadline.at().into(), starting).await {
            Ok(Ok(started)) => started,
            Ok(Err(error)) => {
                Err(BayError::new(ErrorCode::InternalError, format!("the start was interrupted: {error}")))
            }
            Err(_) => Err(not_ready()),
        }
    }

    /// The container at a place of a session, alive: a dead one is remade first, on the same workspace.
    pub(crate) async fn living_container(
        &self,
        session: &Arc<LiveSession>,
        place: usize,
        deadline: Deadline,
    ) -> BayResult<Arc<LiveContainer>> {
        if let Some(found) = session.container(place).filter(|found| found.handle.is_alive()) {
            return Ok(found);
        }
        let (bay, session) = (self.clone(), Arc::clone(session));
        let mending = tokio::spawn(async move {
            let turn = bay.inner.sessions.turn(&session.sandbox_id, deadline).await;
            let _turn = turn.ok_or_else(not_ready)?;
            bay.repair(&session, place).await
        });
        match mending.await {
            Ok(mended) => mended,
            Err(error) => Err(BayError::new(ErrorCode::InternalError, format!("the start was interrupted: {error}"))),
        }
    }

    async fn begin(
        &self,
        row: &SandboxRow,
        profile: &Arc<Profile>,
        browser: BrowserStart,
        _turn: &Turn,
    ) -> BayResult<Arc<LiveSession>> {
        if let Some(live) = self.inner.sessions.get(&row.id) {
            let known = self.inner.store.any_sandbox(&row.id).await?.and_then(|now| now.session);
            if known.is_some_and(|session| session.id == live.id) {
                return Ok(live);
            }
            self.inner.sessions.take(&row.id);
            stop_all(&live.all()).await;
        }
        self.open_for_work()?;
        if self.inner.config.limits.max_sessions.is_some_and(|most| self.inner.sessions.count() >= most) {
            let message = "too many sessions on this server; stop a sandbox first";
            return Err(BayError::new(ErrorCode::QuotaExceeded, message));
        }
        self.hold_lease().await?;
        let session_id = fresh::<SessionId>()?;
        let new = NewSession { id: &session_id, sandbox_id: &row.id, instance_id: &self.inner.instance_id };
        for _ in 0..3 {
            match self.inner.store.begin_session(&new, self.alive_since(), Moment::now()).await? {
                Begin::Mine => {
                    let plan = SessionPlan {
                        session_id,
                        sandbox_id: row.id.clone(),
                        cargo_id: row.cargo_id.clone(),
                        profile: Arc::clone(profile),
                        browser,
                    };
                    return self.start_session(plan).await;
                }
                // A row of ours without a session of ours: it was lost, and nobody else will take it away.
                Begin::Other(other) if other.instance_id == self.inner.instance_id => {
                    self.inner.store.end_session(&other.id).await?;
                }
                Begin::Other(other) => return Err(not_ready().with("instance", other.instance_id)),
                Begin::Over => {
                    let now = self.inner.store.any_sandbox(&row.id).await?;
                    return Err(match now {
                        Some(_) => crate::sandboxes::expired(),
                        None => crate::sandboxes::not_found(&row.id),
                    });
                }
            }
        }
        Err(not_ready())
    }

    /// Ends a sandbox's session (or none but this one), wherever it is in its life; returns when nothing of it is left
    /// here.
    pub(crate) async fn end_session_of(&self, sandbox_id: &SandboxId, which: Option<&SessionId>) -> BayResult<()> {
        let _turn = self.inner.sessions.turn(sandbox_id, END_PATIENCE.into()).await;
        let live = self.inner.sessions.get(sandbox_id);
        if let Some(live) = live.filter(|live| which.is_none_or(|which| *which == live.id)) {
            self.inner.sessions.take(sandbox_id);
            stop_all(&live.all()).await;
            self.inner.store.must(|| self.inner.store.end_session(&live.id)).await?;
        }
        Ok(())
    }

    /// Ends every session of this Bay.
    pub(crate) async fn end_all_sessions(&self) {
        let all = self.inner.sessions.all();
        let ended = join_all(all.iter().map(|session| self.end_session_of(&session.sandbox_id, None))).await;
        for error in ended.into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "a session could not be ended cleanly");
        }
    }
}

/// Not yet; ask again.
pub(crate) fn not_ready() -> BayError {
    let refusal = BayError::new(ErrorCode::SessionNotReady, "the session is starting; try again");
    refusal.with("retry_after_ms", RETRY_AFTER_MS)
}
