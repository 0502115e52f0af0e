//! Processes that run on by themselves in a sandbox: started, followed, fed, signalled, listed.
//!
//! They belong to the sandbox's session and end with it. While somebody follows one, its session is in use.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_api::{
    BayError, CreateProcess, ErrorCode, ExecType, Moment, ProcessInfo, ProcessInput, ProcessList, ProcessStatus,
    SandboxId,
};
use cove_core::{Deadline, Excerpt};
use cove_runtime_api::{
    Call, FollowProcess, Frames, ListProcesses, MAX_CODE_BYTES, ProcessFrame, ResizeProcess, ShowProcess,
    SignalProcess, StartProcess, TerminalSize, WriteProcess,
};

use crate::barrier;
use crate::exec::Execution;
use crate::router::{Admitted, Route, broken};
use crate::sandboxes::invalid;
use crate::session::{LiveSession, not_ready};
use crate::{Bay, BayResult, Owner};
use cove_config::{Capability, RuntimeType};
use cove_store::MAX_KEPT_PROCESSES;

/// How long a runtime may take for a word about a process.
const LIMIT: Duration = Duration::from_secs(40);

/// How long a runtime may take to say whether processes run, when its session would be ended otherwise.
const LOOK: Duration = Duration::from_secs(5);

/// How long the processes that are started with a session may take to be.
const KEPT: Duration = Duration::from_secs(10);

/// The signal that ends a process with everything below it.
const KILL: i32 = 9;

/// What the history keeps of a process's output.
const RECORDED_BYTES: usize = 32 << 10;

/// Whether a process that is followed from its start gets an entry in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessRecord {
    /// When it has ended and its follower has heard so.
    Kept,
    /// None: it is not its owner's work.
    None,
}

/// A process that is followed. Dropping this lets go of it; it runs on.
pub struct RunningProcess {
    bay: Bay,
    route: Route,
    frames: Frames<ProcessFrame>,
    run: Option<(Execution, Excerpt)>,
}

impl std::fmt::Debug for RunningProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningProcess").field("sandbox", &self.route.session.sandbox_id).finish_non_exhaustive()
    }
}

impl RunningProcess {
    /// What happens next. After the last frame there is nothing more to ask for. May be dropped and called again.
    pub async fn next(&mut self) -> BayResult<ProcessFrame> {
        let next = tokio::select! {
            frame = self.frames.next() => frame,
            wedged = self.route.container.watch() => return Err(self.bay.ended(&self.route).await?.unwrap_or(wedged)),
        };
        let frame = match next {
            Ok(frame) => frame,
            Err(error) => return Err(self.bay.ended(&self.route).await?.unwrap_or_else(|| broken(&error))),
        };
        match &frame {
            ProcessFrame::Output(chunk) => {
                if let (Some((_, kept)), Ok(bytes)) = (&mut self.run, STANDARD.decode(&chunk.data)) {
                    kept.push(&bytes);
                }
            }
            ProcessFrame::Ended(info) => {
                if let Some((mut run, kept)) = self.run.take() {
                    let success = info.return_code == Some(0);
                    let error = match (&info.error, info.return_code) {
                        (Some(error), _) => Some(error.clone()),
                        (None, Some(code)) if !success => Some(format!("the command ended with exit code {code}")),
                        _ => None,
                    };
                    run.barrier = barrier::of_process(info.status == ProcessStatus::TimedOut, info.stopped.as_ref());
                    run.end(success, Some(&kept.text()), error.as_deref()).await;
                }
            }
            ProcessFrame::Process(_) | ProcessFrame::Alive => {}
        }
        Ok(frame)
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // It goes on; nobody knows how it will end.
        if let Some((run, _)) = self.run.take() {
            run.let_go();
        }
    }
}

/// What can be done to a process by its capability: a terminal is one of its own.
fn capability(request: &StartProcess) -> Capability {
    if request.terminal.is_some() { Capability::Terminal } else { Capability::Shell }
}

