//! Bay's session host: the engines, the limits of this server, and a picture store per sandbox.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_api::{Approval, ApprovalDecision, BayError, ErrorCode, Owner, SandboxId, ToolAnswer};
use cove_artifacts::StoreLimits;
use cove_core::{EngineError, EngineName, Limits, RunReport, RunRequest, SessionFate, ToolError};
use cove_embedded::WallReport;
use cove_executor::{HostError, HostOptions, MaxSessions, PictureStore, RunContext, RunListener, SessionHost};
use serde_json::Value;

use super::engines::{EngineOptions, Engines};

/// Runs at the same time, of all sandboxes; further ones wait within their own time.
const MAX_RUNS: usize = 256;

/// Sessions of one sandbox and of all: an embedded one is a process with up to 64 MiB, one in the browser holds one of its
/// pages, which runs without a session need too.
const MAX_SESSIONS: MaxSessions = MaxSessions { per_owner: 16, embedded: 512, browser: 32 };

/// What one sandbox may keep of pictures.
const PICTURE_LIMITS: StoreLimits =
    StoreLimits { max_artifact_bytes: 64 << 20, max_total_bytes: 1 << 30, max_count: 2_000 };

/// What a session may use. Its value may be larger than a one-shot's, and still has to travel; the clock limits its steps.
const SESSION_LIMITS: Limits = Limits { max_operations: None, max_result_chars: 4 << 20, ..Limits::EXECUTOR };

/// JavaScript of all sandboxes.
#[derive(Debug)]
pub(crate) struct JavaScriptHost {
    host: SessionHost,
    engines: Engines,
    artifacts: PathBuf,
    pictures: Mutex<HashMap<SandboxId, Arc<PictureStore>>>,
    /// Whose sandboxes they are that run JavaScript.
    owners: Mutex<HashMap<String, Owner>>,
}

impl JavaScriptHost {
    /// Starts nothing. Pictures go below `artifacts`, a folder per sandbox.
    /// A call that waits for a person is denied after `approval_limit`.
    pub(crate) fn new(artifacts: PathBuf, options: EngineOptions, approval_limit: Duration) -> Self {
        let engines = Engines::new(options);
        let host = SessionHost::new(HostOptions {
            embedded: engines.get(EngineName::Embedded),
            browser: Some(engines.get(EngineName::Browser)),
            one_shot_limits: Limits::ONE_SHOT,
            session_limits: SESSION_LIMITS,
            max_runs: MAX_RUNS,
            max_sessions: MAX_SESSIONS,
            approval_limit,
        });
        Self { host, engines, artifacts, pictures: Mutex::default(), owners: Mutex::default() }
    }

    /// The walls of the embedded engine.
    pub(crate) async fn walls(&self) -> Result<WallReport, EngineError> {
        self.engines.walls().await
    }

    /// Whether there is a browser, or why not.
    pub(crate) fn find_browser(&self) -> Result<(), String> {
        self.engines.find_browser()
    }

    /// Runs a request. A guest's failure is a report; an error is Bay's, or a request that cannot be served.
    pub(crate) async fn run(
        &self,
        context: RunContext,
        request: RunRequest,
        listener: Arc<dyn RunListener>,
    ) -> Result<RunReport, BayError> {
        let session = request.session.clone();
        let mut report = self.host.run(context, request, listener).await.map_err(|error| to_bay(&error))?;
        if let Some(name) = session.filter(|_| report.fate == SessionFate::Lost) {
            let warning = format!("the state of the session {name:?} is lost; the next call begins a new one");
            report.warnings.push(warning);
        }
        Ok(report)
    }

    /// Ends a session of a sandbox (`None`: everything of it that runs or is kept).
    pub(crate) async fn end(&self, sandbox_id: &SandboxId, session: Option<&str>) {
        self.host.end(sandbox_id, session).await;
    }

    /// Whether something of a sandbox runs or is kept.
    pub(crate) fn has(&self, sandbox_id: &SandboxId) -> bool {
        self.host.has(sandbox_id)
    }

