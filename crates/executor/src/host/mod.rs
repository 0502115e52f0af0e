//! The session host: runs JavaScript for many owners, in fresh worlds or in sessions that keep their variables.
//!
//! Bay has one for all of its sandboxes, Ship has one inside a sandbox. It knows engines, sessions, tools and pictures; who
//! an owner is, what a profile says and what becomes of a report it does not know. A run belongs to whoever awaits it: when
//! the future is dropped, the run is killed.

mod approvals;
mod calls;
mod current;
mod error;
mod sessions;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cove_api::{Approval, ApprovalDecision};
use cove_core::{
    Clock, Deadline, Engine, EngineChoice, EngineError, EngineName, EngineReason, EngineReport, FaultKind, Holds,
    Limits, LiveHandle, NetworkPolicy, Random, RunClock, RunReport, RunRequest, RunShape, SessionFate, SessionOptions,
    ToolError, ToolSet, ToolSpec,
};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

use crate::{Pictures, Runner, RunnerOptions};
use approvals::Approvals;
use calls::PendingCalls;
use current::{ActiveRun, CurrentRun};
use sessions::{OpenSession, Sessions, Slot};

pub use approvals::{Asker, NoSuchApproval, Question};
pub use calls::NoSuchCall;
pub use current::RunListener;
pub use error::HostError;
pub use sessions::MaxSessions;

/// What a run may take beyond its time before the host gives it up: an engine answers well before that.
const GRACE: Duration = Duration::from_secs(10);

/// What a host is made of.
#[derive(Clone)]
pub struct HostOptions {
    /// The hardened engine.
    pub embedded: Arc<dyn Engine>,
    /// Chrome, where there is one.
    pub browser: Option<Arc<dyn Engine>>,
    /// Limits of runs without a session; the request's timeout wins over the one here.
    pub one_shot_limits: Limits,
    /// Limits of sessions.
    pub session_limits: Limits,
    /// Runs at the same time, of all owners; further ones wait within their own time.
    pub max_runs: usize,
    /// Sessions that are kept at the same time.
    pub max_sessions: MaxSessions,
    /// How long a call may wait for a person.
    pub approval_limit: Duration,
}

/// What the host must know of the owner that a run belongs to.
pub struct RunContext {
    /// The owner: sessions and tool calls of one are out of reach for every other.
    pub owner: String,
    /// Tools that every run of this owner may call.
    pub tools: Vec<ToolSpec>,
    /// Hosts that code may reach.
    pub network: NetworkPolicy,
    /// Where that policy may change meanwhile.
    pub live_network: Option<LiveHandle>,
    /// Where pictures go.
    pub pictures: Pictures,
    /// How long a session may stay unused; `None`: as long as it likes.
    pub idle_timeout: Option<Duration>,
    /// Tools of whoever embeds the host, which may ask people.
    pub host_tools: Option<HostTools>,
}

/// Makes tools for a session.
pub type ToolMaker = Arc<dyn Fn(&Asker) -> Vec<ToolSpec> + Send + Sync>;

/// Tools that whoever embeds the host answers itself.
#[derive(Clone)]
pub struct HostTools {
    /// Makes them for a session. They live as long as it does.
    pub make: ToolMaker,
    /// Code that a new session runs first, with the rights of any other; a run without a session has none.
    pub prelude: Arc<str>,
}

/// How long the code that a session runs first may take.
const PRELUDE_MS: u64 = 10_000;

/// Runs JavaScript and keeps its sessions.
pub struct SessionHost {
    options: HostOptions,
    sessions: Arc<Sessions>,
    calls: Arc<PendingCalls>,
    approvals: Arc<Approvals>,
    permits: Semaphore,
    running: Mutex<HashMap<u64, Running>>,
    next: AtomicU64,
}

/// A run that goes on.
#[derive(Debug)]
struct Running {
    owner: String,
    session: Option<String>,
    stop: Arc<Notify>,
}

