//! The kernel: one interpreter, one cell at a time, replaced when it cannot be saved.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cove_core::Deadline;
use cove_runtime_api::{KernelState, KernelStatus, PythonAnswer, PythonOutput};
use futures_util::FutureExt;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::interpreter::{Cell, CellAnswer, Event, Interpreter, Recipe};
use super::zygote::{PendingCopy, Started, Zygote};
use crate::process::{End, Live};
use crate::ship::causes::{Moment, told};
use crate::ship::error::ApiError;
use cove_cell::EndedByLimit;

/// How long an interrupted cell may take to stop, tried twice; then it is killed.
///
/// Long enough for `finally` blocks of ordinary code, short enough for the promise of deadline + 1 s.
const GRACE: Duration = Duration::from_millis(300);

/// What an answer may take beyond its time-out. Whoever asked is told then, whatever the interpreter is doing.
const OVERTIME: Duration = Duration::from_millis(950);

/// How long a restart is waited for.
const RESTART_LIMIT: Duration = Duration::from_secs(30);

/// Cells that may wait for their turn; more is a client that does not wait for answers.
const QUEUE: usize = 32;

/// The door to the kernel's task.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    orders: mpsc::Sender<CellOrder>,
    seen: Arc<Mutex<Seen>>,
    /// Ends the cell that is running, for a restart.
    cut: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Seen {
    state: KernelState,
    version: Option<String>,
    ipython: bool,
    execution_count: u64,
    restarts: u64,
}

#[derive(Debug)]
enum CellOrder {
    Run { cell: Cell, deadline: Deadline, live: Option<Live>, reply: oneshot::Sender<Result<PythonAnswer, ApiError>> },
    Restart { reply: oneshot::Sender<()> },
}

impl Kernel {
    /// Starts the kernel's task; the interpreter itself starts with the first cell.
    pub(crate) fn new(recipe: Recipe) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let cut = Arc::new(Notify::new());
        let attendant = Attendant {
            since: recipe.causes.now(),
            recipe,
            interpreter: None,
            zygote: None,
            next: None,
            last_end: None,
            seen: Arc::clone(&seen),
            cut: Arc::clone(&cut),
        };
        tokio::spawn(attendant.attend(inbox));
        Self { orders, seen, cut }
    }

    /// Runs a cell; `live` hears its output meanwhile. Dropping the future interrupts it.
    pub(crate) async fn run(
        &self,
        cell: Cell,
        deadline: Deadline,
        live: Option<Live>,
    ) -> Result<PythonAnswer, ApiError> {
        let (reply, answer) = oneshot::channel();
        let order = CellOrder::Run { cell, deadline, live, reply };
        self.orders.try_send(order).map_err(|_| ApiError::too_many("Too many cells are waiting for their turn"))?;
        match tokio::time::timeout_at(deadline.backstop(OVERTIME).at().into(), answer).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(ApiError::internal("the kernel has ended"))),
            Err(_) => Ok(PythonAnswer {
                state_lost: true,
                ..failed(
                    "TimeoutError",
                    format!(
                        "TimeoutError: execution timed out after {}s; Python did not react and is being ended: all \
                         variables are lost",
                        deadline.budget().as_secs_f64()
                    ),
                    true,
                )
            }),
        }
    }

    /// Ends the interpreter, with it all variables and what the code has started.
    pub(crate) async fn restart(&self) -> Result<(), ApiError> {
        let (reply, done) = oneshot::channel();
        self.cut.notify_one();
        let sent = self.orders.send(CellOrder::Restart { reply }).await;
        sent.map_err(|_| ApiError::internal("the kernel has ended"))?;
        let done = tokio::time::timeout(RESTART_LIMIT, done).await;
        let late = |_| ApiError::timeout(format!("Python could not be restarted within {RESTART_LIMIT:?}"));
        done.map_err(late)?.map_err(|_| ApiError::internal("the kernel has ended"))
    }

    pub(crate) fn status(&self) -> KernelStatus {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        KernelStatus {
            status: seen.state,
            alive: seen.state != KernelState::NotStarted,
            python_version: seen.version.clone(),
            ipython: seen.ipython,
            execution_count: seen.execution_count,
            restarts: seen.restarts,
        }
    }
}

