//! Sessions: the containers of a sandbox while it is in use.
//!
//! The store says which Bay has a sandbox's session; this is what that Bay has of it. One caller at a time starts,
//! repairs or ends a session, and the others wait; callers that only use it do not wait.

mod adopt;
mod ensure;
mod health;
mod repair;
mod start;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use cove_api::{ContainerInfo, Moment};
use cove_core::{CargoId, Deadline, SandboxId, SessionId};
use cove_runtime_api::RuntimeClient;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore};

use cove_config::{Capability, ContainerSpec, Profile};
use cove_drivers::Container;

pub(crate) use ensure::not_ready;
pub(crate) use start::{BrowserStart, SessionPlan};

/// A session that runs here.
#[derive(Debug)]
pub(crate) struct LiveSession {
    /// Its id.
    pub(crate) id: SessionId,
    /// Whose it is.
    pub(crate) sandbox_id: SandboxId,
    /// What it is made of.
    pub(crate) profile: Arc<Profile>,
    /// Its workspace.
    pub(crate) cargo_id: CargoId,
    /// What may be in that.
    pub(crate) cargo_limit_bytes: u64,
    /// One for each of the profile's containers, in its order; replaced when dead. None where one could not start: it is
    /// tried again when it is needed.
    containers: Vec<RwLock<Option<Arc<LiveContainer>>>>,
    idle_expires_micros: AtomicI64,
    /// Whether the store does not know yet when it ends.
    dirty: AtomicBool,
    running: AtomicUsize,
    /// How many terminals are open.
    pub(crate) terminals: Arc<AtomicUsize>,
    /// Places for connections to ports.
    pub(crate) port_places: Arc<Semaphore>,
    /// Whether somebody tells of its ports.
    pub(crate) ports_watched: AtomicBool,
    /// What the workspace was last seen to hold, when, and what came since.
    weighed: Mutex<Option<Weighed>>,
    /// Whether it was ended to keep the disk from filling up.
    for_disk: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
struct Weighed {
    bytes: u64,
    at: Instant,
    took: Duration,
}

/// A container that runs here.
#[derive(Debug)]
pub(crate) struct LiveContainer {
    /// Which of the profile's it is.
    pub(crate) spec: ContainerSpec,
    /// Its handle.
    pub(crate) handle: Arc<dyn Container>,
    /// Speaks to it; connections are kept.
    pub(crate) client: RuntimeClient,
    /// The runtime's version.
    pub(crate) version: Option<String>,
    /// What the profile wants of it and its `/meta` lists.
    pub(crate) capabilities: Vec<Capability>,
    started_at: Moment,
    /// When it was last looked at, and whether it was well.
    seen: Mutex<Option<(Instant, bool)>>,
}

/// A container as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ContainerRecord {
    pub(crate) name: String,
    pub(crate) runtime_type: String,
    pub(crate) container_id: String,
    pub(crate) endpoint: String,
    pub(crate) pid: Option<u32>,
    pub(crate) started_at: Moment,
    pub(crate) capabilities: Vec<String>,
    pub(crate) version: Option<String>,
}

impl ContainerRecord {
    /// For the wire.
    pub(crate) fn info(self, healthy: Option<bool>) -> ContainerInfo {
        ContainerInfo {
            name: self.name,
            runtime_type: self.runtime_type,
            status: if healthy == Some(false) { "stopped" } else { "running" }.to_owned(),
            version: self.version,
            capabilities: self.capabilities,
            healthy,
        }
    }
}

impl LiveContainer {
    fn record(&self) -> ContainerRecord {
        ContainerRecord {
            name: self.spec.name.clone(),
            runtime_type: self.spec.runtime_type.as_str().to_owned(),
            container_id: self.handle.id().to_owned(),
            endpoint: self.handle.endpoint().to_string(),
            pid: self.handle.pid(),
            started_at: self.started_at,
            capabilities: self.capabilities.iter().map(ToString::to_string).collect(),
            version: self.version.clone(),
        }
    }
}

impl LiveSession {
    /// Containers that run, in the profile's order.
    fn new(
        plan: &SessionPlan,
        cargo_limit_bytes: u64,
        containers: Vec<Option<Arc<LiveContainer>>>,
        idle_end: Moment,
    ) -> Self {
        Self {
            id: plan.session_id.clone(),
            sandbox_id: plan.sandbox_id.clone(),
            profile: Arc::clone(&plan.profile),
            cargo_id: plan.cargo_id.clone(),
            cargo_limit_bytes,
            containers: containers.into_iter().map(RwLock::new).collect(),
            idle_expires_micros: AtomicI64::new(idle_end.micros()),
            dirty: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            terminals: Arc::default(),
            port_places: Arc::new(Semaphore::new(crate::ports::MAX_OF_SESSION)),
            ports_watched: AtomicBool::new(false),
            weighed: Mutex::new(None),
            for_disk: AtomicBool::new(false),
        }
    }