impl SessionHost {
    /// Starts nothing.
    pub fn new(options: HostOptions) -> Self {
        Self {
            sessions: Arc::new(Sessions::new(options.max_sessions)),
            calls: Arc::default(),
            approvals: Arc::new(Approvals::new(options.approval_limit)),
            permits: Semaphore::new(options.max_runs),
            running: Mutex::default(),
            next: AtomicU64::new(0),
            options,
        }
    }

    /// Runs a request. A guest's failure is a report; an error is the host's, or a request that cannot be served.
    pub async fn run(
        &self,
        context: RunContext,
        request: RunRequest,
        listener: Arc<dyn RunListener>,
    ) -> Result<RunReport, HostError> {
        let timeout_ms = request.timeout_ms;
        let limit = Duration::from_millis(timeout_ms);
        let _permit = match tokio::time::timeout(limit, self.permits.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err(HostError::Closed),
            Err(_) => return Err(HostError::TooManyRuns { max: self.options.max_runs }),
        };
        let (entry, stop) = self.enter(&context.owner, request.session.as_deref());
        let deadline = Deadline::after(limit).backstop(GRACE);
        let holds = Arc::<Holds>::default();
        let mut clock = RunClock::begin(Some(Arc::clone(&holds)), deadline.budget(), Instant::now(), None);
        let work = async {
            match request.session.clone() {
                None => self.run_once(context, request, listener, holds).await,
                Some(name) => self.run_in_session(context, &name, request, listener, holds).await,
            }
        };
        let late = async {
            tokio::time::sleep_until(deadline.at().into()).await;
            // Whoever waits for a person has the time of its own still.
            while let Some(left) = clock.left() {
                tokio::time::sleep(left).await;
            }
        };
        let ended = tokio::select! {
            ended = work => ended,
            () = late => Err(HostError::NoAnswer { timeout_ms }),
            () = stop.notified() => return Err(HostError::Ended),
        };
        drop(entry);
        ended
    }

    /// Ends a session of an owner (`None`: everything of the owner's that runs or is kept), and waits until it is gone. How
    /// many sessions that were.
    pub async fn end(&self, owner: &str, session: Option<&str>) -> usize {
        for run in self.running().values() {
            if run.owner == owner && session.is_none_or(|name| run.session.as_deref() == Some(name)) {
                run.stop.notify_one();
            }
        }
        self.approvals.forget(owner, session);
        self.sessions.end(owner, session).await
    }

    /// Whether something of an owner runs or is kept.
    pub fn has(&self, owner: &str) -> bool {
        self.running().values().any(|run| run.owner == owner) || self.sessions.has(owner)
    }

    /// How many sessions are kept.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// The answer of an owner's client to a tool call, by the id that the listener was told. Given once.
    pub fn answer_call(&self, owner: &str, call_id: &str, answer: Result<Value, ToolError>) -> Result<(), NoSuchCall> {
        self.calls.answer(owner, call_id, answer)
    }

    /// The calls of all owners that wait for a person, oldest first.
    pub fn approvals(&self) -> Vec<Approval> {
        self.approvals.list()
    }

    /// The owner whose call waits under this id.
    pub fn asks(&self, id: &str) -> Option<String> {
        self.approvals.owner_of(id)
    }

    /// A person has decided about a call of an owner. Taken once.
    pub fn decide(
        &self,
        owner: &str,
        id: &str,
        approve: bool,
        decision: ApprovalDecision,
    ) -> Result<(), NoSuchApproval> {
        self.approvals.decide(owner, id, approve, decision)
    }

    /// Ends everything, and takes no more runs.
    pub async fn close(&self) {
        self.permits.close();
        for run in self.running().values() {
            run.stop.notify_one();
        }
        self.sessions.end_all().await;
    }

