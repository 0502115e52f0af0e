//! Starting a session: its containers at once, the browser's when somebody needs it. One that cannot start takes no other
//! with it: whoever needs it is told why.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cove_api::{BayError, ErrorCode, EventKind, Moment, RuntimeCause};
use cove_core::{CargoId, Deadline, SandboxId, SessionId};
use cove_network::{LiveNetwork, SandboxPorts};
use cove_runtime_api::{CallError, Meta, MetaRequest, RuntimeClient, WriteFileRequest};
use futures_util::future::join_all;
use serde::Deserialize as _;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::json;

use super::{LiveContainer, LiveSession, idle_end};
use crate::id::fresh_name;
use crate::{Bay, BayResult};
use cove_config::{Capability, ContainerSpec, Profile, RuntimeType};
use cove_drivers::{CargoLimit, Container, ContainerOrder, DriverError};

/// How long a runtime that has just started may take to say what it is.
const META_LIMIT: Duration = Duration::from_secs(15);

/// By which guests know where their ports are reached from outside: `{port}` stands for a number.
const URL_TEMPLATE: &str = "COVE_URL_TEMPLATE";

/// What a session is started for.
#[derive(Debug, Clone)]
pub(crate) struct SessionPlan {
    pub(crate) session_id: SessionId,
    pub(crate) sandbox_id: SandboxId,
    pub(crate) cargo_id: CargoId,
    pub(crate) profile: Arc<Profile>,
    pub(crate) browser: BrowserStart,
}

/// When the browser's runtime is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserStart {
    /// With the others.
    AtOnce,
    /// By the first call that needs it; with the others where there are none that could be started without it.
    WhenNeeded,
}

/// How a container is reached, and what it reaches.
#[derive(Debug)]
pub(super) struct Ways {
    url_template: String,
    network: LiveNetwork,
    inside: Option<SandboxPorts>,
}

impl SessionPlan {
    /// Whether a container is started with the session.
    fn is_started(&self, spec: &ContainerSpec) -> bool {
        let is_browser = |spec: &ContainerSpec| spec.runtime_type == RuntimeType::Gull;
        self.browser == BrowserStart::AtOnce || !is_browser(spec) || self.profile.containers.iter().all(is_browser)
    }

    /// What the driver is told about one container.
    pub(super) fn order(
        &self,
        container_id: String,
        spec: &ContainerSpec,
        cargo_limit_bytes: u64,
        ways: Ways,
    ) -> ContainerOrder {
        ContainerOrder {
            container_id,
            sandbox_id: self.sandbox_id.clone(),
            session_id: self.session_id.clone(),
            cargo_id: self.cargo_id.clone(),
            cargo_limit_bytes,
            disk: self.profile.disk,
            spec: spec.clone(),
            own_env: vec![(URL_TEMPLATE.to_owned(), ways.url_template)],
            network: ways.network,
            inside: ways.inside,
        }
    }
}

impl Bay {
    /// Starts the containers of a session whose row is ours, and says so in the store. On failure nothing runs, and the
    /// row says why.
    pub(crate) async fn start_session(&self, plan: SessionPlan) -> BayResult<Arc<LiveSession>> {
        self.tell_state(&plan.sandbox_id, "starting", None);
        let begin = std::time::Instant::now();
        let started = match self.start_containers(&plan).await {
            Ok(started) => started,
            Err(error) => {
                tracing::warn!(sandbox = %plan.sandbox_id, error = %error.message, "a session could not be started");
                metrics::counter!("cove_session_failures_total", "profile" => plan.profile.id.clone()).increment(1);
                self.inner.store.session_failed(&plan.session_id, &error.message).await?;
                self.tell_state(&plan.sandbox_id, "failed", Some(&error.message));
                return Err(error);
            }
        };
        let session = Arc::new(started);
        let records = serde_json::to_value(session.records()).unwrap_or_default();
        let (idle, now) = (session.idle_expires_at(), Moment::now());
        let wanted = self.inner.store.session_ready(&session.id, &records, idle, now).await;
        if !matches!(wanted, Ok(true)) {
            stop_all(&session.all()).await;
            let _ = self.inner.store.end_session(&session.id).await;
            wanted?;
            let message = "the sandbox was stopped, deleted or expired while its session started";
            return Err(BayError::new(ErrorCode::Conflict, message));
        }
        let took = begin.elapsed().as_secs_f64();
        metrics::histogram!("cove_session_start_seconds", "profile" => plan.profile.id.clone()).record(took);
        self.inner.sessions.put(Arc::clone(&session));
        self.watch_containers(&session);
        self.start_kept_processes(&session).await;
        self.tell_state(&plan.sandbox_id, "ready", None);
        self.watch_ports(&plan.sandbox_id);
        Ok(session)
    }

