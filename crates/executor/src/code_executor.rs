//! The stateful executor: a session of any engine with the contract's state machine around it.
//!
//! `NEW → INITIALIZING → READY ⇄ RUNNING → DIRTY → DEAD`, and `init` brings a dead one back. The state changes in
//! this file only. A run whose future is dropped half-way leaves the executor `DIRTY`, as a timeout does: whatever
//! it was doing has been killed, and nobody can say how far it came.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_core::{
    CodeOutput, Engine, EngineError, ErrorCode, ExecutorError, ExecutorOptions, ExecutorState, Fault, FaultKind,
    Finished, ImportPolicy, Limits, RunConcurrency, RunReport, RunRequest, Session, SessionFate, SessionOptions,
    ToolSet,
};
use serde_json::{Map, Value};

use crate::join_logs;

/// An executor for agents that think in code: state persists between runs, tools are plain functions, and
/// `final_answer(value)` ends the task.
pub struct CodeExecutor {
    engine: Arc<dyn Engine>,
    options: ExecutorOptions,
    state: Mutex<ExecutorState>,
    // Fair: waiters get it in the order in which they came, which is what makes the queue first-in-first-out.
    session: tokio::sync::Mutex<Option<Box<dyn Session>>>,
    // Calls inside or waiting.
    admitted: AtomicU32,
}

impl CodeExecutor {
    /// Makes an executor; nothing is started before `init`.
    pub fn new(engine: Arc<dyn Engine>, options: ExecutorOptions) -> Result<Self, ExecutorError> {
        let executor = Self {
            engine,
            options,
            state: Mutex::new(ExecutorState::New),
            session: tokio::sync::Mutex::new(None),
            admitted: AtomicU32::new(0),
        };
        let limits = executor.limits().checked();
        limits.map_err(|error| ExecutorError::new(ErrorCode::SesInitFailed, init_failed(&error.to_string()), ""))?;
        Ok(executor)
    }

    /// The state at this moment.
    pub fn state(&self) -> ExecutorState {
        *self.lock_state()
    }

    /// Opens the session. On a ready executor it does nothing.
    pub async fn init(&self) -> Result<(), ExecutorError> {
        let before = {
            let mut state = self.lock_state();
            match *state {
                ExecutorState::Ready => return Ok(()),
                ExecutorState::New | ExecutorState::Dead => std::mem::replace(&mut *state, ExecutorState::Initializing),
                other => return Err(wrong_state("init", other)),
            }
        };
        let mut turn = Turn { executor: self, on_drop: before };
        let mut slot = self.session.lock().await;
        match self.engine.open(self.session_options()).await {
            Ok(session) => {
                *slot = Some(session);
                turn.ends_in(ExecutorState::Ready);
                Ok(())
            }
            Err(error) => Err(ExecutorError::new(ErrorCode::SesInitFailed, init_failed(&error.to_string()), "")),
        }
    }

    /// Sets global variables of the session, deep-frozen.
    pub async fn send_variables(&self, variables: Map<String, Value>) -> Result<(), ExecutorError> {
        let (mut slot, mut turn, _admitted) = self.enter("send_variables").await?;
        let sent = open_session(&mut slot)?.send_variables(variables).await;
        turn.ends_after(sent)
    }

    /// Makes host functions callable in the session.
    pub async fn send_tools(&self, tools: ToolSet) -> Result<(), ExecutorError> {
        let (mut slot, mut turn, _admitted) = self.enter("send_tools").await?;
        let sent = open_session(&mut slot)?.send_tools(tools).await;
        turn.ends_after(sent)
    }

    /// Runs one cell.
    pub async fn run(&self, code: impl Into<String>) -> Result<CodeOutput, ExecutorError> {
        let (mut slot, mut turn, _admitted) = self.enter("run").await?;
        let request = RunRequest {
            timeout_ms: self.options.timeout_ms,
            max_operations: Some(self.options.max_operations),
            ..RunRequest::cell(code)
        };
        let report = open_session(&mut slot)?.run(&request).await;
        turn.ends_in(match report.fate {
            SessionFate::Usable => ExecutorState::Ready,
            SessionFate::Lost => ExecutorState::Dirty,
        });
        to_output(report)
    }

    /// Ends the session and frees what it held. On a dead executor it does nothing.
    pub async fn cleanup(&self) -> Result<(), ExecutorError> {
        {
            let mut state = self.lock_state();
            match *state {
                ExecutorState::Ready | ExecutorState::Dirty | ExecutorState::New | ExecutorState::Dead => {
                    *state = ExecutorState::Dead;
                }
                other => return Err(wrong_state("cleanup", other)),
            }
        }
        let closed = match self.session.lock().await.take() {
            Some(session) => session.close().await,
            None => Ok(()),
        };
        match closed {
            Ok(()) | Err(EngineError::Gone(_)) => Ok(()),
            Err(error) => Err(ExecutorError::new(ErrorCode::CleanupFailed, format!("Cleanup failed: {error}"), "")),
        }
    }

