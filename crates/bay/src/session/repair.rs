//! Noticing dead containers, and remaking one without losing the others.

use std::sync::{Arc, Weak};
use std::time::Duration;

use cove_api::{BayError, ErrorCode};
use futures_util::future::select_all;

use super::start::{BrowserStart, SessionPlan, ship_error, stop_all};
use super::{LiveContainer, LiveSession};
use crate::{Bay, BayResult};

impl Bay {
    /// Starts a container of a session anew, unless somebody else has meanwhile.
    pub(super) async fn repair(&self, session: &Arc<LiveSession>, place: usize) -> BayResult<Arc<LiveContainer>> {
        let none = || BayError::new(ErrorCode::InternalError, "the session has no such container");
        let spec = session.spec(place).ok_or_else(none)?;
        let found = session.container(place);
        if let Some(found) = found.as_ref().filter(|found| found.handle.is_alive()) {
            return Ok(Arc::clone(found));
        }
        let current = self.inner.sessions.get(&session.sandbox_id).is_some_and(|live| live.id == session.id);
        if !current {
            return Err(super::ensure::not_ready());
        }
        let again = found.is_some();
        tracing::info!(sandbox = %session.sandbox_id, container = %spec.name, again, "a container is started");
        let plan = SessionPlan {
            session_id: session.id.clone(),
            sandbox_id: session.sandbox_id.clone(),
            cargo_id: session.cargo_id.clone(),
            profile: Arc::clone(&session.profile),
            browser: BrowserStart::AtOnce,
        };
        self.hold_lease().await?;
        if let Some(found) = found {
            found.handle.stop().await;
        }
        match self.start_container(&plan, spec, session.cargo_limit_bytes).await {
            Ok(remade) => {
                session.replace(place, Arc::clone(&remade));
                self.watch_ports(&session.sandbox_id);
                let records = serde_json::to_value(session.records()).unwrap_or_default();
                let wanted = self.inner.store.update_containers(&session.id, &records).await?;
                if !wanted {
                    remade.handle.stop().await;
                    return Err(super::ensure::not_ready());
                }
                self.watch_containers(session);
                Ok(remade)
            }
            // The others go on.
            Err(error) if session.all().iter().any(|other| other.handle.is_alive()) => {
                Err(ship_error(&error, &spec.name))
            }
            Err(error) => {
                self.inner.sessions.take(&session.sandbox_id);
                stop_all(&session.all()).await;
                self.inner.store.session_failed(&session.id, &error.to_string()).await?;
                self.tell_state(&session.sandbox_id, "failed", Some(&error.to_string()));
                Err(ship_error(&error, &spec.name))
            }
        }
    }

    /// Waits for the first of a session's containers to end. When none is left the session is over: the sandbox is idle,
    /// and says so. A container that dies among living ones is remade when it is needed.
    pub(super) fn watch_containers(&self, session: &Arc<LiveSession>) {
        let (bay, session) = (Arc::downgrade(&self.inner), Arc::downgrade(session));
        tokio::spawn(async move {
            // Their ends are awaited, not they themselves held: a Bay that is dropped must be able to end them.
            let ends = session.upgrade().map(|session| session.all().iter().map(|one| one.handle.ended()).collect());
            let Some(ends) = ends.filter(|ends: &Vec<_>| !ends.is_empty()) else { return };
            select_all(ends).await;
            let (Some(inner), Some(session)) = (bay.upgrade(), Weak::upgrade(&session)) else { return };
            Bay { inner }.noticed(&session).await;
        });
    }

    async fn noticed(&self, session: &Arc<LiveSession>) {
        if session.all().iter().any(|container| container.handle.is_alive()) {
            return;
        }
        let Some(_turn) = self.inner.sessions.turn(&session.sandbox_id, Duration::from_secs(60).into()).await else {
            return;
        };
        let current = self.inner.sessions.get(&session.sandbox_id).is_some_and(|live| live.id == session.id);
        let dead = !session.all().iter().any(|container| container.handle.is_alive());
        // A call that is under way remakes what it needs.
        if !current || !dead || session.is_busy() {
            return;
        }
        self.inner.sessions.take(&session.sandbox_id);
        if self.inner.store.end_session(&session.id).await.unwrap_or(false) {
            self.tell_state(&session.sandbox_id, "idle", None);
        }
    }
}