    async fn run_once(
        &self,
        context: RunContext,
        mut request: RunRequest,
        listener: Arc<dyn RunListener>,
        holds: Arc<Holds>,
    ) -> Result<RunReport, HostError> {
        let current = Arc::new(CurrentRun::default());
        let asker = self.asker(&context.owner, None, &current);
        let mut tools = context.tools;
        tools.extend(context.host_tools.iter().flat_map(|host_tools| (host_tools.make)(&asker)));
        tools.extend(request.tools.iter().map(|name| self.calls.tool(name, &asker)));
        let runner = Runner::new(RunnerOptions {
            embedded: Some(Arc::clone(&self.options.embedded)),
            browser: self.options.browser.clone(),
            pictures: context.pictures,
            limits: self.options.one_shot_limits,
            tools: ToolSet::new(tools).map_err(HostError::Invalid)?,
            network: context.network,
            live_network: context.live_network,
            log_sink: Some(current.sink()),
            holds: Some(Arc::clone(&current.holds)),
            ..RunnerOptions::default()
        });
        let tools = std::mem::take(&mut request.tools).into();
        let asked = std::mem::take(&mut request.asked_tools).into();
        let _entered = current.enter(ActiveRun { listener, tools, asked, holds });
        // Its world was to end with it: no state is lost that a later run could have seen.
        Ok(RunReport { fate: SessionFate::Usable, ..runner.run(request).await })
    }

    async fn run_in_session(
        &self,
        context: RunContext,
        name: &str,
        mut request: RunRequest,
        listener: Arc<dyn RunListener>,
        holds: Arc<Holds>,
    ) -> Result<RunReport, HostError> {
        let begin = tokio::time::Instant::now();
        let engine = match request.engine {
            EngineChoice::Auto => None,
            EngineChoice::Browser => Some(EngineName::Browser),
            EngineChoice::Embedded => Some(EngineName::Embedded),
        };
        // Names are checked before anything is opened.
        let nobody = self.asker(&context.owner, Some(name), &Arc::default());
        let asked = request.tools.iter().map(|tool| self.calls.tool(tool, &nobody));
        ToolSet::new(session_tools(&context, &nobody).into_iter().chain(asked).collect())
            .map_err(HostError::Invalid)?;

        let slot = self.sessions.slot(&context.owner, name, engine, context.idle_timeout)?;
        let limit = Duration::from_millis(request.timeout_ms);
        let Ok(mut kept) = tokio::time::timeout(limit, slot.open.lock()).await else {
            return Err(HostError::SessionBusy { name: name.to_owned() });
        };
        // Taken out: a run that is given up half-way must not leave its session behind.
        let mut open = match kept.take() {
            Some(open) => open,
            None => match self.open(&context, name, &slot).await {
                Ok(open) => open,
                Err(error) => return Ok(not_run(&slot, &error, SessionFate::Usable)),
            },
        };
        let asker = self.asker(&context.owner, Some(name), &open.current);
        match self.prepare(&mut open, &asker, &mut request).await {
            Ok(()) => {}
            Err(EngineError::Invalid(message)) => {
                *kept = Some(open);
                return Err(HostError::Invalid(message));
            }
            Err(error) => return Ok(not_run(&slot, &error, SessionFate::Lost)),
        }
        let left = limit.saturating_sub(begin.elapsed()).max(Duration::from_millis(1));
        request.timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        request.shape = RunShape::Cell;
        let tools = std::mem::take(&mut request.tools).into();
        let asked = std::mem::take(&mut request.asked_tools).into();
        let mut report = {
            let _entered = open.current.enter(ActiveRun { listener, tools, asked, holds });
            open.session.run(&request).await
        };
        if report.fate == SessionFate::Usable {
            *kept = Some(open);
        }
        slot.touch();
        report.engine = Some(engine_of(&slot));
        if let Ok(finished) = &mut report.result {
            context.pictures.keep(&request, slot.engine, finished);
        }
        Ok(report)
    }