impl Bay {
    /// Starts a process of its owner's and leaves it running.
    pub async fn create_process(&self, owner: &Owner, id: &SandboxId, wish: CreateProcess) -> BayResult<ProcessInfo> {
        if wish.restart && wish.name.is_none() {
            return Err(invalid("`restart` needs a `name`, by which the process is ended"));
        }
        let (name, kept) = (wish.name.clone(), wish.restart.then(|| wish.clone()));
        let started = self.start_process(owner, id, ordered(wish)?).await?;
        match (name, kept) {
            (Some(name), Some(kept)) => {
                if !self.inner.store.keep_process(id, &name, &kept, Moment::now()).await? {
                    let message = format!(
                        "this sandbox has {MAX_KEPT_PROCESSES} processes that are started again; end some of them. This \
                         one runs, and is not started again"
                    );
                    return Err(BayError::new(ErrorCode::QuotaExceeded, message));
                }
            }
            // Another one had this name, and its place is taken.
            (Some(name), None) => self.inner.store.forget_process(id, &name).await?,
            (None, _) => {}
        }
        Ok(started)
    }

    /// Starts what is to run in each session of a sandbox. One that cannot be started holds up no other.
    pub(crate) async fn start_kept_processes(&self, session: &LiveSession) {
        let sandbox = &session.sandbox_id;
        let kept = match self.inner.store.kept_processes(sandbox).await {
            Ok(kept) => kept,
            Err(error) => return tracing::warn!(%error, %sandbox, "its processes could not be looked up"),
        };
        if kept.is_empty() {
            return;
        }
        let all = session.all();
        let Some(ship) = all.iter().find(|one| one.spec.runtime_type == RuntimeType::Ship) else { return };
        let deadline = Deadline::after(KEPT);
        for wish in kept {
            let name = wish.name.clone().unwrap_or_default();
            let Ok(request) = ordered(wish) else { continue };
            if let Err(error) = ship.client.call(&request, deadline).await {
                tracing::warn!(%error, %sandbox, name, "a process could not be started again");
            }
        }
    }

    /// Starts a process and leaves it running.
    pub async fn start_process(&self, owner: &Owner, id: &SandboxId, request: StartProcess) -> BayResult<ProcessInfo> {
        check(&request)?;
        let request = StartProcess { follow: false, ..request };
        self.process_call(owner, id, capability(&request), &request).await
    }

