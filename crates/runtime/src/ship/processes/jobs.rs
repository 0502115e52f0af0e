//! Processes left running: started now, followed, fed and looked at later, ended on request or with Ship.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cove_core::{Deadline, Excerpt};
use cove_runtime_api::{
    ProcessInfo, ProcessOutput, ProcessStatus, ProcessStream, RefusalCode, StartProcess, TerminalSize, time_limit,
};
use cove_walls::spawn::{StandardStreams, Start, no_input};
use cove_workspace::{RelPath, WORKSPACE_MOUNT};
use rustix::process::Signal;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};

use super::input::{Input, InputEnd};
use crate::process::{Capture, End, Hearer, Program, Transcript, TreeEnd};
use crate::ship::ShipState;
use crate::ship::causes::{Causes, Moment, told};
use crate::ship::error::ApiError;
use crate::ship::fs::workspace::rel_path;
use crate::ship::shell::{TimedOut, environment, reason};
use crate::ship::term::{Terminal, on_terminal};
use cove_cell::EndedByLimit;

/// Processes that run at once and processes whose end is remembered; the oldest ended ones are forgotten first.
const MAX_JOBS: usize = 64;

/// How long a start may take; usually a millisecond.
const START_LIMIT: Duration = Duration::from_secs(5);

/// How long the last output of a program in a terminal is waited for.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Words to one process that wait to be heard.
const MAX_WORDS: usize = 32;

/// The longest name of a process.
const MAX_NAME_CHARS: usize = 64;

/// Why a process has ended that somebody has asked to end.
const ON_REQUEST: &str = "Command was ended on request, with its whole process tree";

/// Goes to a folder before the program starts, with the program's own rights.
const GO_AND_RUN: &str = "cd -- \"$1\" || exit 125\nshift\nexec \"$@\"";

/// A process to start, checked.
#[derive(Debug)]
pub(crate) struct Launch {
    id: Option<String>,
    /// As it is shown.
    command: String,
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// As it was given.
    cwd: Option<String>,
    folder: OwnedFd,
    input: bool,
    terminal: Option<TerminalSize>,
    deadline: Option<Deadline>,
}

impl Launch {
    /// A command for `bash -lc`.
    pub(crate) fn command(
        state: &ShipState,
        command: String,
        cwd: Option<String>,
        env: Vec<(String, String)>,
        deadline: Option<Deadline>,
        folder: &RelPath,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            id: None,
            program: "/bin/bash".to_owned(),
            args: vec!["-lc".to_owned(), command.clone()],
            command,
            env,
            cwd,
            folder: state.workspace.folder(folder)?,
            input: false,
            terminal: None,
            deadline,
        })
    }

    /// Any program.
    pub(super) fn program(state: &ShipState, request: StartProcess) -> Result<Self, ApiError> {
        let StartProcess { program, args, env, cwd, name, input, terminal, timeout, follow: _ } = request;
        if program.is_empty() || program.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
            return Err(ApiError::validation("the program has no name, or a NUL character in it"));
        }
        if let Some(name) = &name {
            check_name(name)?;
        }
        let deadline = timeout.map(|seconds| long_limit(seconds).map(Deadline::after)).transpose()?;
        let command = match (&*args, program.ends_with("bash") || program.ends_with("/sh")) {
            ([.., flag, command], true) if flag.starts_with('-') && flag.ends_with('c') => command.clone(),
            _ => std::iter::once(&program).chain(&args).cloned().collect::<Vec<_>>().join(" "),
        };
        let env = environment(&state.env, env)?;
        let cwd = cwd.filter(|cwd| !cwd.is_empty());
        let is_elsewhere = cwd
            .as_deref()
            .is_some_and(|cwd| cwd.starts_with('/') && !std::path::Path::new(cwd).starts_with(WORKSPACE_MOUNT));
        let (program, args, folder) = if is_elsewhere {
            // Ship opens nothing for guests that is not theirs: the program goes there by itself.
            let go = ["-c", GO_AND_RUN, "sh", cwd.as_deref().unwrap_or_default(), &program].map(str::to_owned);
            ("/bin/sh".to_owned(), go.into_iter().chain(args).collect(), rel_path(".")?)
        } else {
            (program, args, rel_path(cwd.as_deref().unwrap_or("."))?)
        };
        let folder = state.workspace.folder(&folder)?;
        Ok(Self { id: name, command, program, args, env, cwd, folder, input, terminal, deadline })
    }
}