    async fn open(&self, context: &RunContext, name: &str, slot: &Slot) -> Result<OpenSession, EngineError> {
        let current = Arc::new(CurrentRun::default());
        let options = SessionOptions {
            // A person or a model works here: time and chance are real, and the clock is the limit.
            clock: Clock::Real,
            random: Random::Real,
            limits: self.options.session_limits,
            network: context.network.clone(),
            live_network: context.live_network.clone(),
            log_sink: Some(current.sink()),
            holds: Some(Arc::clone(&current.holds)),
            ..SessionOptions::executor()
        };
        let engine = match slot.engine {
            EngineName::Embedded => Some(&self.options.embedded),
            EngineName::Browser => self.options.browser.as_ref(),
        };
        let engine = engine.ok_or_else(|| EngineError::Unavailable("there is no browser here".to_owned()))?;
        let mut session = engine.open(options).await?;
        let asker = self.asker(&context.owner, Some(name), &current);
        let tools = ToolSet::new(session_tools(context, &asker)).map_err(EngineError::Invalid)?;
        if !tools.is_empty() {
            session.send_tools(tools).await?;
        }
        if let Some(HostTools { prelude, .. }) = &context.host_tools {
            let request = RunRequest { shape: RunShape::Cell, timeout_ms: PRELUDE_MS, ..RunRequest::new(&**prelude) };
            if let Err(fault) = session.run(&request).await.result {
                return Err(EngineError::Open(format!(
                    "the names of the tools could not be defined: {}",
                    fault.message
                )));
            }
        }
        Ok(OpenSession::new(session, current))
    }

    /// Gives a session what this run needs and it does not have yet.
    async fn prepare(
        &self,
        open: &mut OpenSession,
        asker: &Asker,
        request: &mut RunRequest,
    ) -> Result<(), EngineError> {
        if let Some(input) = request.input.take() {
            open.session.send_variables([("input".to_owned(), input)].into_iter().collect()).await?;
        }
        let new: Vec<&String> = request.tools.iter().filter(|name| !open.caller_tools.contains(*name)).collect();
        if !new.is_empty() {
            let specs = new.iter().map(|name| self.calls.tool(name, asker)).collect();
            open.session.send_tools(ToolSet::new(specs).map_err(EngineError::Invalid)?).await?;
            open.caller_tools.extend(new.into_iter().cloned());
        }
        Ok(())
    }

    fn asker(&self, owner: &str, session: Option<&str>, current: &Arc<CurrentRun>) -> Asker {
        Asker {
            owner: owner.to_owned(),
            session: session.map(str::to_owned),
            current: Arc::clone(current),
            approvals: Arc::clone(&self.approvals),
        }
    }

    fn enter(&self, owner: &str, session: Option<&str>) -> (Entry<'_>, Arc<Notify>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let stop = Arc::new(Notify::new());
        let session = session.map(str::to_owned);
        self.running().insert(id, Running { owner: owner.to_owned(), session, stop: Arc::clone(&stop) });
        (Entry { host: self, id }, stop)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SessionHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHost").field("running", &self.running().len()).finish_non_exhaustive()
    }
}

/// Takes a run off the list of those that go on, when it is dropped.
struct Entry<'a> {
    host: &'a SessionHost,
    id: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.host.running().remove(&self.id);
    }
}

/// The tools that a session has from its beginning.
fn session_tools(context: &RunContext, asker: &Asker) -> Vec<ToolSpec> {
    let made = context.host_tools.iter().flat_map(|host_tools| (host_tools.make)(asker));
    context.tools.iter().cloned().chain(made).collect()
}

fn engine_of(slot: &Slot) -> EngineReport {
    let (reason, because) = (EngineReason::Session, "the session's engine".to_owned());
    EngineReport { name: slot.engine, reason, because, fallback_used: false }
}

/// The session could not be had, or not be prepared: no code of this run has run.
fn not_run(slot: &Slot, error: &EngineError, fate: SessionFate) -> RunReport {
    let kind = match (slot.engine, error) {
        (EngineName::Browser, EngineError::Unavailable(_)) => FaultKind::BrowserNotAvailable,
        (EngineName::Browser, EngineError::Open(_)) => FaultKind::PageCreationFailed,
        _ => FaultKind::EngineLost,
    };
    RunReport { engine: Some(engine_of(slot)), fate, ..RunReport::refused(kind, error.to_string()) }
}