    /// How many sessions are kept.
    #[cfg(test)]
    pub(super) fn sessions(&self) -> usize {
        self.host.sessions()
    }

    /// Code of this sandbox is this owner's.
    pub(crate) fn belongs(&self, sandbox_id: &str, owner: &Owner) {
        let mut owners = self.owners();
        if !owners.contains_key(sandbox_id) {
            owners.insert(sandbox_id.to_owned(), owner.clone());
        }
    }

    /// The calls of an owner's sandboxes that wait for a person.
    pub(crate) fn approvals(&self, owner: &Owner) -> Vec<Approval> {
        let owners = self.owners();
        let own = |approval: &Approval| owners.get(&approval.sandbox_id) == Some(owner);
        self.host.approvals().into_iter().filter(own).collect()
    }

    /// A person has decided.
    pub(crate) fn decide(
        &self,
        owner: &Owner,
        approval_id: &str,
        approve: bool,
        decision: ApprovalDecision,
    ) -> Result<(), BayError> {
        let shown = cove_core::shorten_word(approval_id);
        let gone = || BayError::new(ErrorCode::NotFound, format!("no pending approval {shown:?}"));
        let sandbox_id = self.host.asks(approval_id).ok_or_else(gone)?;
        if self.owners().get(&sandbox_id) != Some(owner) {
            return Err(gone());
        }
        self.host.decide(&sandbox_id, approval_id, approve, decision).map_err(|_| gone())
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client's answer to a tool call.
    pub(crate) fn answer_call(
        &self,
        sandbox_id: &SandboxId,
        call_id: &str,
        answer: ToolAnswer,
    ) -> Result<(), BayError> {
        let answer = match answer.error {
            Some(error) => Err(ToolError::new(error)),
            None => Ok(answer.result.unwrap_or(Value::Null)),
        };
        let answered = self.host.answer_call(sandbox_id, call_id, answer);
        answered.map_err(|error| BayError::new(ErrorCode::NotFound, error.to_string()))
    }

    /// Ends everything.
    pub(crate) async fn close(&self) {
        self.host.close().await;
        self.engines.close().await;
    }

    /// The sandbox's picture store.
    pub(crate) fn pictures(&self, sandbox_id: &SandboxId) -> Arc<PictureStore> {
        let mut stores = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let store = stores.entry(sandbox_id.clone());
        Arc::clone(store.or_insert_with(|| Arc::new(PictureStore::at(self.artifacts.join(sandbox_id), PICTURE_LIMITS))))
    }

    /// Forgets the sandbox's picture store, and says where its files are.
    pub(crate) fn forget_pictures(&self, sandbox_id: &SandboxId) -> PathBuf {
        self.owners().remove(&**sandbox_id);
        self.pictures.lock().unwrap_or_else(PoisonError::into_inner).remove(sandbox_id);
        self.artifacts.join(sandbox_id)
    }

    /// Where pictures go, a folder per sandbox.
    pub(crate) fn artifacts_root(&self) -> &Path {
        &self.artifacts
    }
}

fn to_bay(error: &HostError) -> BayError {
    let message = error.to_string();
    match error {
        HostError::Closed => BayError::new(ErrorCode::SessionNotReady, message),
        HostError::TooManyRuns { .. } => BayError::new(ErrorCode::QuotaExceeded, message),
        HostError::TooManySessions { max } => {
            BayError::new(ErrorCode::QuotaExceeded, message).with("max_sessions", *max)
        }
        HostError::OtherEngine { .. } | HostError::SessionBusy { .. } | HostError::Ended => {
            BayError::new(ErrorCode::Conflict, message)
        }
        HostError::NoAnswer { timeout_ms } => {
            BayError::new(ErrorCode::Timeout, message).with("timeout_ms", *timeout_ms)
        }
        HostError::Invalid(_) => BayError::new(ErrorCode::ValidationError, message),
    }
}
