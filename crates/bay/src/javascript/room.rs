//! The room where JavaScript runs: one-shot runs in a fresh world each, sessions in a world that is kept.
//!
//! It knows engines, sessions, tools and pictures; of owners, profiles and the history it knows nothing. A run belongs to
//! whoever awaits it: when the future is dropped, the run is killed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_api::{BayError, ErrorCode};
use cove_artifacts::{PictureMeta, PictureSource, StoreLimits};
use cove_core::{
    Clock, EngineChoice, EngineError, EngineName, EngineReport, ExportFault, Finished, Limits, Picture, Random,
    RunOutcome, RunReport, RunRequest, RunShape, RunUnit, SessionFate, SessionOptions, ToolErrorCode, ToolSet,
};
use cove_executor::{Runner, RunnerOptions, Shelf, join_logs};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

use super::answer::Outcome;
use super::calls::Calls;
use super::engines::{EngineOptions, Engines};
use super::place::{Current, Heard, Place, Run};
use super::sessions::{Open, Sessions, Slot};

/// Runs at the same time, of all sandboxes; further ones wait within their own time.
const MAX_RUNS: usize = 256;

/// What a run may take beyond its time before Bay gives it up: an engine answers well before that.
const GRACE: Duration = Duration::from_secs(10);

/// What one sandbox may keep of pictures.
const SHELF: StoreLimits = StoreLimits { max_artifact_bytes: 64 << 20, max_total_bytes: 1 << 30, max_count: 2_000 };

/// A session's value may be larger than a one-shot's, and still has to travel.
const MAX_RESULT_CHARS: u64 = 4 << 20;

/// One piece of work.
#[derive(Debug)]
pub(crate) struct Job {
    /// The source.
    pub(crate) code: String,
    /// The variable `input`.
    pub(crate) input: Option<Value>,
    /// Which engine was asked for.
    pub(crate) engine: EngineChoice,
    /// Wall clock.
    pub(crate) timeout_ms: u64,
    /// Whether the last expression is the value of code without a `return`.
    pub(crate) last_value: bool,
    /// The session to run in; none: a world of its own.
    pub(crate) session: Option<String>,
    /// Names of the tools that the caller answers.
    pub(crate) tools: Vec<String>,
}

/// The room.
#[derive(Debug)]
pub(crate) struct JavaScriptRoom {
    engines: Engines,
    pub(super) sessions: Arc<Sessions>,
    pub(super) calls: Arc<Calls>,
    artifacts: PathBuf,
    shelves: Mutex<HashMap<String, Arc<Shelf>>>,
    places: Semaphore,
    running: Mutex<HashMap<u64, Running>>,
    next: AtomicU64,
}

/// A run that goes on.
#[derive(Debug)]
struct Running {
    sandbox_id: String,
    session: Option<String>,
    stop: Arc<Notify>,
}

impl JavaScriptRoom {
    /// Starts nothing. Pictures go below `artifacts`, a folder per sandbox.
    pub(crate) fn new(artifacts: PathBuf, options: EngineOptions) -> Self {
        Self {
            engines: Engines::new(options),
            sessions: Arc::default(),
            calls: Arc::default(),
            artifacts,
            shelves: Mutex::default(),
            places: Semaphore::new(MAX_RUNS),
            running: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// Runs a job. A guest's failure is an outcome; an error is Bay's, or a request that cannot be.
    pub(crate) async fn run(&self, place: Place, job: Job, heard: Arc<dyn Heard>) -> Result<Outcome, BayError> {
        let timeout_ms = job.timeout_ms;
        let limit = Duration::from_millis(timeout_ms);
        let _place = match tokio::time::timeout(limit, self.places.acquire()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) => return Err(BayError::new(ErrorCode::SessionNotReady, "the server is shutting down")),
            Err(_) => {
                let message = format!("too many JavaScript runs at once: the limit is {MAX_RUNS}; try again later");
                return Err(BayError::new(ErrorCode::QuotaExceeded, message));
            }
        };
        let (entry, stop) = self.enter(&place.sandbox_id, job.session.as_deref());
        let work = async {
            match job.session.clone() {
                None => self.run_once(place, job, heard).await,
                Some(name) => self.run_in_session(place, &name, job, heard).await,
            }
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(limit + GRACE, work) => ended,
            () = stop.notified() => {
                let message = "the code was ended, because its session was reset or its sandbox stopped";
                return Err(BayError::new(ErrorCode::Conflict, message));
            }
        };
        drop(entry);
        ended.unwrap_or_else(|_| {
            let message = "the engine did not answer in time; the run was ended";
            Err(BayError::new(ErrorCode::Timeout, message).with("timeout_ms", timeout_ms))
        })
    }

    /// Ends a session of a sandbox (`None`: everything of it that runs or is kept).
    pub(crate) async fn end(&self, sandbox_id: &str, session: Option<&str>) {
        for run in self.running().values() {
            if run.sandbox_id == sandbox_id && session.is_none_or(|name| run.session.as_deref() == Some(name)) {
                run.stop.notify_one();
            }
        }
        self.sessions.end(sandbox_id, session).await;
    }

    /// Whether something of a sandbox runs or is kept.
    pub(crate) fn has(&self, sandbox_id: &str) -> bool {
        self.running().values().any(|run| run.sandbox_id == sandbox_id) || self.sessions.has(sandbox_id)
    }

    /// Ends everything.
    pub(crate) async fn close(&self) {
        self.places.close();
        for run in self.running().values() {
            run.stop.notify_one();
        }
        self.sessions.end_all().await;
        self.engines.close().await;
    }

    /// The sandbox's pictures.
    pub(crate) fn shelf(&self, sandbox_id: &str) -> Arc<Shelf> {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        let shelf = shelves.entry(sandbox_id.to_owned());
        Arc::clone(shelf.or_insert_with(|| Arc::new(Shelf::at(self.artifacts.join(sandbox_id), SHELF))))
    }

    /// Forgets the sandbox's pictures, and says where they are.
    pub(crate) fn clear_shelf(&self, sandbox_id: &str) -> PathBuf {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner).remove(sandbox_id);
        self.artifacts.join(sandbox_id)
    }