    /// Starts a process and follows it from its first byte.
    pub async fn run_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: StartProcess,
        record: ProcessRecord,
    ) -> BayResult<RunningProcess> {
        check(&request)?;
        let request = StartProcess { follow: true, ..request };
        let call = self.admit_for(owner, id, capability(&request), LIMIT).await?;
        let run = match record {
            ProcessRecord::None => None,
            ProcessRecord::Kept => {
                let command = match &*request.args {
                    [.., flag, command] if flag.starts_with('-') && flag.ends_with('c') => command.clone(),
                    _ => std::iter::once(&request.program).chain(&request.args).cloned().collect::<Vec<_>>().join(" "),
                };
                let run = Execution::begin(self, owner, id, ExecType::Shell, command)?;
                Some((run, Excerpt::halves(RECORDED_BYTES)))
            }
        };
        let mut process = self.frames_of(&call, &request).await?;
        if let Some((mut run, kept)) = run {
            run.session_id = Some(process.route.session.id.clone());
            process.run = Some((run, kept));
        }
        Ok(process)
    }

    /// Follows a process: from a place on in all that it has written, or from now on.
    pub async fn follow_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        process_id: &str,
        from: Option<u64>,
    ) -> BayResult<RunningProcess> {
        let call = self.admit_for(owner, id, Capability::Shell, LIMIT).await?;
        let request = FollowProcess { process_id: process_id.to_owned(), from };
        self.frames_of(&call, &request).await.map_err(no_process)
    }

    async fn frames_of<C: Call>(&self, call: &Admitted, request: &C) -> BayResult<RunningProcess> {
        let mut route = self.route(call).await?;
        let asked = |container: Arc<crate::session::LiveContainer>| async move {
            container.client.follow(request, call.work_deadline()).await
        };
        let frames = self.ask(call, &mut route, asked).await?;
        Ok(RunningProcess { bay: self.clone(), route, frames, run: None })
    }

    /// All processes that were started and are remembered, the oldest first. Starts nothing: a sandbox that does not run has
    /// none.
    pub async fn processes(&self, owner: &Owner, id: &SandboxId) -> BayResult<ProcessList> {
        let call = self.admit_for(owner, id, Capability::Shell, LIMIT).await?;
        if self.inner.sessions.get(id).is_none() {
            return Ok(ProcessList { processes: Vec::new() });
        }
        let mut route = self.route(&call).await?;
        self.call(&call, &mut route, &ListProcesses {}).await.map_err(|error| match error.code {
            // It ends, and its processes with it.
            ErrorCode::ShipError => not_ready(),
            _ => error,
        })
    }

    /// One process, with what it wrote.
    pub async fn process(&self, owner: &Owner, id: &SandboxId, process_id: &str) -> BayResult<ProcessInfo> {
        let request = ShowProcess { process_id: process_id.to_owned() };
        self.process_call(owner, id, Capability::Shell, &request).await.map_err(no_process)
    }

    /// Writes what its owner says to a process's standard input or terminal.
    pub async fn write_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        process_id: &str,
        input: ProcessInput,
    ) -> BayResult<ProcessInfo> {
        let mut bytes = input.text.unwrap_or_default().into_bytes();
        let data = STANDARD.decode(input.data.unwrap_or_default());
        bytes.extend(data.map_err(|_| invalid("`data` is not base64"))?);
        self.send_to_process(owner, id, process_id, &bytes, input.end).await
    }

    /// Writes bytes to a process's standard input or terminal, or closes it.
    pub async fn send_to_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        process_id: &str,
        bytes: &[u8],
        end: bool,
    ) -> BayResult<ProcessInfo> {
        let request = WriteProcess { process_id: process_id.to_owned(), data: STANDARD.encode(bytes), end };
        self.process_call(owner, id, Capability::Shell, &request).await.map_err(no_process)
    }

    /// Sends a signal to a process; the one that kills ends everything below it.
    pub async fn signal_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        process_id: &str,
        signal: i32,
    ) -> BayResult<ProcessInfo> {
        if signal == KILL {
            // For good, also where it is only to be started again and does not run now.
            self.alive_row(owner, id).await?;
            self.inner.store.forget_process(id, process_id).await?;
        }
        let request = SignalProcess { process_id: process_id.to_owned(), signal };
        self.process_call(owner, id, Capability::Shell, &request).await.map_err(no_process)
    }

    /// Gives a process's terminal another size.
    pub async fn resize_process(
        &self,
        owner: &Owner,
        id: &SandboxId,
        process_id: &str,
        size: TerminalSize,
    ) -> BayResult<ProcessInfo> {
        let request = ResizeProcess { process_id: process_id.to_owned(), size };
        self.process_call(owner, id, Capability::Shell, &request).await.map_err(no_process)
    }

    /// Whether a process runs in a session whose profile takes that for use. In a runtime that does not answer none does.
    pub(crate) async fn works_on(&self, session: &LiveSession) -> bool {
        if !session.profile.processes_keep_awake {
            return false;
        }
        for container in session.all() {
            if container.spec.runtime_type != RuntimeType::Ship {
                continue;
            }
            let listed = container.client.call(&ListProcesses {}, Deadline::after(LOOK)).await;
            if listed.is_ok_and(|listed| listed.processes.iter().any(|one| one.running)) {
                return true;
            }
        }
        false
    }

    async fn process_call<C: Call>(
        &self,
        owner: &Owner,
        id: &SandboxId,
        capability: Capability,
        request: &C,
    ) -> BayResult<C::Answer> {
        let call = self.admit_for(owner, id, capability, LIMIT).await?;
        let mut route = self.route(&call).await?;
        self.call(&call, &mut route, request).await
    }
}

/// As a runtime is told.
fn ordered(wish: CreateProcess) -> BayResult<StartProcess> {
    let mut argv = wish.argv.into_iter();
    let program = argv.next().ok_or_else(|| invalid("`argv` names no program"))?;
    Ok(StartProcess {
        program,
        args: argv.collect(),
        env: wish.env,
        cwd: wish.cwd,
        name: wish.name,
        input: wish.input,
        terminal: wish.terminal,
        timeout: wish.timeout.map(f64::from),
        follow: false,
    })
}

/// A process that a runtime does not know is not there: no file is.
fn no_process(error: BayError) -> BayError {
    match error.code {
        ErrorCode::FileNotFound => BayError { code: ErrorCode::NotFound, ..error },
        _ => error,
    }
}

fn check(request: &StartProcess) -> BayResult<()> {
    let bytes = request.program.len() + request.args.iter().map(String::len).sum::<usize>();
    if bytes > MAX_CODE_BYTES {
        return Err(invalid(format!("the command has {bytes} bytes; the limit is {MAX_CODE_BYTES}")));
    }
    Ok(())
}
