//! Who is asked for what: first the profile must list it, then a runtime; `primary_for` wins, else the first that can.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cove_api::SandboxId;
use cove_api::{BayError, ErrorCode, Moment, RuntimeCause};
use cove_runtime::client::ClientError;
use hyper::{Method, StatusCode};
use serde::Deserialize as _;
use serde_json::Value;

use crate::config::{Capability, Profile};
use crate::session::{InUse, LiveContainer, LiveSession};
use crate::store::SandboxRow;
use crate::{Answer, Bay, Owner};

/// How long a runtime whose connection broke has to be seen dead.
const DYING: Duration = Duration::from_secs(1);

/// A call that has been let in: the sandbox is its owner's, is not over, and its profile can do it.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) row: SandboxRow,
    pub(crate) profile: Arc<Profile>,
    pub(crate) capability: Capability,
}

/// Where a call runs.
#[derive(Debug)]
pub(crate) struct Berth {
    pub(crate) session: Arc<LiveSession>,
    pub(crate) container: Arc<LiveContainer>,
    place: usize,
    _use: InUse,
}

impl Bay {
    /// Lets a call in, before anything starts.
    pub(crate) async fn admit(&self, owner: &Owner, id: &SandboxId, capability: Capability) -> Answer<Admitted> {
        let row = self.alive_row(owner, id).await?;
        let profile = self.profile_of(&row)?;
        if !profile.can(capability) {
            let message = format!("profile {} does not support {capability}", profile.id);
            return Err(unsupported(message, capability, &profile.capability_words()));
        }
        Ok(Admitted { row, profile, capability })
    }

    /// Where several Bays share the records, gives the sandbox a home before something of it lives in this process
    /// (a JavaScript session, somebody who listens): calls that reach another Bay are handed on to where it is.
    pub(crate) async fn settle(&self, row: &SandboxRow) -> Answer<()> {
        if self.inner.store.kind() == crate::store::Kind::Postgres {
            self.ensure_session(row, &self.profile_of(row)?, true).await?;
        }
        Ok(())
    }

    /// The profile that a sandbox was made with.
    pub(crate) fn profile_of(&self, row: &SandboxRow) -> Answer<Arc<Profile>> {
        let found = self.profile(&row.profile).cloned();
        found.ok_or_else(|| {
            let message = format!("the sandbox's profile {} is no longer configured", row.profile);
            BayError::new(ErrorCode::Conflict, message)
        })
    }

    /// The sandbox, unless it is not this owner's or its end has come.
    pub(crate) async fn alive_row(&self, owner: &Owner, id: &SandboxId) -> Answer<SandboxRow> {
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

    /// A living container for the call, its session started where there is none.
    pub(crate) async fn berth(&self, call: &Admitted) -> Answer<Berth> {
        let only_files = call.capability == Capability::Filesystem;
        let session = self.ensure_session(&call.row, &call.profile, only_files).await?;
        let in_use = self.inner.sessions.enter(&session);
        let place = pick(&session, call.capability).ok_or_else(|| {
            let can: Vec<String> =
                session.all().iter().flat_map(|c| &c.capabilities).map(ToString::to_string).collect();
            unsupported(format!("no runtime of this session supports {}", call.capability), call.capability, &can)
        })?;
        let container = self.living(&session, place).await?;
        self.write_deferred(&session).await;
        Ok(Berth { session, container, place, _use: in_use })
    }

    /// Asks a runtime; a request that surely was not begun, because nobody took the connection, is asked once more of a
    /// runtime that was remade.
    pub(crate) async fn ask<T, F: Future<Output = Result<T, ClientError>>>(
        &self,
        call: &Admitted,
        berth: &mut Berth,
        request: impl Fn(Arc<LiveContainer>) -> F,
    ) -> Answer<T> {
        let first = tokio::select! {
            answer = request(Arc::clone(&berth.container)) => answer,
            wedged = berth.container.watch() => return Err(self.ended(berth).await?.unwrap_or(wedged)),
        };
        let again = matches!(&first, Err(ClientError::Refused(_)));
        if !again {
            if matches!(&first, Err(ClientError::Unreachable(_))) {
                // It is most likely dying: once it has, the next call knows, and has a new one.
                let _ = tokio::time::timeout(DYING, berth.container.handle.ended()).await;
            }
            return match first {
                Ok(answer) => Ok(answer),
                Err(error) => {
                    let ended = self.ended(berth).await?.or_else(|| berth.container.ended_for_silence());
                    Err(ended.unwrap_or_else(|| broken(&error)))
                }
            };
        }
        // Nobody takes connections: it is ending, or has ended. Its end is awaited, so that what is remade is whole.
        let _ = tokio::time::timeout(Duration::from_secs(5), berth.container.handle.stop()).await;
        let remade = self.living(&berth.session, berth.place).await;
        *berth = match remade {
            Ok(container) => {
                let _use = self.inner.sessions.enter(&berth.session);
                Berth { session: Arc::clone(&berth.session), container, place: berth.place, _use }
            }
            Err(_) => {
                let call = Admitted { row: self.fresh_row(call).await?, ..call.clone() };
                self.berth(&call).await?
            }
        };
        match request(Arc::clone(&berth.container)).await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.ended(berth).await?.unwrap_or_else(|| broken(&error))),
        }
    }

    /// Why a session is gone that somebody ended while a call was under way: the call is told that, and not that a runtime
    /// broke. `None`: the session is still the sandbox's.
    pub(crate) async fn ended(&self, berth: &Berth) -> Answer<Option<BayError>> {
        let id = &berth.session.sandbox_id;
        if self.inner.sessions.get(id).is_some_and(|live| live.id == berth.session.id) {
            return Ok(None);
        }
        Ok(Some(match self.inner.store.any_sandbox(id).await? {
            None => crate::sandboxes::not_found(id),
            Some(row) if row.expired(Moment::now()) => crate::sandboxes::expired(),
            Some(_) if berth.session.ended_for_disk() => crate::disk::ended_for_disk(),
            Some(_) => BayError::new(ErrorCode::Conflict, "the sandbox was stopped during this call"),
        }))
    }

    async fn fresh_row(&self, call: &Admitted) -> Answer<SandboxRow> {
        let row = self.inner.store.any_sandbox(&call.row.id).await?;
        row.ok_or_else(|| crate::sandboxes::not_found(&call.row.id))
    }

    /// Asks with JSON and reads JSON; a refusal of the runtime's becomes ours.
    pub(crate) async fn ask_json(
        &self,
        call: &Admitted,
        berth: &mut Berth,
        path: &str,
        body: &Value,
        limit: Duration,
    ) -> Answer<Value> {
        let asked = self.ask(call, berth, |container| async move {
            container.client.json(Method::POST, path, Some(body), limit).await
        });
        let (status, answer) = asked.await?;
        if status.is_success() { Ok(answer) } else { Err(refusal(status, &answer)) }
    }

    /// How long to wait for work that may take `timeout_s`.
    pub(crate) fn patience(&self, timeout_s: u64) -> Duration {
        Duration::from_secs(timeout_s + self.inner.config.limits.answer_grace_seconds)
    }
}

