//! The worker pool: the host's side of one zygote. Children are forked ahead of demand, handed out, and reaped.
//!
//! A thread of its own listens to the zygote, so that an engine belongs to no particular runtime. When the zygote ends,
//! every child of it ends too; the engine then starts another one.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{SendFlags, Shutdown};
use rustix::process::{WaitId, WaitIdOptions};
use tokio::sync::{Notify, oneshot};

use crate::control::{self, Fork, Notice};
use crate::launch;
use crate::process::{Child, Process};
use crate::walls::{WallName, WallReport, WallState};

/// How long a death notice may take after the socket has closed.
const DEATH_NOTICE_LIMIT: Duration = Duration::from_millis(300);

/// Deaths that no session has asked about; more are of no use.
const MAX_DEATHS: usize = 256;

/// Why no child could be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoChild {
    /// This zygote is gone: another one may do better.
    #[error("the zygote has ended")]
    ZygoteGone,
    /// It is there and could not fork.
    #[error("no process could be forked: {0}")]
    ForkFailed(String),
}

type TakenChild = Result<Child, NoChild>;

/// One living zygote and its spare children. Dropping it ends the zygote and all its children.
pub(crate) struct WorkerPool {
    shared: Arc<Shared>,
    report: WallReport,
}

struct Shared {
    control: OwnedFd,
    spare_children: usize,
    state: Mutex<State>,
    somebody_died: Notify,
}

#[derive(Default)]
struct State {
    spares: VecDeque<Child>,
    waiting: VecDeque<oneshot::Sender<TakenChild>>,
    /// Forks asked for and not yet seen.
    asked: usize,
    gone: bool,
    deaths: VecDeque<(u64, ExitStatus)>,
}

impl WorkerPool {
    /// Starts a zygote and waits until it is ready.
    pub(crate) async fn start(program: &Path, spare_children: usize, at_most: Duration) -> Result<Self, String> {
        let (control, process) = launch::start(program, spare_children > 1)
            .map_err(|error| format!("{} could not be started: {error}", program.display()))?;
        Self::attend(control, Some(process), spare_children, at_most).await
    }

    /// Listens to whatever speaks on the other end of `control`.
    pub(crate) async fn attend(
        control: OwnedFd,
        first: Option<std::process::Child>,
        spare_children: usize,
        at_most: Duration,
    ) -> Result<Self, String> {
        let shared =
            Arc::new(Shared { control, spare_children, state: Mutex::default(), somebody_died: Notify::new() });
        let (ready, heard) = oneshot::channel();
        let listener = Listener { shared: Arc::clone(&shared), first, zygote: None };
        std::thread::Builder::new()
            .name("cove-pool".into())
            .stack_size(128 << 10)
            .spawn(move || listener.listen(ready))
            .map_err(|error| format!("no thread to listen to the worker: {error}"))?;
        // From here on a failure drops the pool, and with it the zygote.
        let mut pool = Self { shared, report: WallReport { walls: Vec::new() } };
        pool.report = match tokio::time::timeout(at_most, heard).await {
            Ok(Ok(report)) => report?,
            Ok(Err(_)) => return Err("the worker's listener ended".into()),
            Err(_) => return Err(format!("the worker was not ready within {} ms", at_most.as_millis())),
        };
        Ok(pool)
    }

    pub(crate) fn report(&self) -> &WallReport {
        &self.report
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.shared.lock().gone
    }

    /// A child nobody has used. Taken from the spares, or waited for.
    pub(crate) async fn take(&self) -> TakenChild {
        let forked = {
            let mut state = self.shared.lock();
            if state.gone {
                return Err(NoChild::ZygoteGone);
            }
            while let Some(child) = state.spares.pop_front() {
                if !child.process.has_ended() {
                    self.shared.refill(&mut state);
                    return Ok(child);
                }
            }
            let (sender, forked) = oneshot::channel();
            state.waiting.push_back(sender);
            self.shared.refill(&mut state);
            forked
        };
        forked.await.unwrap_or(Err(NoChild::ZygoteGone))
    }