/// A process may be given more time than anybody waits for one answer.
fn long_limit(seconds: f64) -> Result<Duration, ApiError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if limit > cove_runtime_api::MAX_TIMEOUT => Ok(limit.min(Duration::from_secs(30 * 24 * 3600))),
        _ => Ok(time_limit(Some(seconds))?),
    }
}

/// Neither a number nor anything that could be taken for a path or an option.
fn check_name(name: &str) -> Result<(), ApiError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= MAX_NAME_CHARS && name.chars().all(plain) {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "a process's name begins with a letter and has at most {MAX_NAME_CHARS} letters, digits, `-`, `_` and `.`"
    )))
}

/// What somebody wants of a running process.
#[derive(Debug)]
enum Word {
    Signal(Signal),
    End,
}

/// What is known of one process.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) pid: Option<i32>,
    command: String,
    argv: Vec<String>,
    cwd: Option<String>,
    started_at: f64,
    begin: Instant,
    seen: Mutex<Seen>,
    words: mpsc::Sender<Word>,
    done: watch::Sender<bool>,
    pub(super) transcript: Arc<Transcript>,
    pub(super) input: Option<Arc<Input>>,
    pub(super) terminal: Option<Arc<Terminal>>,
}

#[derive(Debug, Default)]
struct Seen {
    out: Excerpt,
    err: Excerpt,
    end: Option<Ended>,
}

#[derive(Debug, Clone)]
struct Ended {
    end: End,
    status: ProcessStatus,
    error: Option<String>,
    stopped: Option<EndedByLimit>,
    after_ms: u64,
}

/// All processes, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Mutex<BTreeMap<u64, Arc<Job>>>,
}

impl Jobs {
    /// Starts a process and returns at once.
    pub(crate) async fn start(state: &ShipState, launch: Launch) -> Result<Arc<Job>, ApiError> {
        Self::start_followed(state, launch, |_| ()).await.map(|(job, ())| job)
    }

    /// Starts a process; `meet` sees it before anything of its output is read.
    pub(super) async fn start_followed<T>(
        state: &ShipState,
        launch: Launch,
        meet: impl FnOnce(&Job) -> T,
    ) -> Result<(Arc<Job>, T), ApiError> {
        let jobs = &state.jobs;
        jobs.make_room(launch.id.as_deref())?;
        let id = launch.id.clone().map_or_else(new_id, Ok)?;
        let (words, heard) = mpsc::channel(MAX_WORDS);
        let Launch { command, cwd, deadline, .. } = &launch;
        let (command, cwd, deadline) = (command.clone(), cwd.clone(), *deadline);
        let argv = std::iter::once(&launch.program).chain(&launch.args).cloned().collect();
        let program = launch.program.clone();
        let Ok(running) = tokio::time::timeout(START_LIMIT, Running::start(state, launch)).await else {
            return Err(ApiError::timeout(format!("{program} could not be started within {START_LIMIT:?}")));
        };
        let (mut running, input) = running?;
        let terminal = running.terminal();
        let input = input.map(|end| Arc::new(Input::new(end)));
        let job = Arc::new(Job {
            id,
            pid: Some(running.program.pid()),
            command,
            argv,
            cwd,
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            begin: Instant::now(),
            seen: Mutex::default(),
            words,
            done: watch::Sender::new(false),
            transcript: Arc::default(),
            input,
            terminal,
        });
        let met = meet(&job);
        running.tell(&job.transcript);
        {
            let mut all = jobs.lock();
            // One that has ended under this name makes room for it.
            all.retain(|_, other| other.id != job.id || other.is_running());
            let next = all.last_key_value().map_or(0, |(last, _)| last + 1);
            all.insert(next, Arc::clone(&job));
        }
        tokio::spawn(attend(running, Arc::clone(&job), deadline, state.causes.clone(), heard));
        Ok((job, met))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_room(&self, name: Option<&str>) -> Result<(), ApiError> {
        let mut all = self.lock();
        if all.values().any(|job| Some(&*job.id) == name && job.is_running()) {
            let name = name.unwrap_or_default();
            return Err(ApiError::conflict(format!("a process {name} is running; end it first, or take another name")));
        }
        if all.len() < MAX_JOBS {
            return Ok(());
        }
        let ended = all.iter().find(|(_, job)| !job.is_running()).map(|(key, _)| *key);
        match ended {
            Some(key) => all.remove(&key).map_or(Ok(()), |_| Ok(())),
            None => Err(ApiError::too_many(format!("{MAX_JOBS} background processes are running; end one first"))),
        }
    }

    /// The process with this id, or the running one with this number.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Job>, ApiError> {
        let all = self.lock();
        let by_id = all.values().find(|job| job.id == id);
        let found = by_id.or_else(|| {
            let pid: i32 = id.parse().ok()?;
            all.values().rev().find(|job| job.pid == Some(pid) && job.is_running())
        });
        let missing = || ApiError::not_found(RefusalCode::NotFound, format!("There is no background process {id:?}"));
        found.cloned().ok_or_else(missing)
    }