    async fn start_containers(&self, plan: &SessionPlan) -> BayResult<LiveSession> {
        let cargo = self.inner.store.any_cargo(&plan.cargo_id).await?;
        let cargo = cargo.ok_or_else(|| BayError::new(ErrorCode::NotFound, "the sandbox's cargo is gone"))?;
        let cargo_limit_bytes = u64::from(cargo.info.size_limit_mb) << 20;
        self.inner.store.touch_cargo(&plan.cargo_id, Moment::now()).await?;
        let limit = CargoLimit::new(plan.profile.disk, cargo_limit_bytes);
        self.inner.driver.cargos().prepare(&plan.cargo_id, limit).await.map_err(|error| ship_error(&error, "cargo"))?;
        let starts = plan.profile.containers.iter().map(|spec| async move {
            match plan.is_started(spec) {
                true => Some(self.start_container(plan, spec, cargo_limit_bytes).await),
                false => None,
            }
        });
        let mut containers = Vec::new();
        let mut failure = None;
        for (result, spec) in join_all(starts).await.into_iter().zip(&plan.profile.containers) {
            if let Some(Err(error)) = &result {
                let (sandbox, container) = (&plan.sandbox_id, &spec.name);
                tracing::warn!(%sandbox, %container, %error, "a container could not be started");
                failure = failure.or(Some(ship_error(error, &spec.name)));
            }
            containers.push(result.and_then(Result::ok));
        }
        if containers.iter().all(Option::is_none)
            && let Some(failure) = failure
        {
            return Err(failure);
        }
        if !plan.profile.containers.iter().all(|spec| plan.is_started(spec)) {
            write_browser_skill(containers.iter().flatten()).await;
        }
        Ok(LiveSession::new(plan, cargo_limit_bytes, containers, idle_end(&plan.profile)))
    }

    /// Where the sandbox's ports are reached from outside and from its browser, and what it reaches itself.
    pub(super) async fn ways(&self, plan: &SessionPlan, spec: &ContainerSpec) -> BayResult<Ways> {
        Ok(Ways {
            url_template: self.url_template(&plan.sandbox_id),
            network: self.live_network(&plan.sandbox_id, &plan.profile, spec).await?,
            inside: self.inside(plan, spec),
        })
    }

    /// Starts one container and asks it what it is.
    pub(super) async fn start_container(
        &self,
        plan: &SessionPlan,
        spec: &ContainerSpec,
        cargo_limit_bytes: u64,
    ) -> Result<Arc<LiveContainer>, DriverError> {
        let id = fresh_name(spec.runtime_type.as_str()).map_err(|error| DriverError::other(error.message))?;
        let ways = self.ways(plan, spec).await.map_err(|error| DriverError::other(error.message))?;
        let order = plan.order(id, spec, cargo_limit_bytes, ways);
        let handle = self.inner.driver.start(order).await?;
        live_container(handle, spec.clone(), Deadline::after(META_LIMIT)).await
    }

    /// Tells of a sandbox's state.
    pub(crate) fn tell_state(&self, sandbox_id: &SandboxId, status: &str, error: Option<&str>) {
        let mut data = serde_json::Map::new();
        data.insert("status".to_owned(), json!(status));
        if let Some(error) = error {
            data.insert("error".to_owned(), json!(error));
        }
        self.emit(sandbox_id, EventKind::State, &data);
    }
}

/// Asks a container what it is. One that does not answer is ended.
pub(super) async fn live_container(
    handle: Arc<dyn Container>,
    spec: ContainerSpec,
    deadline: Deadline,
) -> Result<Arc<LiveContainer>, DriverError> {
    let client = RuntimeClient::new(handle.endpoint().clone());
    let meta = match client.call(&MetaRequest, deadline).await {
        Ok(meta) => meta,
        Err(error) => {
            handle.stop().await;
            return Err(DriverError::other(match error {
                CallError::Refused(refused) => format!("the runtime did not answer /meta: {refused}"),
                error => error.to_string(),
            }));
        }
    };
    let listed = capabilities(&meta);
    let capabilities = spec.capabilities.iter().copied().filter(|has| listed.contains(has)).collect();
    Ok(Arc::new(LiveContainer {
        spec,
        handle,
        client,
        version: Some(meta.version().to_owned()),
        capabilities,
        started_at: Moment::now(),
        seen: Mutex::new(None),
    }))
}

/// What a runtime can do, as far as it is known here.
fn capabilities(meta: &Meta) -> Vec<Capability> {
    let named = |name: &str| Capability::deserialize(StrDeserializer::<ValueError>::new(name)).ok();
    meta.capabilities().filter_map(named).collect()
}

pub(super) fn ship_error(error: &DriverError, container: &str) -> BayError {
    let told = BayError::new(ErrorCode::ShipError, error.to_string())
        .caused_by(RuntimeCause::NotStarted)
        .with("container", container);
    match error.cause.as_str() {
        Some(cause) => told.with("driver_cause", cause),
        None => told,
    }
}

/// Whoever reads what the sandbox can do finds the browser there, also before it is started.
async fn write_browser_skill(containers: impl Iterator<Item = &Arc<LiveContainer>>) {
    let (path, content) = (cove_gull::SKILL_PATH.to_owned(), cove_gull::SKILL_TEXT.to_owned());
    let request = WriteFileRequest { path, content, ..WriteFileRequest::default() };
    for container in containers.filter(|container| container.capabilities.contains(&Capability::Filesystem)).take(1) {
        if let Err(error) = container.client.call(&request, Deadline::after(META_LIMIT)).await {
            tracing::debug!(%error, "the browser's skill could not be written");
        }
    }
}

/// Ends containers; returns when nothing of them is left.
pub(super) async fn stop_all(containers: &[Arc<LiveContainer>]) {
    join_all(containers.iter().map(|container| container.handle.stop())).await;
}
