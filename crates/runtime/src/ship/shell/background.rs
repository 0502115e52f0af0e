//! Commands left running: started now, looked at later, ended on request or with Ship.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cove_core::{Deadline, Excerpt};
use cove_runtime_api::{ProcessInfo, ProcessOutput, ProcessStatus, RefusalCode, ShellAnswer};
use tokio::sync::{Notify, watch};

use super::Order;
use super::run::{Running, TimedOut, reason};
use crate::process::{End, TreeEnd};
use crate::ship::ShipState;
use crate::ship::causes::{Causes, told};
use crate::ship::error::ApiError;
use cove_cell::EndedByLimit;

/// Jobs that run at once and jobs whose end is remembered; the oldest ended ones are forgotten first.
const MAX_JOBS: usize = 64;

/// How long a start may take; usually a millisecond.
const START_LIMIT: Duration = Duration::from_secs(5);

/// Why a job has ended that somebody has asked to end.
const ON_REQUEST: &str = "Command was ended on request, with its whole process tree";

/// What is known of one job.
#[derive(Debug)]
struct Job {
    command: String,
    pid: Option<i32>,
    started_at: f64,
    begin: Instant,
    seen: Mutex<Seen>,
    stop: Notify,
    done: watch::Sender<bool>,
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

/// All jobs, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    all: Mutex<BTreeMap<u64, (String, Arc<Job>)>>,
}

impl Jobs {
    /// Starts a command and returns at once.
    pub(super) async fn start(state: &ShipState, order: Order) -> Result<ShellAnswer, ApiError> {
        let jobs = &state.jobs;
        jobs.make_room()?;
        let Ok(running) = tokio::time::timeout(START_LIMIT, Running::start(state, &order)).await else {
            return Err(ApiError::timeout(format!("bash could not be started within {START_LIMIT:?}")));
        };
        let running = running?;
        let pid = Some(running.program.pid());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let job = Arc::new(Job {
            command: order.command,
            pid,
            started_at: now,
            begin: Instant::now(),
            seen: Mutex::default(),
            stop: Notify::new(),
            done: watch::Sender::new(false),
        });
        let id = new_id()?;
        {
            let mut all = jobs.lock();
            let next = all.last_key_value().map_or(0, |(last, _)| last + 1);
            all.insert(next, (id.clone(), Arc::clone(&job)));
        }
        tokio::spawn(attend(running, job, order.deadline, state.causes.clone()));
        Ok(ShellAnswer { success: true, pid, process_id: Some(id), ..ShellAnswer::default() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, (String, Arc<Job>)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_room(&self) -> Result<(), ApiError> {
        let mut all = self.lock();
        if all.len() < MAX_JOBS {
            return Ok(());
        }
        let ended = all.iter().find(|(_, (_, job))| job.seen().end.is_some()).map(|(key, _)| *key);
        match ended {
            Some(key) => all.remove(&key).map_or(Ok(()), |_| Ok(())),
            None => Err(ApiError::too_many(format!("{MAX_JOBS} background processes are running; end one first"))),
        }
    }

    fn find(&self, id: &str) -> Result<Arc<Job>, ApiError> {
        let found = self.lock().values().find(|(other, _)| other == id).map(|(_, job)| Arc::clone(job));
        found
            .ok_or_else(|| ApiError::not_found(RefusalCode::NotFound, format!("There is no background process {id:?}")))
    }

    /// All jobs, without their output.
    pub(super) fn list(&self) -> Vec<ProcessInfo> {
        self.lock().values().map(|(id, job)| job.summary(id)).collect()
    }

    /// One job with its output so far.
    pub(super) fn show(&self, id: &str) -> Result<ProcessInfo, ApiError> {
        let job = self.find(id)?;
        let summary = job.summary(id);
        let seen = job.seen();
        let output = ProcessOutput {
            stdout: seen.out.text(),
            stderr: seen.err.text(),
            truncated: seen.out.is_truncated() || seen.err.is_truncated(),
        };
        Ok(ProcessInfo { output: Some(output), ..summary })
    }

    /// Ends a job with its whole tree and waits for that; a job that has ended already stays as it is.
    pub(super) async fn kill(&self, id: &str) -> Result<ProcessInfo, ApiError> {
        let job = self.find(id)?;
        let mut done = job.done.subscribe();
        job.stop.notify_one();
        // The attendant is bounded by the end of the tree; if it is gone altogether, so is the job.
        let _ = done.wait_for(|done| *done).await;
        self.show(id)
    }
}

/// Without Ship there are no jobs.
impl Drop for Jobs {
    fn drop(&mut self) {
        self.lock().values().for_each(|(_, job)| job.stop.notify_one());
    }
}

impl Job {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn summary(&self, id: &str) -> ProcessInfo {
        let end = self.seen().end.clone();
        ProcessInfo {
            process_id: id.to_owned(),
            pid: self.pid,
            command: self.command.clone(),
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

/// Reads a job's output and waits for its end, its deadline or the word to stop.
async fn attend(mut running: Running, job: Arc<Job>, deadline: Option<Deadline>, causes: Causes) {
    {
        // Empty, but with the right bound.
        let mut seen = job.seen();
        seen.out = running.out.kept.clone();
        seen.err = running.err.kept.clone();
    }
    let over = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.at().into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let (end, status, timed_out) = loop {
        tokio::select! {
            biased;
            end = running.program.ended() => {
                running.out.drain();
                running.err.drain();
                let status = if end.code == 0 { ProcessStatus::Completed } else { ProcessStatus::Failed };
                break (end, status, None);
            }
            () = job.stop.notified() => break (running.end_tree().await.end, ProcessStatus::Killed, None),
            () = &mut over => {
                let TreeEnd { end, whole } = running.end_tree().await;
                let after_s = deadline.map(|deadline| deadline.budget().as_secs_f64());
                break (end, ProcessStatus::TimedOut, after_s.map(|after_s| TimedOut { after_s, whole }));
            }
            () = running.out.fill() => {}
            () = running.err.fill() => {}
        }
        collect(&job, &mut running);
    };
    collect(&job, &mut running);
    {
        let mut seen = job.seen();
        let stopped = match status {
            ProcessStatus::Killed => None,
            ProcessStatus::TimedOut => causes.since(running.begun, None),
            _ => causes.since(running.begun, Some(end)),
        };
        let error = match status {
            ProcessStatus::Killed => Some(ON_REQUEST.to_owned()),
            _ => reason(end, timed_out, stopped),
        };
        seen.end = Some(Ended { end, status, error, stopped, after_ms: millis(job.begin) });
    }
    job.done.send_replace(true);
    let Running { program, out, err, .. } = running;
    program.release();
    out.forget();
    err.forget();
}

fn collect(job: &Job, running: &mut Running) {
    let mut seen = job.seen();
    seen.out.append(&running.out.kept.take());
    seen.err.append(&running.err.kept.take());
}

fn new_id() -> Result<String, ApiError> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(format!("{:08x}", u32::from_ne_bytes(random)))
}
