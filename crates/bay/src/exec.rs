//! Python and the shell.

use std::time::{Duration, Instant};

use cove_api::{
    Barrier, BayError, ErrorCode, EventKind, ExecType, Moment, PythonData, PythonExecRequest, PythonExecResult,
    ShellExecRequest, ShellExecResult, Stopped,
};
use cove_core::{ExecutionId, SandboxId, SessionId};
use cove_runtime_api::{Call, EndPython, MAX_CODE_BYTES, PythonRequest, ShellRequest};
use serde_json::{Value, json};

use crate::barrier;
use crate::files::relative;
use crate::id::fresh;
use crate::pending_history::PendingEntry;
use crate::sandboxes::invalid;
use crate::timed::Timed;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;
use cove_store::NewExecution;

/// What ends a process at once.
const SIGKILL: i32 = 9;

/// The longest time-out of a command or of Python.
const MAX_TIMEOUT: Duration = Duration::from_secs(300);

/// How long the end of an interpreter is waited for.
const RESTART_LIMIT: Duration = Duration::from_secs(40);

/// How a run ended, for its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// How long it took.
    pub(crate) took_ms: i64,
    /// Whether the history has it.
    pub(crate) recorded: bool,
}

/// A run from its begin to its entry in the history. One that is dropped on the way is noted as given up.
#[derive(Debug)]
pub(crate) struct Execution {
    bay: Bay,
    pub(crate) owner: Owner,
    pub(crate) sandbox_id: SandboxId,
    pub(crate) id: ExecutionId,
    exec_type: ExecType,
    code: String,
    begin: Instant,
    created_at: Moment,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) payload_ref: Option<String>,
    /// Names of the artifacts that it drew, with commas between.
    pub(crate) artifacts: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Option<String>,
    /// What ended or refused it.
    pub(crate) barrier: Option<Barrier>,
    pub(crate) learn: bool,
    open: bool,
}

impl Execution {
    pub(crate) fn begin(
        bay: &Bay,
        owner: &Owner,
        sandbox_id: &SandboxId,
        exec_type: ExecType,
        code: String,
    ) -> BayResult<Self> {
        let id = fresh::<ExecutionId>()?;
        bay.emit(sandbox_id, EventKind::RunStarted, &object(json!({"execution_id": id, "exec_type": exec_type})));
        Ok(Self {
            bay: bay.clone(),
            owner: owner.clone(),
            sandbox_id: sandbox_id.clone(),
            id,
            exec_type,
            code,
            begin: Instant::now(),
            created_at: Moment::now(),
            session_id: None,
            payload_ref: None,
            artifacts: None,
            description: None,
            tags: None,
            barrier: None,
            learn: false,
            open: true,
        })
    }

    /// Lets go of a run whose end nobody will see.
    pub(crate) fn let_go(mut self) {
        self.open = false;
    }

    /// Notes the end. A history that cannot be written is a fault of ours and no reason to lose the answer: the answer
    /// says so, and the entry is written later.
    pub(crate) async fn end(&mut self, success: bool, output: Option<&str>, error: Option<&str>) -> Ended {
        self.open = false;
        let took = i64::try_from(self.begin.elapsed().as_millis()).unwrap_or(i64::MAX);
        let entry = NewExecution {
            id: &self.id,
            owner: &self.owner,
            sandbox_id: &self.sandbox_id,
            session_id: self.session_id.as_deref(),
            exec_type: self.exec_type,
            code: &self.code,
            success,
            execution_time_ms: took,
            output,
            error,
            barrier: self.barrier,
            payload_ref: self.payload_ref.as_deref(),
            artifacts: self.artifacts.as_deref(),
            description: self.description.as_deref(),
            tags: self.tags.as_deref(),
            learn: self.learn,
            created_at: self.created_at,
        };
        let outcome = if success { "success" } else { "failure" };
        metrics::counter!("cove_executions_total", "kind" => self.exec_type.as_str(), "outcome" => outcome)
            .increment(1);
        let live = self.bay.inner.sessions.get(&self.sandbox_id);
        let idle = live.as_ref().map(|session| session.touch());
        if let Some(session) = live {
            session.take_dirty();
        }
        // On its own: a caller that goes away now does not take along what has finished.
        let (bay, entry) = (self.bay.clone(), PendingEntry::of(&entry));
        let recorded = tokio::spawn(async move { bay.record(entry, idle).await }).await.unwrap_or(false);
        let data = json!({
            "execution_id": self.id, "exec_type": self.exec_type, "success": success, "execution_time_ms": took
        });
        self.bay.emit(&self.sandbox_id, EventKind::RunFinished, &object(data));
        Ended { took_ms: took, recorded }
    }