    /// The container at a place, unless it could not start.
    pub(crate) fn container(&self, place: usize) -> Option<Arc<LiveContainer>> {
        self.containers.get(place)?.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the container at a place is to be.
    pub(crate) fn spec(&self, place: usize) -> Option<&ContainerSpec> {
        self.profile.containers.get(place)
    }

    /// What the container at a place can do; one that could not start: what the profile wants of it.
    pub(crate) fn capabilities(&self, place: usize) -> Vec<Capability> {
        match self.container(place) {
            Some(container) => container.capabilities.clone(),
            None => self.spec(place).map(|spec| spec.capabilities.clone()).unwrap_or_default(),
        }
    }

    /// All that could start.
    pub(crate) fn all(&self) -> Vec<Arc<LiveContainer>> {
        (0..self.containers.len()).filter_map(|place| self.container(place)).collect()
    }

    fn replace(&self, place: usize, container: Arc<LiveContainer>) {
        if let Some(slot) = self.containers.get(place) {
            *slot.write().unwrap_or_else(PoisonError::into_inner) = Some(container);
        }
    }

    /// As the store keeps them.
    pub(crate) fn records(&self) -> Vec<ContainerRecord> {
        self.all().iter().map(|container| container.record()).collect()
    }

    /// A call came: its end for want of calls moves.
    pub(crate) fn touch(&self) -> Moment {
        let end = idle_end(&self.profile);
        self.idle_expires_micros.store(end.micros(), Ordering::Relaxed);
        self.dirty.store(true, Ordering::Relaxed);
        end
    }

    /// When it ends for want of calls.
    pub(crate) fn idle_expires_at(&self) -> Moment {
        Moment::from_micros(self.idle_expires_micros.load(Ordering::Relaxed))
    }

    /// It is ended to keep the disk from filling up: calls that are under way are told so.
    pub(crate) fn end_for_disk(&self) {
        self.for_disk.store(true, Ordering::SeqCst);
    }

    /// Whether it was.
    pub(crate) fn ended_for_disk(&self) -> bool {
        self.for_disk.load(Ordering::SeqCst)
    }

    /// Whether a call runs in it.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.load(Ordering::SeqCst) > 0
    }

    /// What the store does not know yet.
    pub(crate) fn take_dirty(&self) -> bool {
        self.dirty.swap(false, Ordering::Relaxed)
    }

    /// The workspace's last known weight, if it is fresh enough to go by.
    pub(crate) fn known_bytes(&self) -> Option<u64> {
        let weighed = (*self.weighed.lock().unwrap_or_else(PoisonError::into_inner))?;
        let fresh = Duration::from_millis(500).max(weighed.took * 20);
        (weighed.at.elapsed() < fresh).then_some(weighed.bytes)
    }

    /// Notes a weight.
    pub(crate) fn note_bytes(&self, bytes: u64, took: Duration) {
        let weighed = Weighed { bytes, at: Instant::now(), took };
        *self.weighed.lock().unwrap_or_else(PoisonError::into_inner) = Some(weighed);
    }

    /// Bytes that came through Bay since.
    pub(crate) fn add_bytes(&self, bytes: u64) {
        if let Some(weighed) = &mut *self.weighed.lock().unwrap_or_else(PoisonError::into_inner) {
            weighed.bytes = weighed.bytes.saturating_add(bytes);
        }
    }
}

/// When a session of this profile ends, should no further call come; a profile without such an end has a far one.
pub(crate) fn idle_end(profile: &Profile) -> Moment {
    match i64::try_from(profile.idle_timeout).unwrap_or(i64::MAX) {
        0 => Moment::from_micros(i64::MAX),
        seconds => Moment::now().plus_secs(seconds),
    }
}

/// While it lives, a call runs in the session.
#[derive(Debug)]
pub(crate) struct InUse {
    session: Arc<LiveSession>,
    quiet: Arc<Notify>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.session.touch();
        if self.session.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.quiet.notify_waiters();
        }
    }
}

/// A caller's turn at a sandbox.
pub(crate) type Turn = tokio::sync::OwnedMutexGuard<()>;

/// The sessions that run here.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    live: RwLock<HashMap<SandboxId, Arc<LiveSession>>>,
    turns: Mutex<HashMap<SandboxId, Arc<tokio::sync::Mutex<()>>>>,
    quiet: Arc<Notify>,
}

impl Sessions {
    /// A sandbox's session, if it runs here.
    pub(crate) fn get(&self, sandbox_id: &SandboxId) -> Option<Arc<LiveSession>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).get(sandbox_id).cloned()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<LiveSession>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.live.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn put(&self, session: Arc<LiveSession>) {
        let id = session.sandbox_id.clone();
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(id, session);
        self.tell_count();
    }

    pub(crate) fn take(&self, sandbox_id: &SandboxId) -> Option<Arc<LiveSession>> {
        let taken = self.live.write().unwrap_or_else(PoisonError::into_inner).remove(sandbox_id);
        self.tell_count();
        taken
    }

    fn tell_count(&self) {
        #[allow(clippy::cast_precision_loss, reason = "nobody has so many")]
        metrics::gauge!("cove_sessions").set(self.count() as f64);
    }

    /// A call begins in a session.
    pub(crate) fn enter(&self, session: &Arc<LiveSession>) -> InUse {
        session.running.fetch_add(1, Ordering::SeqCst);
        session.touch();
        InUse { session: Arc::clone(session), quiet: Arc::clone(&self.quiet) }
    }

    /// Waits for the turn at a sandbox: to start, mend or end its session.
    pub(crate) async fn turn(&self, sandbox_id: &SandboxId, deadline: Deadline) -> Option<Turn> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody holds or awaits those that only the map knows.
            if turns.len() > 1024 {
                turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            }
            Arc::clone(turns.entry(sandbox_id.clone()).or_default())
        };
        tokio::time::timeout_at(deadline.at().into(), turn.lock_owned()).await.ok()
    }

    /// Waits until no call runs in any of these sessions, or so long.
    pub(crate) async fn quiet_of(&self, sessions: impl Fn() -> Vec<Arc<LiveSession>>, grace: Duration) {
        let all_quiet = async {
            loop {
                let rung = self.quiet.notified();
                tokio::pin!(rung);
                rung.as_mut().enable();
                if !sessions().iter().any(|session| session.is_busy()) {
                    return;
                }
                rung.await;
            }
        };
        let _ = tokio::time::timeout(grace, all_quiet).await;
    }
}