    /// Where pictures go, a folder per sandbox.
    pub(crate) fn artifacts_root(&self) -> &std::path::Path {
        &self.artifacts
    }

    async fn run_once(&self, place: Place, job: Job, heard: Arc<dyn Heard>) -> Result<Outcome, BayError> {
        let current = Arc::new(Current::default());
        let mut tools = place.files;
        tools.extend(job.tools.iter().map(|name| self.calls.tool(&place.sandbox_id, name, &current)));
        let tools = ToolSet::new(tools).map_err(invalid)?;
        let runner = Runner::new(RunnerOptions {
            embedded: Some(self.engines.get(EngineName::Embedded)),
            browser: Some(self.engines.get(EngineName::Browser)),
            shelf: place.no_pictures.is_none().then(|| self.shelf(&place.sandbox_id)),
            tools,
            network: place.network,
            log_sink: Some(current.sink()),
            ..RunnerOptions::default()
        });
        let mut request = RunRequest::new(job.code);
        request.input = job.input;
        request.engine = job.engine;
        request.timeout_ms = job.timeout_ms;
        request.last_value = job.last_value;
        let _entered = current.enter(Run { heard, tools: job.tools.into() });
        let shot = runner.run(request).await;
        let outcome = match (shot.outcome, place.no_pictures) {
            (RunOutcome::ExportFailed { result, by, .. }, Some(message)) => {
                RunOutcome::ExportFailed { result, message, by }
            }
            (outcome, _) => outcome,
        };
        Ok(Outcome { outcome, engine: shot.engine, logs: shot.log_text, warnings: shot.warnings, is_final: false })
    }

    async fn run_in_session(
        &self,
        place: Place,
        name: &str,
        job: Job,
        heard: Arc<dyn Heard>,
    ) -> Result<Outcome, BayError> {
        let begin = tokio::time::Instant::now();
        let engine = match job.engine {
            EngineChoice::Auto => None,
            EngineChoice::Browser => Some(EngineName::Browser),
            EngineChoice::Embedded => Some(EngineName::Embedded),
        };
        // Names are checked before anything is opened.
        let probe = job.tools.iter().map(|tool| self.calls.tool(&place.sandbox_id, tool, &Arc::default()));
        ToolSet::new(place.files.iter().cloned().chain(probe).collect()).map_err(invalid)?;

        let slot = self.sessions.slot(&place.sandbox_id, name, engine, place.idle)?;
        let limit = Duration::from_millis(job.timeout_ms);
        let Ok(mut place_in_it) = tokio::time::timeout(limit, slot.open.lock()).await else {
            let message = format!("timed out waiting for the session {name:?}, which was busy with another run");
            return Err(BayError::new(ErrorCode::Conflict, message));
        };
        // Taken out: a run that is given up half-way must not leave its session behind.
        let mut open = match place_in_it.take() {
            Some(open) => open,
            None => match self.open(&place, &slot).await {
                Ok(open) => open,
                Err(error) => return Ok(not_opened(&slot, &error)),
            },
        };
        let prepared = prepare(&mut open, &self.calls, &place.sandbox_id, &job).await;
        match prepared {
            Ok(()) => {}
            Err(EngineError::Invalid(message)) => {
                *place_in_it = Some(open);
                return Err(invalid(message));
            }
            Err(error) => return Ok(not_opened(&slot, &error)),
        }
        let left = limit.saturating_sub(begin.elapsed()).max(Duration::from_millis(1));
        let unit = RunUnit {
            code: job.code,
            shape: RunShape::Cell,
            timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            max_operations: None,
        };
        let report = {
            let _entered = open.current.enter(Run { heard, tools: job.tools.into() });
            open.session.run(unit).await
        };
        let mut warnings = Vec::new();
        if report.fate == SessionFate::Usable {
            *place_in_it = Some(open);
        } else {
            warnings.push(format!("the state of the session {name:?} is lost; the next call begins a new one"));
        }
        slot.touch();
        Ok(self.outcome_of(&place, &slot, report, warnings))
    }