    /// Notes the end of a run that came to no answer.
    pub(crate) async fn fail(&mut self, error: &BayError) {
        self.barrier = barrier::of_error(error);
        self.end(false, None, Some(&error.message)).await;
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let (true, Ok(runtime)) = (self.open, tokio::runtime::Handle::try_current()) else { return };
        let mut given_up = Self {
            bay: self.bay.clone(),
            owner: self.owner.clone(),
            sandbox_id: self.sandbox_id.clone(),
            id: self.id.clone(),
            exec_type: self.exec_type,
            code: std::mem::take(&mut self.code),
            begin: self.begin,
            created_at: self.created_at,
            session_id: self.session_id.take(),
            payload_ref: None,
            artifacts: None,
            description: self.description.take(),
            tags: self.tags.take(),
            barrier: None,
            learn: false,
            open: false,
        };
        runtime.spawn(async move {
            given_up.end(false, None, Some("the caller disconnected; the run was ended")).await;
        });
    }
}

pub(crate) fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => serde_json::Map::new(),
    }
}

impl Bay {
    /// Writes an entry of the history; false: not now, but later if it can be.
    async fn record(&self, waiting: PendingEntry, idle: Option<Moment>) -> bool {
        let sandbox = waiting.entry().sandbox_id.to_owned();
        if self.may_record() {
            match self.inner.store.record(&waiting.entry(), idle).await {
                Ok(()) => return true,
                Err(error) => tracing::error!(%error, sandbox, "an entry of the history could not be written"),
            }
        }
        if !self.inner.pending_history.keep(waiting) {
            tracing::error!(sandbox, "an entry of the history is lost: too many wait to be written");
        }
        false
    }

    /// Writes what could not be written before.
    pub(crate) async fn write_late(&self) {
        while self.may_record()
            && let Some(waiting) = self.inner.pending_history.take()
        {
            let written = self.inner.store.record(&waiting.entry(), None).await;
            // One that was written after all, though nobody could say so.
            if written.is_err_and(|error| !error.is_repeated()) {
                self.inner.pending_history.put_back(waiting);
                return;
            }
        }
    }

