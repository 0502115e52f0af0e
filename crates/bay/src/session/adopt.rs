//! Containers that outlive their Bay: whoever comes next goes on with them, and ends those that nobody can go on with.
//!
//! The records decide. A container whose session is not there, is another's that lives, or never became ready, is not gone
//! on with; of two Bays that want the same session one gets its row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cove_api::{GcTaskReport, Moment};
use cove_core::Deadline;
use futures_util::StreamExt as _;

use super::start::live_container;
use super::{BrowserStart, LiveContainer, LiveSession, SessionPlan, idle_end};
use crate::sandboxes::driver_fault;
use crate::{Bay, BayResult};
use cove_drivers::{ContainerOrder, FoundContainer};
use cove_store::{Kind, SessionRow, SessionState};

/// How long a runtime that ran before may take to say that it still does.
const META_LIMIT: Duration = Duration::from_secs(5);

/// Containers that are ended at the same time: an engine's answers become slow with more.
const ENDS_AT_ONCE: usize = 16;

/// What becomes of the containers of one session.
enum Fate {
    /// Somebody has them.
    Kept,
    /// This Bay may go on with them.
    Ours(Box<SessionRow>),
    /// Nobody needs them.
    Over,
}

impl Bay {
    /// Goes on with what Bays that are gone have left running, and ends the rest of it. `first`: before this Bay has
    /// started anything itself, so that what is in its name was left by an earlier one.
    pub(crate) async fn settle_found(&self, first: bool, report: &mut GcTaskReport) -> BayResult<()> {
        let found = self.inner.driver.found().await.map_err(|error| driver_fault(&error))?;
        let mut sessions: BTreeMap<String, Vec<FoundContainer>> = BTreeMap::new();
        for container in found {
            sessions.entry(container.session_id.clone()).or_default().push(container);
        }
        let mut unwanted = Vec::new();
        for (session_id, containers) in sessions {
            match self.fate(&session_id, first).await? {
                Fate::Kept => {}
                Fate::Ours(row) => unwanted.extend(self.adopt_session(&row, containers).await?),
                Fate::Over => unwanted.extend(containers),
            }
        }
        // Together: one on a machine that is gone takes its whole time, and Bay may be about to start.
        let ends = unwanted.into_iter().map(|container| self.end_unwanted(container));
        let mut ends = futures_util::stream::iter(ends).buffer_unordered(ENDS_AT_ONCE);
        while let Some(ended) = ends.next().await {
            match ended {
                Ok(()) => report.cleaned += 1,
                Err(error) => report.errors.push(error),
            }
        }
        if first {
            // Rows in this Bay's name that nothing runs for.
            for id in self.inner.store.wanted_sessions(&self.inner.instance_id).await? {
                if !self.inner.sessions.all().iter().any(|session| session.id == id) {
                    self.inner.store.end_session(&id).await?;
                }
            }
            self.end_earlier_bays().await?;
        }
        Ok(())
    }

    async fn end_unwanted(&self, container: FoundContainer) -> Result<(), String> {
        let ended = self.inner.driver.end_found(&container).await;
        ended.map_err(|error| format!("{}: {error}", container.container_id))
    }

    /// A database that is a file has one Bay at a time: all others are gone, however lately they were heard, and nothing that
    /// runs is left in their names. Without this a start that one of them was killed in would keep callers out for as long as
    /// its last heartbeat is fresh.
    async fn end_earlier_bays(&self) -> BayResult<()> {
        let store = &self.inner.store;
        if store.kind() != Kind::Sqlite {
            return Ok(());
        }
        let all = store.dead_instances(Moment::from_micros(i64::MAX)).await?;
        for id in all.iter().filter(|id| **id != self.inner.instance_id) {
            store.remove_instance(id).await?;
        }
        Ok(())
    }

    async fn fate(&self, session_id: &str, first: bool) -> BayResult<Fate> {
        let store = &self.inner.store;
        let Some(row) = store.session(session_id).await? else { return Ok(Fate::Over) };
        let is_mine = row.instance_id == self.inner.instance_id;
        let lives = if is_mine {
            !first
        } else {
            // A database that is a file has one Bay at a time.
            store.kind() == Kind::Postgres && store.live_instance(&row.instance_id, self.alive_since()).await?.is_some()
        };
        Ok(match (lives, row.state) {
            (true, _) => Fate::Kept,
            (false, SessionState::Ready) => Fate::Ours(Box::new(row)),
            (false, _) => {
                store.end_session(&row.id).await?;
                Fate::Over
            }
        })
    }

    /// Goes on with a session; what of it is not wanted comes back.
    async fn adopt_session(&self, row: &SessionRow, containers: Vec<FoundContainer>) -> BayResult<Vec<FoundContainer>> {
        let store = &self.inner.store;
        let sandbox = store.any_sandbox(&row.sandbox_id).await?.filter(|sandbox| !sandbox.expired(Moment::now()));
        let profile = sandbox.as_ref().and_then(|sandbox| self.profile(&sandbox.profile));
        let cargo = match &sandbox {
            Some(sandbox) => store.any_cargo(&sandbox.cargo_id).await?,
            None => None,
        };
        let (Some(sandbox), Some(profile), Some(cargo)) = (sandbox, profile, cargo) else {
            store.end_session(&row.id).await?;
            return Ok(containers);
        };
        if !store.take_session(&row.id, &row.instance_id, &self.inner.instance_id).await? {
            // Another Bay was first, and has them.
            return Ok(Vec::new());
        }
        let plan = SessionPlan {
            session_id: row.id.clone(),
            sandbox_id: row.sandbox_id.clone(),
            cargo_id: sandbox.cargo_id.clone(),
            profile: Arc::clone(profile),
            browser: BrowserStart::WhenNeeded,
        };
        let cargo_limit_bytes = u64::from(cargo.info.size_limit_mb) << 20;
        let (mut unwanted, mut places) = (Vec::new(), vec![None; profile.containers.len()]);
        for found in containers {
            let place = profile.containers.iter().position(|spec| spec.name == found.name);
            let Some(place) = place.filter(|place| found.usable && places[*place].is_none()) else {
                unwanted.push(found);
                continue;
            };
            let spec = &profile.containers[place];
            let ways = self.ways(&plan, spec).await?;
            let order = plan.order(found.container_id.clone(), spec, cargo_limit_bytes, ways);
            match self.adopt_container(&found, order).await {
                Some(container) => places[place] = Some(container),
                None => unwanted.push(found),
            }
        }
        if places.iter().all(Option::is_none) {
            store.end_session(&row.id).await?;
            return Ok(unwanted);
        }
        let idle = row.idle_expires_at.unwrap_or_else(|| idle_end(profile));
        let session = Arc::new(LiveSession::new(&plan, cargo_limit_bytes, places, idle));
        let records = serde_json::to_value(session.records()).unwrap_or_default();
        store.update_containers(&session.id, &records).await?;
        tracing::info!(sandbox = %session.sandbox_id, "adopted a session from an earlier Bay");
        self.inner.sessions.put(Arc::clone(&session));
        self.watch_containers(&session);
        Ok(unwanted)
    }

    async fn adopt_container(&self, found: &FoundContainer, order: ContainerOrder) -> Option<Arc<LiveContainer>> {
        let spec = order.spec.clone();
        let adopted = async {
            let handle = self.inner.driver.adopt(found, order).await?;
            live_container(handle, spec, Deadline::after(META_LIMIT)).await
        };
        match adopted.await {
            Ok(container) => Some(container),
            Err(error) => {
                tracing::info!(container = %found.container_id, %error, "a container could not be adopted");
                None
            }
        }
    }
}
