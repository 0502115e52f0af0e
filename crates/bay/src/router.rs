//! Who is asked for what: first the profile must list it, then a runtime; `primary_for` wins, else the first that can.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cove_api::SandboxId;
use cove_api::{BayError, ErrorCode, Moment, RuntimeCause};
use cove_core::Deadline;
use cove_runtime_api::{Call, CallError, Refusal, RefusalCode};

use crate::session::{InUse, LiveContainer, LiveSession};
use crate::{Bay, BayResult, Owner};
use cove_config::{Capability, Profile};
use cove_store::SandboxRow;

/// How long a runtime whose connection broke has to be seen dead.
const DYING: Duration = Duration::from_secs(1);

/// A call that has been let in: the sandbox is its owner's, is not over, and its profile can do it.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) row: SandboxRow,
    pub(crate) profile: Arc<Profile>,
    pub(crate) capability: Capability,
    /// When it must have its answer: a session may have to be started first, and then the work has its time.
    deadline: Deadline,
    /// How much of that the work may take.
    work: Duration,
}

impl Admitted {
    /// When the work that begins now must be over.
    pub(crate) fn work_deadline(&self) -> Deadline {
        self.deadline.within(self.work)
    }
}

/// Where a call runs.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) session: Arc<LiveSession>,
    pub(crate) container: Arc<LiveContainer>,
    place: usize,
    _use: InUse,
}

impl Bay {
    /// Lets a call in that asks no runtime for anything.
    pub(crate) async fn admit(&self, owner: &Owner, id: &SandboxId, capability: Capability) -> BayResult<Admitted> {
        self.admit_for(owner, id, capability, Duration::ZERO).await
    }

    /// Lets a call in, before anything starts. Its clock begins here, and whatever it waits for takes from that.
    pub(crate) async fn admit_for(
        &self,
        owner: &Owner,
        id: &SandboxId,
        capability: Capability,
        work: Duration,
    ) -> BayResult<Admitted> {
        let deadline = Deadline::after(self.start_limit() + work);
        let row = self.alive_row(owner, id).await?;
        let profile = self.profile_of(&row)?;
        if !profile.can(capability) {
            let message = format!("profile {} does not support {capability}", profile.id);
            return Err(unsupported(message, capability, &profile.capability_words()));
        }
        Ok(Admitted { row, profile, capability, deadline, work })
    }

    /// Where several Bays share the records, gives the sandbox a home before something of it lives in this process
    /// (a JavaScript session, somebody who listens): calls that reach another Bay are forwarded to where it is.
    pub(crate) async fn settle(&self, row: &SandboxRow) -> BayResult<()> {
        if self.inner.store.kind() == cove_store::Kind::Postgres {
            self.ensure_session(row, &self.profile_of(row)?, Capability::Filesystem, self.start_limit().into()).await?;
        }
        Ok(())
    }

    /// The profile that a sandbox was made with.
    pub(crate) fn profile_of(&self, row: &SandboxRow) -> BayResult<Arc<Profile>> {
        let found = self.profile(&row.profile).cloned();
        found.ok_or_else(|| {
            let message = format!("the sandbox's profile {} is no longer configured", row.profile);
            BayError::new(ErrorCode::Conflict, message)
        })
    }

    /// The sandbox, unless it is not this owner's or its end has come.
    pub(crate) async fn alive_row(&self, owner: &Owner, id: &SandboxId) -> BayResult<SandboxRow> {
        let row = self.row(owner, id).await?;
        if row.expired(Moment::now()) {
            return Err(crate::sandboxes::expired());
        }
        Ok(row)
    }

    /// Why a call that broke off did so, if it is that its sandbox has expired or was deleted meanwhile.
    pub(crate) async fn over(&self, owner: &Owner, id: &SandboxId) -> Option<BayError> {
        self.alive_row(owner, id)
            .await
            .err()
            .filter(|error| matches!(error.code, ErrorCode::SandboxExpired | ErrorCode::NotFound))
    }

    /// How long a call waits for a session to be started.
    pub(crate) fn start_limit(&self) -> Duration {
        Duration::from_secs(self.inner.config.limits.session_wait_seconds)
    }

    /// A living container for the call, its session started where there is none.
    pub(crate) async fn route(&self, call: &Admitted) -> BayResult<Route> {
        let deadline = call.deadline.within(self.start_limit());
        let session = self.ensure_session(&call.row, &call.profile, call.capability, deadline).await?;
        let in_use = self.inner.sessions.enter(&session);
        let place = pick(&session, call.capability).ok_or_else(|| {
            let can: Vec<String> =
                session.all().iter().flat_map(|c| &c.capabilities).map(ToString::to_string).collect();
            unsupported(format!("no runtime of this session supports {}", call.capability), call.capability, &can)
        })?;
        let container = self.living_container(&session, place, deadline).await?;
        self.write_deferred(&session).await;
        Ok(Route { session, container, place, _use: in_use })
    }

    /// Asks a runtime and reads its answer.
    pub(crate) async fn call<C: Call>(&self, call: &Admitted, route: &mut Route, request: &C) -> BayResult<C::Answer> {
        let asked =
            |container: Arc<LiveContainer>| async move { container.client.call(request, call.work_deadline()).await };
        self.ask(call, route, asked).await
    }