    /// Waits for the session, then takes the executor from `READY` to `RUNNING`.
    ///
    /// The parts are dropped from the back: the admission, then the turn (which sets the state), then the session,
    /// so that whoever gets the session next finds the state already set.
    async fn enter(&self, call: &str) -> Result<(SessionSlot<'_>, Turn<'_>, Admission<'_>), ExecutorError> {
        let admission = self.admit(call)?;
        let slot = self.session.lock().await;
        let mut state = self.lock_state();
        if *state != ExecutorState::Ready {
            return Err(wrong_state(call, *state));
        }
        *state = ExecutorState::Running;
        Ok((slot, Turn { executor: self, on_drop: ExecutorState::Dirty }, admission))
    }

    /// One call may be inside; in `queue` mode `maxQueuedRuns` more may wait.
    fn admit(&self, call: &str) -> Result<Admission<'_>, ExecutorError> {
        let state = self.lock_state();
        if !matches!(*state, ExecutorState::Ready | ExecutorState::Running) {
            return Err(wrong_state(call, *state));
        }
        let may_wait = match self.options.run_concurrency {
            RunConcurrency::Reject => 0,
            RunConcurrency::Queue => self.options.max_queued_runs,
        };
        // Counted under the state's lock, so two callers cannot both take the last one.
        if self.admitted.load(Ordering::Acquire) > may_wait {
            return Err(match self.options.run_concurrency {
                RunConcurrency::Reject => wrong_state(call, ExecutorState::Running),
                RunConcurrency::Queue => {
                    let full = format!("{call} was called while {may_wait} calls were waiting already (maxQueuedRuns)");
                    ExecutorError::new(ErrorCode::InvalidState, full, "")
                }
            });
        }
        self.admitted.fetch_add(1, Ordering::AcqRel);
        Ok(Admission(&self.admitted))
    }

    fn limits(&self) -> Limits {
        Limits {
            timeout_ms: self.options.timeout_ms,
            max_operations: Some(self.options.max_operations),
            memory_bytes: self.options.max_memory_bytes,
            max_log_bytes: self.options.max_log_bytes,
            ..Limits::EXECUTOR
        }
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions {
            limits: self.limits(),
            clock: self.options.clock,
            random: self.options.random,
            imports: ImportPolicy {
                authorized: self.options.authorized_imports.clone(),
                modules: self.options.modules.clone(),
            },
            log_levels: self.options.collect_console_levels.clone(),
            ..SessionOptions::executor()
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, ExecutorState> {
        // The state is one word, written whole: a panic elsewhere cannot have left it half-written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for CodeExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeExecutor")
            .field("state", &self.state())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

type SessionSlot<'a> = tokio::sync::MutexGuard<'a, Option<Box<dyn Session>>>;

fn open_session<'a>(slot: &'a mut SessionSlot<'_>) -> Result<&'a mut Box<dyn Session>, ExecutorError> {
    slot.as_mut().ok_or_else(|| wrong_state("a call", ExecutorState::Dead))
}

/// Leave to be inside or to wait; given back when dropped, also when the waiting run is given up.
struct Admission<'a>(&'a AtomicU32);

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The time during which one call owns the session. Ends in `on_drop` unless the call says where it ended.
struct Turn<'a> {
    executor: &'a CodeExecutor,
    on_drop: ExecutorState,
}

impl Turn<'_> {
    fn ends_in(&mut self, state: ExecutorState) {
        self.on_drop = state;
    }

    fn ends_after(&mut self, sent: Result<(), EngineError>) -> Result<(), ExecutorError> {
        match sent {
            Ok(()) => {
                self.ends_in(ExecutorState::Ready);
                Ok(())
            }
            Err(error @ EngineError::Invalid(_)) => {
                self.ends_in(ExecutorState::Ready);
                Err(ExecutorError::new(ErrorCode::InvalidState, error.to_string(), ""))
            }
            Err(error) => Err(ExecutorError::new(ErrorCode::InvalidState, error.to_string(), "")),
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.executor.lock_state() = self.on_drop;
    }
}

fn wrong_state(call: &str, state: ExecutorState) -> ExecutorError {
    ExecutorError::new(ErrorCode::InvalidState, format!("{call} was called in state {state}"), "")
}

fn init_failed(details: &str) -> String {
    format!("SES Runtime failed to initialize: {details}")
}

fn to_output(report: RunReport) -> Result<CodeOutput, ExecutorError> {
    let logs = join_logs(&report);
    match report.result {
        Ok(Finished { value, is_final_answer, .. }) => {
            Ok(CodeOutput { output: value, logs, is_final_answer, warnings: report.warnings })
        }
        Err(fault) => Err(to_error(fault, logs)),
    }
}

/// The contract's sentence for a fault, with everything that is known beside it.
fn to_error(fault: Fault, logs: String) -> ExecutorError {
    let message = match fault.kind {
        FaultKind::Syntax | FaultKind::Refused => format!("Syntax/Security Blocked: {}", fault.message),
        _ => fault.message.clone(),
    };
    let mut error = ExecutorError::new(fault.kind.executor_code(), message, logs);
    let mut details = fault.details;
    if let Some(position) = fault.position {
        details.insert("line".to_owned(), position.line.into());
        details.insert("column".to_owned(), position.column.into());
    }
    for (key, value) in [("frame", fault.frame), ("hint", fault.hint)] {
        if let Some(text) = value {
            details.insert(key.to_owned(), text.into());
        }
    }
    error.details = (!details.is_empty()).then_some(Value::Object(details));
    error
}