    /// Runs Python in the sandbox's interpreter.
    pub async fn exec_python(
        &self,
        owner: &Owner,
        id: &SandboxId,
        call: impl Into<Timed<PythonExecRequest>>,
    ) -> BayResult<PythonExecResult> {
        let timed = call.into();
        timed.check(MAX_TIMEOUT)?;
        let Timed { request, timeout, output, .. } = timed;
        check_code("code", &request.code)?;
        let live = self.live(id, request.output_tag, output)?;
        let call = self.admit_for(owner, id, Capability::Python, self.answer_limit(timeout)).await?;
        let mut run = Execution::begin(self, owner, id, ExecType::Python, request.code)?;
        (run.description, run.tags) = (request.description, request.tags);
        let cell = PythonRequest {
            code: run.code.clone(),
            timeout: Some(timeout.as_secs_f64()),
            stream: live.is_some(),
            session: request.session,
            env: request.env,
            value_apart: request.value_apart,
            ..PythonRequest::default()
        };
        let answered = match live {
            None => self.run_in(&call, &mut run, &cell).await,
            Some(live) => self.run_live(&call, &mut run, &cell, live).await,
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                run.fail(&error).await;
                return Err(error);
            }
        };
        let success = answer.success;
        let mut said = answer.ending.clone().unwrap_or_default();
        join(&mut said, answer.error.as_deref().unwrap_or_default());
        let mut error = failure(success, Some(said), "Python failed without an error message");
        run.barrier = barrier::of_process(answer.timed_out, answer.stopped.as_ref());
        if let (Some(error), Some(full)) = (&mut error, self.fullness(id, answer.signal, answer.stopped.as_ref()).await)
        {
            join(error, &full);
            run.barrier = Some(Barrier::DiskLimit);
        }
        let output = answer.output.text.clone();
        let ended = run.end(success, Some(&output), error.as_deref()).await;
        Ok(PythonExecResult {
            success,
            output,
            error,
            timed_out: answer.timed_out,
            state_lost: answer.state_lost,
            signal: answer.signal,
            stopped: answer.stopped,
            data: Some(PythonData {
                execution_count: answer.execution_count.and_then(|count| i64::try_from(count).ok()),
                output: answer.output,
                error_name: answer.error_name,
                error_message: answer.error_message,
            }),
            execution_id: Some(run.id.clone()),
            execution_time_ms: Some(ended.took_ms),
            recorded: ended.recorded,
            code: request.include_code.then(|| run.code.clone()),
            ending: answer.ending,
        })
    }

    /// Ends an interpreter that a `session` of Python has named, with all its variables; without a name the usual one is
    /// restarted.
    pub async fn end_python(&self, owner: &Owner, id: &SandboxId, session: Option<&str>) -> BayResult<()> {
        let call = self.admit_for(owner, id, Capability::Python, RESTART_LIMIT).await?;
        let mut route = self.route(&call).await?;
        self.call(&call, &mut route, &EndPython { session: session.map(str::to_owned) }).await?;
        Ok(())
    }

    /// Runs a command.
    pub async fn exec_shell(
        &self,
        owner: &Owner,
        id: &SandboxId,
        call: impl Into<Timed<ShellExecRequest>>,
    ) -> BayResult<ShellExecResult> {
        let timed = call.into();
        timed.check(MAX_TIMEOUT)?;
        let Timed { request, timeout, output, .. } = timed;
        check_code("command", &request.command)?;
        if request.command.contains('\0') {
            return Err(invalid("`command` holds a NUL character"));
        }
        let live = self.live(id, request.output_tag, output)?;
        let cwd = request.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(relative).transpose().map_err(at_cwd)?;
        let call = self.admit_for(owner, id, Capability::Shell, self.answer_limit(timeout)).await?;
        let mut run = Execution::begin(self, owner, id, ExecType::Shell, request.command)?;
        (run.description, run.tags) = (request.description, request.tags);
        let command = ShellRequest {
            command: run.code.clone(),
            cwd,
            timeout: Some(timeout.as_secs_f64()),
            stream: live.is_some(),
            ..ShellRequest::default()
        };
        let answered = match live {
            None => self.run_in(&call, &mut run, &command).await,
            Some(live) => self.run_live(&call, &mut run, &command, live).await,
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                run.fail(&error).await;
                return Err(at_cwd(error));
            }
        };
        let success = answer.success;
        let mut output = answer.stdout;
        let (mut error, mut stderr, mut ending) = (None, String::new(), None);
        if success {
            // What went well may still have warned: nothing that was written is lost.
            join(&mut output, &answer.stderr);
        } else {
            let mut why = answer.error.unwrap_or_default();
            run.barrier = barrier::of_process(answer.timed_out, answer.stopped.as_ref());
            if let Some(full) = self.fullness(id, answer.signal, answer.stopped.as_ref()).await {
                join(&mut why, &full);
                run.barrier = Some(Barrier::DiskLimit);
            }
            stderr = answer.stderr;
            let mut told = stderr.clone();
            join(&mut told, &why);
            if told.trim().is_empty() {
                told = format!("the command ended with exit code {}", answer.return_code);
            }
            error = Some(told);
            ending = Some(why).filter(|why| !why.is_empty());
        }
        let ended = run.end(success, Some(&output), error.as_deref()).await;
        Ok(ShellExecResult {
            success,
            output,
            error,
            timed_out: answer.timed_out,
            signal: answer.signal,
            stopped: answer.stopped,
            exit_code: Some(answer.return_code),
            execution_id: Some(run.id.clone()),
            execution_time_ms: Some(ended.took_ms),
            recorded: ended.recorded,
            command: request.include_code.then(|| run.code.clone()),
            stderr,
            ending,
        })
    }

    /// Why something was killed, where the runtime does not know it: because its cargo is full.
    async fn fullness(&self, id: &SandboxId, signal: Option<i32>, stopped: Option<&Stopped>) -> Option<String> {
        if signal != Some(SIGKILL) || stopped.is_some() {
            return None;
        }
        let session = self.inner.sessions.get(id)?;
        let limit = session.cargo_limit_bytes;
        let weight = self.inner.driver.cargos().weight(&session.cargo_id, limit).await.ok()?;
        let held = weight.bytes;
        (weight.at_least() > limit).then(|| {
            format!("The cargo is full ({held} of {limit} bytes), so the process was killed: delete files to make room")
        })
    }

    /// Runs something in a runtime, and notes in which session.
    pub(crate) async fn run_in<C: Call>(
        &self,
        call: &crate::router::Admitted,
        run: &mut Execution,
        request: &C,
    ) -> BayResult<C::Answer> {
        let mut route = self.route(call).await?;
        run.session_id = Some(route.session.id.clone());
        self.call(call, &mut route, request).await
    }
}

/// Of all that a command is asked for with, only `cwd` is a path.
fn at_cwd(error: BayError) -> BayError {
    if error.code == ErrorCode::InvalidPath { error.with("field", "cwd") } else { error }
}

fn check_code(name: &str, code: &str) -> BayResult<()> {
    if code.len() > MAX_CODE_BYTES {
        return Err(invalid(format!("`{name}` has {} bytes; the limit is {MAX_CODE_BYTES}", code.len())));
    }
    Ok(())
}

/// Why something failed, never in an empty sentence.
fn failure(success: bool, said: Option<String>, otherwise: &str) -> Option<String> {
    if success {
        return None;
    }
    Some(said.filter(|said| !said.trim().is_empty()).unwrap_or_else(|| otherwise.to_owned()))
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