    /// Asks a runtime; a request that surely was not begun, because nobody took the connection, is asked once more of a
    /// runtime that was remade.
    pub(crate) async fn ask<T, F: Future<Output = Result<T, CallError>>>(
        &self,
        call: &Admitted,
        route: &mut Route,
        request: impl Fn(Arc<LiveContainer>) -> F,
    ) -> BayResult<T> {
        let first = tokio::select! {
            answer = request(Arc::clone(&route.container)) => answer,
            wedged = route.container.watch() => return Err(self.ended(route).await?.unwrap_or(wedged)),
        };
        let broke = match first {
            Ok(answer) => return Ok(answer),
            Err(CallError::Refused(refused)) => return Err(refusal(&refused)),
            Err(CallError::NoConnection(_)) => None,
            Err(error) => Some(error),
        };
        if let Some(error) = broke {
            if matches!(error, CallError::Unreachable(_)) {
                // It is most likely dying: once it has, the next call knows, and has a new one.
                let _ = tokio::time::timeout(DYING, route.container.handle.ended()).await;
            }
            let ended = self.ended(route).await?.or_else(|| route.container.ended_for_silence());
            return Err(ended.unwrap_or_else(|| broken(&error)));
        }
        // Nobody takes connections: it is ending, or has ended. Its end is awaited, so that what is remade is whole.
        let _ = tokio::time::timeout(Duration::from_secs(5), route.container.handle.stop()).await;
        let remade = self.living_container(&route.session, route.place, call.deadline).await;
        *route = match remade {
            Ok(container) => {
                let _use = self.inner.sessions.enter(&route.session);
                Route { session: Arc::clone(&route.session), container, place: route.place, _use }
            }
            Err(_) => {
                let call = Admitted { row: self.fresh_row(call).await?, ..call.clone() };
                self.route(&call).await?
            }
        };
        match request(Arc::clone(&route.container)).await {
            Ok(answer) => Ok(answer),
            Err(CallError::Refused(refused)) => Err(refusal(&refused)),
            Err(error) => Err(self.ended(route).await?.unwrap_or_else(|| broken(&error))),
        }
    }

    /// Why a session is gone that somebody ended while a call was under way: the call is told that, and not that a runtime
    /// broke. `None`: the session is still the sandbox's.
    pub(crate) async fn ended(&self, route: &Route) -> BayResult<Option<BayError>> {
        let id = &route.session.sandbox_id;
        if self.is_closing() && self.inner.sessions.get(id).is_none() {
            return Ok(Some(Self::ended_with_server()));
        }
        if self.inner.sessions.get(id).is_some_and(|live| live.id == route.session.id) {
            return Ok(None);
        }
        Ok(Some(match self.inner.store.any_sandbox(id).await? {
            None => crate::sandboxes::not_found(id),
            Some(row) if row.expired(Moment::now()) => crate::sandboxes::expired(),
            Some(_) if route.session.ended_for_disk() => crate::disk::ended_for_disk(),
            Some(_) => BayError::new(ErrorCode::Conflict, "the sandbox was stopped during this call"),
        }))
    }

    async fn fresh_row(&self, call: &Admitted) -> BayResult<SandboxRow> {
        let row = self.inner.store.any_sandbox(&call.row.id).await?;
        row.ok_or_else(|| crate::sandboxes::not_found(&call.row.id))
    }

    /// How long to wait for work that may take `timeout`.
    pub(crate) fn answer_limit(&self, timeout: Duration) -> Duration {
        timeout + Duration::from_secs(self.inner.config.limits.answer_grace_seconds)
    }
}

pub(crate) fn pick(session: &LiveSession, capability: Capability) -> Option<usize> {
    let places = 0..session.profile.containers.len();
    let able: Vec<usize> = places.filter(|place| session.capabilities(*place).contains(&capability)).collect();
    let primary = |place: &usize| session.spec(*place).is_some_and(|spec| spec.primary_for.contains(&capability));
    able.iter().copied().find(primary).or_else(|| able.first().copied())
}

fn unsupported(message: String, capability: Capability, available: &[String]) -> BayError {
    BayError::new(ErrorCode::CapabilityNotSupported, message)
        .with("capability", capability.as_str())
        .with("available", available.to_vec())
}

/// A runtime that does not answer, or not in time, or refuses.
pub(crate) fn broken(error: &CallError) -> BayError {
    match error {
        CallError::Refused(refused) => refusal(refused),
        CallError::Timeout(_) => BayError::new(ErrorCode::Timeout, error.to_string()),
        CallError::Unreachable(_) => BayError::new(
            ErrorCode::ShipError,
            format!("the runtime ended during this call ({error}); the next call starts a new one"),
        )
        .caused_by(RuntimeCause::Ended),
        CallError::NoConnection(_) | CallError::Unreadable(_) => BayError::new(ErrorCode::ShipError, error.to_string()),
    }
}

/// A runtime's refusal, in the words of this interface.
fn refusal(refused: &Refusal) -> BayError {
    let code = match (refused.code, refused.status) {
        (RefusalCode::FileNotFound | RefusalCode::NotFound, _) => ErrorCode::FileNotFound,
        (RefusalCode::InvalidPath, _) => ErrorCode::InvalidPath,
        (RefusalCode::Conflict, _) | (_, 409) => ErrorCode::Conflict,
        (RefusalCode::QuotaExceeded, _) | (_, 429) => ErrorCode::QuotaExceeded,
        (RefusalCode::Forbidden | RefusalCode::PermissionDenied, _) | (_, 403) => ErrorCode::Forbidden,
        (RefusalCode::PortClosed, _) => ErrorCode::PortClosed,
        (RefusalCode::Timeout, _) | (_, 504) => ErrorCode::Timeout,
        (_, 400 | 413 | 422) => ErrorCode::ValidationError,
        _ => ErrorCode::ShipError,
    };
    let mut error = BayError::new(code, refused.message.as_str());
    if refused.code != RefusalCode::Unknown {
        error = error.with("code", refused.code.as_str());
    }
    if let Some(cause) = refused.cause {
        error = error.caused_by(cause);
    }
    if code == ErrorCode::InvalidPath { error.with("reason", "path_traversal") } else { error }
}