    /// All processes, without their output.
    pub(crate) fn list(&self) -> Vec<ProcessInfo> {
        self.lock().values().map(|job| job.summary()).collect()
    }

    /// One process with its output so far.
    pub(crate) fn show(&self, id: &str) -> Result<ProcessInfo, ApiError> {
        let job = self.find(id)?;
        let summary = job.summary();
        let seen = job.seen();
        let output = ProcessOutput {
            stdout: seen.out.text(),
            stderr: seen.err.text(),
            truncated: seen.out.is_truncated() || seen.err.is_truncated(),
        };
        Ok(ProcessInfo { output: Some(output), ..summary })
    }

    /// Ends a process with its whole tree and waits for that; one that has ended already stays as it is.
    pub(crate) async fn kill(&self, id: &str) -> Result<ProcessInfo, ApiError> {
        let job = self.find(id)?;
        job.end().await;
        self.show(&job.id)
    }
}

/// Without Ship there are no processes.
impl Drop for Jobs {
    fn drop(&mut self) {
        self.lock().values().for_each(|job| drop(job.words.try_send(Word::End)));
    }
}

impl Job {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_running(&self) -> bool {
        self.seen().end.is_none()
    }

    /// Ends it with its whole tree, and waits for that.
    pub(super) async fn end(&self) {
        let mut done = self.done.subscribe();
        // The attendant is bounded by the end of the tree; if it is gone altogether, so is the process.
        if self.words.send(Word::End).await.is_ok() {
            let _ = done.wait_for(|done| *done).await;
        }
    }

    /// Sends it a signal.
    pub(super) async fn signal(&self, signal: Signal) -> Result<(), ApiError> {
        if signal == Signal::KILL {
            self.end().await;
            return Ok(());
        }
        let busy = |_| ApiError::too_many("the process has not taken the signals before this one");
        self.words.try_send(Word::Signal(signal)).map_err(busy)
    }

    /// How it is, without its output.
    pub(super) fn summary(&self) -> ProcessInfo {
        let end = self.seen().end.clone();
        ProcessInfo {
            process_id: self.id.clone(),
            pid: self.pid,
            command: self.command.clone(),
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            terminal: self.terminal.is_some(),
            status: end.as_ref().map_or(ProcessStatus::Running, |end| end.status),
            running: end.is_none(),
            return_code: end.as_ref().map(|end| end.end.code),
            signal: end.as_ref().and_then(|end| end.end.signal),
            error: end.as_ref().and_then(|end| end.error.clone()),
            stopped: end.as_ref().and_then(|end| end.stopped).map(told),
            started_at: self.started_at,
            running_ms: end.map_or_else(|| millis(self.begin), |end| end.after_ms),
            output: None,
        }
    }
}