    /// What a child has died of, if the zygote has something to say about it.
    pub(crate) async fn cause_of_death(&self, number: u64) -> Option<ExitStatus> {
        let search = async {
            loop {
                let mut died = std::pin::pin!(self.shared.somebody_died.notified());
                died.as_mut().enable();
                {
                    let mut state = self.shared.lock();
                    if let Some(at) = state.deaths.iter().position(|(other, _)| *other == number) {
                        return state.deaths.remove(at).map(|(_, status)| status);
                    }
                    if state.gone {
                        return None;
                    }
                }
                died.await;
            }
        };
        tokio::time::timeout(DEATH_NOTICE_LIMIT, search).await.ok().flatten()
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        // The zygote reads the end of the socket, and so does the listener, which then clears up the rest.
        let _ = rustix::net::shutdown(&self.shared.control, Shutdown::Both);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock; if it did, the lists would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for children when too few are there or on their way.
    ///
    /// Several at once and not one after each taking: a fork at the very moment at which a run starts would compete
    /// with it for the processor.
    fn refill(&self, state: &mut State) {
        let coming = state.spares.len() + state.asked;
        if coming > state.waiting.len() + self.spare_children / 2 {
            return;
        }
        let missing = (state.waiting.len() + self.spare_children).saturating_sub(coming);
        let Some(count) = u32::try_from(missing).ok().filter(|count| *count > 0) else { return };
        // Never waits: if the socket is full, the next child that arrives asks again.
        let sent = rustix::net::send(&self.control, &Fork(count).encode(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        if sent.is_ok() {
            state.asked += missing;
        }
    }

    fn child_forked(&self, child: Child) {
        let mut state = self.lock();
        state.asked = state.asked.saturating_sub(1);
        let mut child = Ok(child);
        while let Some(waiting) = state.waiting.pop_front() {
            match waiting.send(child) {
                Ok(()) => return self.refill(&mut state),
                // Whoever waited has given up.
                Err(back) => child = back,
            }
        }
        state.spares.extend(child);
        self.refill(&mut state);
    }

    fn fork_failed(&self, why: String) {
        let mut state = self.lock();
        state.asked = state.asked.saturating_sub(1);
        if let Some(waiting) = state.waiting.pop_front() {
            let _ = waiting.send(Err(NoChild::ForkFailed(why)));
        }
    }

    fn child_died(&self, number: u64, status: i32) {
        let mut state = self.lock();
        if state.deaths.len() == MAX_DEATHS {
            state.deaths.pop_front();
        }
        state.deaths.push_back((number, ExitStatus::from_raw(status)));
        drop(state);
        self.somebody_died.notify_waiters();
    }

    fn end(&self) {
        let mut state = self.lock();
        state.gone = true;
        state.spares.clear();
        for waiting in state.waiting.drain(..) {
            let _ = waiting.send(Err(NoChild::ZygoteGone));
        }
        drop(state);
        self.somebody_died.notify_waiters();
    }
}

/// The thread that listens.
struct Listener {
    shared: Arc<Shared>,
    /// The process that was started; where there is a PID namespace it ends at once and leaves the zygote behind.
    first: Option<std::process::Child>,
    zygote: Option<Process>,
}

impl Listener {
    fn listen(mut self, ready: oneshot::Sender<Result<WallReport, String>>) {
        let mut ready = Some(ready);
        while let Ok(Some((bytes, descriptors))) = control::receive(&self.shared.control) {
            let Some(notice) = Notice::decode(&bytes) else { break };
            match notice {
                Notice::Ready(report) => {
                    self.zygote = descriptors.into_iter().next().map(Process::new);
                    let report = serde_json::from_slice::<WallReport>(&report).map_err(|error| error.to_string());
                    if let (Ok(true), Some(first)) = (report.as_ref().map(stepped_out), &mut self.first) {
                        let _ = first.wait();
                    }
                    if let Some(ready) = ready.take() {
                        let _ = ready.send(report);
                    }
                    // The spares of the first session are forked while it is being set up.
                    let mut state = self.shared.lock();
                    self.shared.refill(&mut state);
                }
                Notice::Failed(why) => {
                    if let Some(ready) = ready.take() {
                        let _ = ready.send(Err(why));
                    }
                }
                Notice::Forked(number) => match child(number, descriptors) {
                    Ok(child) => self.shared.child_forked(child),
                    Err(error) => self.shared.fork_failed(error.to_string()),
                },
                Notice::ForkFailed(why) => self.shared.fork_failed(why),
                Notice::Died(number, status) => self.shared.child_died(number, status),
            }
        }
        self.shared.end();
        self.reap();
        if let Some(ready) = ready {
            let _ = ready.send(Err("the worker ended before it was ready".into()));
        }
    }

    /// Sees to it that neither process is left, not even as a zombie.
    fn reap(&mut self) {
        if let Some(first) = &mut self.first {
            let _ = first.kill();
            let _ = first.wait();
        }
        if let Some(zygote) = &self.zygote {
            zygote.kill();
            let id = WaitId::PidFd(std::os::fd::AsFd::as_fd(zygote.descriptor()));
            // Fails where the zygote was the first process itself, and has just been waited for.
            let _ = rustix::io::retry_on_intr(|| rustix::process::waitid(id.clone(), WaitIdOptions::EXITED));
        }
    }
}

/// Whether the process that was started has ended already, leaving the zygote in a PID namespace.
fn stepped_out(report: &WallReport) -> bool {
    report.get(WallName::PidNamespace).is_some_and(|wall| wall.state == WallState::Active)
}

fn child(number: u64, descriptors: Vec<OwnedFd>) -> io::Result<Child> {
    let [socket, process] = <[OwnedFd; 2]>::try_from(descriptors)
        .map_err(|_| io::Error::other("the process has no descriptors left for another child"))?;
    let (socket, process) = (UnixStream::from(socket), Process::new(process));
    socket.set_nonblocking(true)?;
    Ok(Child { process, socket, number })
}

#[cfg(test)]
#[path = "worker_pool_tests.rs"]
mod tests;