/// The task that owns the interpreter.
struct Attendant {
    recipe: Recipe,
    interpreter: Option<Interpreter>,
    /// With modules to preload: what interpreters are copied from.
    zygote: Option<Zygote>,
    /// The next copy, made while the present one is used: a restart then does not even wait for a fork.
    next: Option<PendingCopy>,
    /// How the last interpreter ended while nobody was looking; the next cell is told.
    last_end: Option<String>,
    /// When the last cell began, or an end was told.
    since: Moment,
    seen: Arc<Mutex<Seen>>,
    cut: Arc<Notify>,
}

/// How a cell came to its end.
enum Outcome {
    Answered(CellAnswer),
    Interrupted(CellAnswer),
    Killed,
    Restarted,
    Died(End),
}

impl Attendant {
    async fn attend(mut self, mut inbox: mpsc::Receiver<CellOrder>) {
        loop {
            self.warm().await;
            let order = tokio::select! {
                biased;
                order = inbox.recv() => order,
                words = idle(&mut self.interpreter) => {
                    if let Some(how) = words {
                        self.last_end = Some(self.explain(how).0);
                    }
                    continue;
                }
            };
            match order {
                None => break,
                Some(CellOrder::Restart { reply }) => {
                    // If no cell was running, the next one must not hear of it.
                    let _ = self.cut.notified().now_or_never();
                    self.drop_interpreter().await;
                    let _ = reply.send(());
                }
                Some(CellOrder::Run { cell, deadline, live, mut reply }) => {
                    if reply.is_closed() {
                        continue;
                    }
                    self.note(|seen| seen.state = KernelState::Busy);
                    self.since = self.recipe.causes.now();
                    let answer = self.run(&cell, deadline, live, &mut reply).await;
                    let alive = self.interpreter.is_some();
                    self.note(|seen| seen.state = if alive { KernelState::Idle } else { KernelState::NotStarted });
                    let _ = reply.send(answer);
                    self.look_ahead().await;
                }
            }
        }
        self.drop_interpreter().await;
    }

    /// With modules to preload, an interpreter is always ready or on its way.
    async fn warm(&mut self) {
        if self.recipe.preload.is_none() || self.interpreter.is_some() {
            return;
        }
        // What goes wrong here goes wrong again with the next cell, and is told there.
        if let Ok(started) = self.start().await {
            self.note(|seen| {
                seen.version = Some(started.version.clone());
                seen.state = KernelState::Idle;
            });
            self.interpreter = Some(started);
        }
    }

    /// An interpreter: a copy of the zygote where there is one, else a new one.
    async fn start(&mut self) -> io::Result<Interpreter> {
        if self.recipe.preload.is_none() || !self.recipe.family.has_orphans() {
            return Interpreter::start(&self.recipe).await;
        }
        // Taken out: what fails here ends it. Guests may have killed it, or be found where nobody should be.
        if let Some(mut zygote) = self.zygote.take() {
            let waiting = match self.next.take() {
                Some(next) if zygote.is_alive() => next.arrive().await,
                Some(_) => Err(io::Error::other("it has ended")),
                None => zygote.copy_now(&self.recipe).await,
            };
            if let Ok(copy) = waiting {
                self.zygote = Some(zygote);
                return Ok(copy);
            }
        }
        match Zygote::start(&self.recipe).await? {
            Started::Zygote(mut zygote) => {
                let copy = zygote.copy_now(&self.recipe).await?;
                self.zygote = Some(zygote);
                Ok(copy)
            }
            Started::Interpreter(plain) => Ok(*plain),
        }
    }

