//! Processes left running: started now, followed, fed and looked at later, ended on request or with Ship.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cove_cell::EndedByLimit;
use cove_core::{Deadline, Excerpt};
use cove_runtime_api::{ProcessInfo, ProcessOutput, ProcessStatus, RefusalCode};
use rustix::process::Signal;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

use super::input::Input;
use super::launch::Launch;
use super::running::{Outlet, Running};
use crate::process::{End, Transcript, TreeEnd};
use crate::ship::ShipState;
use crate::ship::causes::{Causes, told};
use crate::ship::error::ApiError;
use crate::ship::shell::{TimedOut, reason};
use crate::ship::term::Terminal;

/// Processes that run at once and processes whose end is remembered; the oldest ended ones are forgotten first.
const MAX_JOBS: usize = 64;

/// How long a start may take; usually a millisecond.
const START_LIMIT: Duration = Duration::from_secs(5);

/// Words to one process that wait to be heard.
const MAX_WORDS: usize = 32;

/// Why a process has ended that somebody has asked to end.
const ON_REQUEST: &str = "Command was ended on request, with its whole process tree";

/// What is asked of a running process.
#[derive(Debug)]
enum ProcessOrder {
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
    words: mpsc::Sender<ProcessOrder>,
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

impl Seen {
    fn take(&mut self, outlet: &mut Outlet) {
        outlet.collect(&mut self.out, &mut self.err);
    }
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
        self.lock().values().for_each(|job| drop(job.words.try_send(ProcessOrder::End)));
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
        if self.words.send(ProcessOrder::End).await.is_ok() {
            let _ = done.wait_for(|done| *done).await;
        }
    }

    /// Sends it a signal.
    pub(super) async fn signal(&self, signal: Signal) -> Result<(), ApiError> {
        if signal == Signal::KILL {
            self.end().await;
            return Ok(());
        }
        match self.words.try_send(ProcessOrder::Signal(signal)) {
            // It has ended, and stays as it is.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err(ApiError::too_many("the process has not taken the signals before this one"))
            }
        }
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

/// Reads a process's output and waits for its end, its deadline or the word to stop.
async fn attend(
    mut running: Running,
    job: Arc<Job>,
    deadline: Option<Deadline>,
    causes: Causes,
    mut words: mpsc::Receiver<ProcessOrder>,
) {
    {
        let mut seen = job.seen();
        (seen.out, seen.err) = running.outlet.bounds();
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
                running.outlet.drain().await;
                let status = if end.code == 0 { ProcessStatus::Completed } else { ProcessStatus::Failed };
                break (end, status, None);
            }
            word = words.recv() => match word {
                Some(ProcessOrder::Signal(signal)) => running.program.signal(signal),
                Some(ProcessOrder::End) | None => break (running.end_tree().await.end, ProcessStatus::Killed, None),
            },
            () = &mut over => {
                let TreeEnd { end, whole } = running.end_tree().await;
                let after_s = deadline.map(|deadline| deadline.budget().as_secs_f64());
                break (end, ProcessStatus::TimedOut, after_s.map(|after_s| TimedOut { after_s, whole }));
            }
            () = &mut feed, if !fed => fed = true,
            () = job.transcript.room(), if full => {}
            () = running.outlet.fill(), if !full => {}
        }
        job.seen().take(&mut running.outlet);
    };
    let Running { program, mut outlet, begun } = running;
    let trouble = program.trouble();
    {
        let mut seen = job.seen();
        seen.take(&mut outlet);
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
    outlet.forget();
}

fn new_id() -> Result<String, ApiError> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(format!("{:08x}", u32::from_ne_bytes(random)))
}