fn millis(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A program that has been started, and where it writes to.
struct Running {
    program: Program,
    mouth: Mouth,
    /// Before it started.
    begun: Moment,
}

enum Mouth {
    Pipes { out: Capture, err: Capture },
    Terminal { terminal: Arc<Terminal>, transcript: Arc<Transcript>, kept: Excerpt, is_closed: bool },
}

impl Running {
    /// Starts it; with it the end of its standard input that is ours, where it has one.
    async fn start(state: &ShipState, launch: Launch) -> Result<(Self, Option<InputEnd>), ApiError> {
        let Launch { program, args, mut env, folder, input, terminal, .. } = launch;
        let failed = |error: io::Error| ApiError::from_start(&program, &error);
        let (streams, mouth, input) = match terminal {
            None => {
                let (out, output) = Capture::open(state.output_limit_bytes).map_err(failed)?;
                let (err, error) = Capture::open(state.output_limit_bytes).map_err(failed)?;
                let (theirs, ours) =
                    if input { input_pipe().map_err(failed)? } else { (no_input().map_err(failed)?, None) };
                (StandardStreams { input: theirs, output, error }, Mouth::Pipes { out, err }, ours)
            }
            Some(size) => {
                let (terminal, peer) = Terminal::open(size).map_err(failed)?;
                let terminal = Arc::new(terminal);
                if !env.iter().any(|(name, _)| name == "TERM") {
                    env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
                }
                let kept = Excerpt::halves(state.output_limit_bytes);
                let mouth = Mouth::Terminal {
                    terminal: Arc::clone(&terminal),
                    transcript: Arc::default(),
                    kept,
                    is_closed: false,
                };
                (on_terminal(peer).map_err(failed)?, mouth, Some(InputEnd::Terminal(terminal)))
            }
        };
        let start = Start {
            program: program.clone(),
            args,
            env,
            cwd: folder,
            streams,
            terminal: terminal.is_some(),
            inherit: None,
            processes: state.process_limit,
        };
        let begun = state.causes.now();
        let program = state.family.start(start).await.map_err(failed)?;
        Ok((Self { program, mouth, begun }, input))
    }

    fn terminal(&self) -> Option<Arc<Terminal>> {
        match &self.mouth {
            Mouth::Pipes { .. } => None,
            Mouth::Terminal { terminal, .. } => Some(Arc::clone(terminal)),
        }
    }

    /// From now on everything is written down.
    fn tell(&mut self, to: &Arc<Transcript>) {
        match &mut self.mouth {
            Mouth::Pipes { out, err } => {
                out.tell(Some(Hearer::Transcript(Arc::clone(to), ProcessStream::Stdout)));
                err.tell(Some(Hearer::Transcript(Arc::clone(to), ProcessStream::Stderr)));
            }
            Mouth::Terminal { transcript, .. } => *transcript = Arc::clone(to),
        }
    }

    /// Ends the whole tree and takes what it still said.
    async fn end_tree(&mut self) -> TreeEnd {
        let end = self.program.end_tree().await;
        self.mouth.drain().await;
        end
    }
}

impl Mouth {
    /// Waits for more and takes it. May be dropped any time.
    async fn fill(&mut self) {
        match self {
            Self::Pipes { out, err } => tokio::select! {
                biased;
                () = out.fill() => {}
                () = err.fill() => {}
            },
            Self::Terminal { is_closed: true, .. } => std::future::pending().await,
            Self::Terminal { terminal, transcript, kept, is_closed } => match terminal.read().await {
                Ok(bytes) if !bytes.is_empty() => {
                    transcript.push(ProcessStream::Terminal, &bytes);
                    kept.push(&bytes);
                }
                // The last program has closed it.
                _ => *is_closed = true,
            },
        }
    }

    /// Takes what is there now.
    async fn drain(&mut self) {
        match self {
            Self::Pipes { out, err } => {
                out.drain();
                err.drain();
            }
            Self::Terminal { .. } => {
                let all = async {
                    while !matches!(self, Self::Terminal { is_closed: true, .. }) {
                        self.fill().await;
                    }
                };
                let _ = tokio::time::timeout(LAST_WORDS, all).await;
            }
        }
    }

    /// Hands over what was read, for who looks later.
    fn collect(&mut self, seen: &mut Seen) {
        match self {
            Self::Pipes { out, err } => {
                seen.out.append(&out.kept.take());
                seen.err.append(&err.kept.take());
            }
            Self::Terminal { kept, .. } => seen.out.append(&kept.take()),
        }
    }

    /// Empty excerpts with the right bound.
    fn bounds(&self) -> (Excerpt, Excerpt) {
        match self {
            Self::Pipes { out, err } => (out.kept.clone(), err.kept.clone()),
            Self::Terminal { kept, .. } => (kept.clone(), kept.clone()),
        }
    }

    fn forget(self) {
        if let Self::Pipes { out, err } = self {
            out.forget();
            err.forget();
        }
    }
}

/// A pipe for a program's standard input: its end, and ours.
fn input_pipe() -> io::Result<(OwnedFd, Option<InputEnd>)> {
    let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((theirs, Some(InputEnd::Pipe(pipe::Sender::from_owned_fd(ours)?))))
}

/// Reads a process's output and waits for its end, its deadline or the word to stop.
async fn attend(
    mut running: Running,
    job: Arc<Job>,
    deadline: Option<Deadline>,
    causes: Causes,
    mut words: mpsc::Receiver<Word>,
) {
    {
        let mut seen = job.seen();
        (seen.out, seen.err) = running.mouth.bounds();
    }
    let over = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.at().into()).await,
            None => std::future::pending().await,
        }
    };
    let feed = async {
        match &job.input {
            Some(input) => input.feed().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over, feed);
    let mut fed = false;
    let (end, status, timed_out) = loop {
        let full = job.transcript.is_full();
        tokio::select! {
            biased;
            end = running.program.ended() => {
                running.mouth.drain().await;
                let status = if end.code == 0 { ProcessStatus::Completed } else { ProcessStatus::Failed };
                break (end, status, None);
            }
            word = words.recv() => match word {
                Some(Word::Signal(signal)) => running.program.signal(signal),
                Some(Word::End) | None => break (running.end_tree().await.end, ProcessStatus::Killed, None),
            },
            () = &mut over => {
                let TreeEnd { end, whole } = running.end_tree().await;
                let after_s = deadline.map(|deadline| deadline.budget().as_secs_f64());
                break (end, ProcessStatus::TimedOut, after_s.map(|after_s| TimedOut { after_s, whole }));
            }
            () = &mut feed, if !fed => fed = true,
            () = job.transcript.room(), if full => {}
            () = running.mouth.fill(), if !full => {}
        }
        running.mouth.collect(&mut job.seen());
    };
    let Running { program, mut mouth, begun } = running;
    let trouble = program.trouble();
    {
        let mut seen = job.seen();
        mouth.collect(&mut seen);
        let stopped = match status {
            ProcessStatus::Killed => None,
            ProcessStatus::TimedOut => causes.since(begun, None),
            _ => causes.since(begun, Some(end)),
        };
        let error = match (status, trouble) {
            (_, Some(trouble)) => Some(ApiError::from_start(&job.command, &trouble).to_string()),
            (ProcessStatus::Killed, None) => Some(ON_REQUEST.to_owned()),
            _ => reason(end, timed_out, stopped),
        };
        seen.end = Some(Ended { end, status, error, stopped, after_ms: millis(job.begin) });
    }
    if let Some(input) = &job.input {
        input.close();
    }
    job.transcript.close();
    job.done.send_replace(true);
    program.release();
    mouth.forget();
}

fn new_id() -> Result<String, ApiError> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(format!("{:08x}", u32::from_ne_bytes(random)))
}