pub(crate) fn pick(session: &LiveSession, capability: Capability) -> Option<usize> {
    let all = session.all();
    let can = |place: &usize| all[*place].capabilities.contains(&capability);
    let primary = |place: &usize| all[*place].spec.primary_for.contains(&capability);
    let mut able = (0..all.len()).filter(can);
    (0..all.len()).filter(can).find(primary).or_else(|| able.next())
}

fn unsupported(message: String, capability: Capability, available: &[String]) -> BayError {
    BayError::new(ErrorCode::CapabilityNotSupported, message)
        .with("capability", capability.as_str())
        .with("available", available.to_vec())
}

/// A runtime that does not answer, or not in time.
pub(crate) fn broken(error: &ClientError) -> BayError {
    match error {
        ClientError::Timeout(_) => BayError::new(ErrorCode::Timeout, error.to_string()),
        ClientError::Unreachable(_) => BayError::new(
            ErrorCode::ShipError,
            format!("the runtime ended during this call ({error}); the next call starts a new one"),
        )
        .caused_by(RuntimeCause::Ended),
        ClientError::Refused(_) | ClientError::Answer(_) => BayError::new(ErrorCode::ShipError, error.to_string()),
    }
}

/// A runtime's refusal, in the words of this interface.
pub(crate) fn refusal(status: StatusCode, answer: &Value) -> BayError {
    let said = answer["error"]["code"].as_str().unwrap_or_default();
    let message = answer["error"]["message"].as_str().or_else(|| answer["detail"][0]["msg"].as_str());
    let message = message.unwrap_or("the runtime refused the request without a reason").to_owned();
    let code = match (said, status.as_u16()) {
        ("file_not_found" | "not_found", _) => ErrorCode::FileNotFound,
        ("invalid_path", _) => ErrorCode::InvalidPath,
        ("conflict", _) | (_, 409) => ErrorCode::Conflict,
        ("quota_exceeded", _) | (_, 429) => ErrorCode::QuotaExceeded,
        ("forbidden" | "permission_denied", _) | (_, 403) => ErrorCode::Forbidden,
        ("timeout", _) | (_, 504) => ErrorCode::Timeout,
        (_, 400 | 413 | 422) => ErrorCode::ValidationError,
        _ => ErrorCode::ShipError,
    };
    let error = BayError::new(code, message);
    let error = if said.is_empty() { error } else { error.with("code", said) };
    let error = match RuntimeCause::deserialize(&answer["error"]["cause"]) {
        Ok(cause) => error.caused_by(cause),
        Err(_) => error,
    };
    if code == ErrorCode::InvalidPath { error.with("reason", "path_traversal") } else { error }
}