    async fn open(&self, place: &Place, slot: &Slot) -> Result<Open, EngineError> {
        let current = Arc::new(Current::default());
        let options = SessionOptions {
            // A person or a model works here: time and chance are real, and the clock is the limit.
            clock: Clock::Real,
            random: Random::Real,
            limits: Limits { max_operations: None, max_result_chars: MAX_RESULT_CHARS, ..Limits::EXECUTOR },
            network: place.network.clone(),
            log_sink: Some(current.sink()),
            ..SessionOptions::executor()
        };
        let mut session = self.engines.get(slot.engine).open(options).await?;
        let tools = ToolSet::new(place.files.clone()).map_err(EngineError::Invalid)?;
        if !tools.is_empty() {
            session.send_tools(tools).await?;
        }
        Ok(Open { session, current, remote: HashSet::new() })
    }

    fn outcome_of(&self, place: &Place, slot: &Slot, report: RunReport, mut warnings: Vec<String>) -> Outcome {
        let logs = join_logs(&report);
        let is_final = report.result.as_ref().is_ok_and(|finished| finished.is_final_answer);
        let outcome = match report.result {
            Ok(mut finished) => {
                warnings.append(&mut finished.warnings);
                self.keep(place, slot.engine, finished)
            }
            Err(fault) => fault.into(),
        };
        Outcome { outcome, engine: Some(engine_of(slot)), logs, warnings, is_final }
    }

    fn keep(&self, place: &Place, engine: EngineName, finished: Finished) -> RunOutcome {
        let result = finished.value;
        if let Some(message) = finished.canvas_error {
            return RunOutcome::ExportFailed { result, message, by: ExportFault::Drawing };
        }
        if let Some(message) = place.no_pictures.clone().filter(|_| !finished.pictures.is_empty()) {
            return RunOutcome::ExportFailed { result, message, by: ExportFault::Store };
        }
        let saved: Result<Vec<String>, String> =
            finished.pictures.iter().map(|picture| self.save(&place.sandbox_id, engine, picture)).collect();
        match saved {
            Ok(images) if images.is_empty() => RunOutcome::Value(result),
            Ok(images) => RunOutcome::Pictures { result, images },
            Err(message) => RunOutcome::ExportFailed { result, message, by: ExportFault::Store },
        }
    }

    fn save(&self, sandbox_id: &str, engine: EngineName, picture: &Picture) -> Result<String, String> {
        let source = match engine {
            EngineName::Embedded => PictureSource::Canvas,
            EngineName::Browser => PictureSource::BrowserCanvas,
        };
        let (width, height) = (picture.width, picture.height);
        let meta = PictureMeta { message_id: None, agent_id: None, width, height, source };
        let store = self.shelf(sandbox_id).store().map_err(|error| error.to_string())?;
        store.save_picture(&picture.png, meta).map(|saved| saved.file_name).map_err(|error| error.to_string())
    }

    fn enter(&self, sandbox_id: &str, session: Option<&str>) -> (Entry<'_>, Arc<Notify>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let stop = Arc::new(Notify::new());
        let session = session.map(str::to_owned);
        let run = Running { sandbox_id: sandbox_id.to_owned(), session, stop: Arc::clone(&stop) };
        self.running().insert(id, run);
        (Entry { room: self, id }, stop)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place on the list of those that go on.
struct Entry<'a> {
    room: &'a JavaScriptRoom,
    id: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.room.running().remove(&self.id);
    }
}

/// Gives a session what this run needs and it does not have yet.
async fn prepare(open: &mut Open, calls: &Arc<Calls>, sandbox_id: &str, job: &Job) -> Result<(), EngineError> {
    if let Some(input) = job.input.clone() {
        open.session.send_variables([("input".to_owned(), input)].into_iter().collect()).await?;
    }
    let new: Vec<&String> = job.tools.iter().filter(|name| !open.remote.contains(*name)).collect();
    if !new.is_empty() {
        let specs = new.iter().map(|name| calls.tool(sandbox_id, name, &open.current)).collect();
        open.session.send_tools(ToolSet::new(specs).map_err(EngineError::Invalid)?).await?;
        open.remote.extend(new.into_iter().cloned());
    }
    Ok(())
}

fn engine_of(slot: &Slot) -> EngineReport {
    EngineReport { name: slot.engine, because: "the session's engine".to_owned(), fallback_used: false }
}

fn not_opened(slot: &Slot, error: &EngineError) -> Outcome {
    let code = match (slot.engine, error) {
        (EngineName::Browser, EngineError::Unavailable(_)) => ToolErrorCode::BrowserNotAvailable,
        (EngineName::Browser, EngineError::Open(_)) => ToolErrorCode::PageCreationFailed,
        _ => ToolErrorCode::JsExecutionFailed,
    };
    Outcome {
        outcome: RunOutcome::failed(code, error.to_string()),
        engine: Some(engine_of(slot)),
        logs: String::new(),
        warnings: Vec::new(),
        is_final: false,
    }
}

fn invalid(message: String) -> BayError {
    BayError::new(ErrorCode::ValidationError, message)
}