    /// Has the next copy made, once the present one has been used: before, a restart would lose nothing.
    async fn look_ahead(&mut self) {
        if self.next.is_some() || self.interpreter.is_none() {
            return;
        }
        if let Some(zygote) = &mut self.zygote {
            // A zygote that cannot is not ended now: the present interpreter would end with it.
            self.next = zygote.copy(&self.recipe).await.ok();
        }
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn drop_interpreter(&mut self) {
        if let Some(mut interpreter) = self.interpreter.take() {
            interpreter.kill().await;
            self.note(|seen| {
                seen.restarts += 1;
                seen.state = KernelState::NotStarted;
                seen.execution_count = 0;
            });
        }
    }

    async fn run(
        &mut self,
        cell: &Cell,
        deadline: Deadline,
        live: Option<Live>,
        reply: &mut oneshot::Sender<Result<PythonAnswer, ApiError>>,
    ) -> Result<PythonAnswer, ApiError> {
        let begin = Instant::now();
        let seconds = deadline.budget().as_secs_f64();
        if deadline.is_over() {
            return Ok(failed(
                "TimeoutError",
                format!("Timed out after {seconds}s: earlier cells were still running, this one was not started"),
                true,
            ));
        }
        if self.interpreter.is_none() {
            let started = self.start().await;
            let started =
                started.map_err(|error| ApiError::not_started(format!("Python could not be started: {error}")))?;
            self.note(|seen| seen.version = Some(started.version.clone()));
            self.interpreter = Some(started);
        }
        let Some(interpreter) = self.interpreter.as_mut() else {
            return Err(ApiError::internal("Python is gone"));
        };
        let last_end = self.last_end.take();
        interpreter.tell(live.as_ref());
        let deadline = Instant::from_std(deadline.at());
        let outcome = match tokio::time::timeout_at(deadline, interpreter.send(cell)).await {
            Ok(Ok(())) => finish(interpreter, deadline, reply, &self.cut).await,
            Ok(Err(_)) => Outcome::Died(interpreter.end().await),
            Err(_) => Outcome::Killed,
        };
        let died = matches!(outcome, Outcome::Killed | Outcome::Restarted | Outcome::Died(_));
        if matches!(outcome, Outcome::Killed | Outcome::Restarted) {
            interpreter.kill().await;
        }
        interpreter.tell(None);
        let (out, err) = (interpreter.out.kept.take(), interpreter.err.kept.take());
        let mut answer = match outcome {
            Outcome::Answered(cell) => self.answered(cell),
            Outcome::Interrupted(cell) => {
                let mut answer = self.answered(cell);
                answer.success = false;
                answer.timed_out = true;
                answer.error_name = Some("TimeoutError".to_owned());
                answer.ending = Some(format!(
                    "TimeoutError: execution timed out after {seconds}s and was interrupted; variables are kept"
                ));
                answer
            }
            Outcome::Killed => failed(
                "TimeoutError",
                format!(
                    "TimeoutError: execution timed out after {seconds}s and did not react to an interrupt; Python was \
                     killed and will be restarted: all variables are lost"
                ),
                true,
            ),
            Outcome::Restarted => failed(
                "KernelRestarted",
                "The kernel was restarted while this cell was running; all variables are lost".to_owned(),
                false,
            ),
            Outcome::Died(end) => {
                let (last_end, stopped) = self.explain(UnaskedEnd::Ended(end));
                PythonAnswer { stopped: stopped.map(told), signal: end.signal, ..failed("KernelDied", last_end, false) }
            }
        };
        if died {
            self.interpreter = None;
            answer.state_lost = true;
            self.note(|seen| {
                seen.restarts += 1;
                seen.execution_count = 0;
            });
        }
        if let Some(last_end) = last_end {
            answer.state_lost = true;
            answer.stderr = format!("[since the last cell: {last_end}]\n");
        }
        answer.stdout = out.text();
        answer.stderr.push_str(&err.text());
        answer.output.text = format!("{}{}", answer.stdout, answer.stderr);
        answer.truncated = out.is_truncated() || err.is_truncated();
        answer.execution_time_ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(answer)
    }

    /// What is said of an interpreter that has ended, and why it was ended by force, where it was.
    fn explain(&mut self, how: UnaskedEnd) -> (String, Option<EndedByLimit>) {
        let UnaskedEnd::Ended(end) = how else {
            return ("Python broke its connection to Ship and was ended; all variables are lost".to_owned(), None);
        };
        let causes = &self.recipe.causes;
        let stopped = if end.is_kill() { causes.since(self.since, Some(end)) } else { None };
        self.since = causes.now();
        let how = match (&stopped, end.signal) {
            (Some(stopped), _) => format!("was killed (signal 9): {stopped}"),
            (None, Some(libc::SIGKILL)) => "was killed (signal 9)".to_owned(),
            (None, Some(libc::SIGSEGV)) => "crashed (signal 11, SIGSEGV)".to_owned(),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => format!("ended itself with exit code {}", end.code),
        };
        (format!("The Python process {how}; it will be restarted: all variables are lost"), stopped)
    }

    fn answered(&mut self, cell: CellAnswer) -> PythonAnswer {
        if let Some(interpreter) = &mut self.interpreter {
            interpreter.ipython = cell.ipython;
        }
        self.note(|seen| {
            seen.execution_count = cell.count;
            seen.ipython = cell.ipython;
        });
        let images = cell.images.into_iter().map(|png| BTreeMap::from([("image/png".to_owned(), png)])).collect();
        PythonAnswer {
            success: cell.error.is_none(),
            execution_count: Some(cell.count),
            output: PythonOutput { text: String::new(), images, results: cell.results },
            error_message: cell.error.as_ref().map(|error| error.message.clone()),
            error_name: cell.error.as_ref().map(|error| error.name.clone()),
            error: cell.error.map(|error| error.traceback),
            ..PythonAnswer::default()
        }
    }
}

/// How an interpreter ended that nobody had asked to.
#[derive(Debug, Clone, Copy)]
enum UnaskedEnd {
    Ended(End),
    /// It spoke without being asked: guest code has found the socket.
    Spoke,
}

/// Between cells: takes output that comes late, and notices when the interpreter ends.
async fn idle(slot: &mut Option<Interpreter>) -> Option<UnaskedEnd> {
    let Some(interpreter) = slot else { return std::future::pending().await };
    let how = match interpreter.next().await {
        Event::Output => return None,
        Event::Ended(end) => UnaskedEnd::Ended(end),
        Event::Answer(_) => UnaskedEnd::Spoke,
    };
    interpreter.end().await;
    *slot = None;
    Some(how)
}

async fn finish(
    interpreter: &mut Interpreter,
    deadline: Instant,
    reply: &mut oneshot::Sender<Result<PythonAnswer, ApiError>>,
    cut: &Notify,
) -> Outcome {
    loop {
        tokio::select! {
            biased;
            event = interpreter.next() => match event {
                Event::Answer(Ok(cell)) => return Outcome::Answered(cell),
                Event::Answer(Err(_)) => return Outcome::Killed,
                Event::Ended(end) => return Outcome::Died(end),
                Event::Output => {}
            },
            () = tokio::time::sleep_until(deadline) => break,
            () = cut.notified() => return Outcome::Restarted,
            // Nobody waits for the answer any more.
            () = reply.closed() => break,
        }
        // Output that never stops is an event that is always ready; the deadline must be seen all the same.
        if Instant::now() >= deadline {
            break;
        }
    }
    for _ in 0..2 {
        interpreter.interrupt();
        let until = Instant::now() + GRACE;
        while let Ok(event) = tokio::time::timeout_at(until, interpreter.next()).await {
            match event {
                Event::Answer(Ok(cell)) => return Outcome::Interrupted(cell),
                Event::Answer(Err(_)) => return Outcome::Killed,
                Event::Ended(end) => return Outcome::Died(end),
                Event::Output if Instant::now() >= until => break,
                Event::Output => {}
            }
        }
    }
    Outcome::Killed
}

/// The answer to a cell that did not come to its own end.
fn failed(name: &str, ending: String, timed_out: bool) -> PythonAnswer {
    PythonAnswer { ending: Some(ending), error_name: Some(name.to_owned()), timed_out, ..PythonAnswer::default() }
}
