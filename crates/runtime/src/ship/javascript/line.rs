//! Ship's side of the JavaScript room: starts it with the first run, speaks to it, replaces it when it is gone.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_walls::spawn::{StandardStreams, Start, no_input};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::{Notify, mpsc};

use super::ROOM_ARGUMENT;
use super::answer::Parts;
use super::wire::{Order, Run, Walls, Word};
use crate::process::{Capture, Family, Program};
use crate::ship::error::ApiError;
use crate::ship::frames::{Frames, Reader, Writer};
use crate::ship::fs::workspace::Workspace;

/// A cold disk and a loaded machine; usually 30 ms.
const START_LIMIT: Duration = Duration::from_secs(20);

/// What an answer may take beyond a run's own time; then the run is given up.
const OVERTIME: Duration = Duration::from_millis(900);

/// How long a room that has let a run's time pass may take to answer a simple question; then it is ended, and every
/// session with it.
const ROOM_LIMIT: Duration = Duration::from_secs(3);

/// The number of that question.
const QUESTION: u64 = 0;

/// What the room needs to start.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// This very program, and the words before [`ROOM_ARGUMENT`].
    pub(crate) program: PathBuf,
    pub(crate) prefix: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) family: Arc<Family>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) processes: Option<u64>,
}

/// The door to the room.
#[derive(Debug, Clone)]
pub(crate) struct Javascript(Arc<Door>);

#[derive(Debug)]
struct Door {
    recipe: Recipe,
    /// Held while the room is being started, so that there is one.
    line: tokio::sync::Mutex<Option<Arc<Line>>>,
    walls: Mutex<Option<Walls>>,
    next: AtomicU64,
}

/// A live room.
#[derive(Debug)]
struct Line {
    orders: mpsc::UnboundedSender<Order>,
    waiting: Mutex<HashMap<u64, mpsc::UnboundedSender<Word>>>,
    cut: Notify,
    gone: std::sync::atomic::AtomicBool,
    /// Held while the room is asked whether it is still there.
    doubt: Arc<tokio::sync::Mutex<()>>,
}

impl Line {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, mpsc::UnboundedSender<Word>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call that waits for its answer. Dropping it ends the run.
#[derive(Debug)]
pub(super) struct Call {
    id: u64,
    line: Arc<Line>,
    words: mpsc::UnboundedReceiver<Word>,
    begin: Instant,
    deadline: tokio::time::Instant,
    session: Option<String>,
    done: bool,
}

impl Javascript {
    pub(crate) fn new(recipe: Recipe) -> Self {
        let next = AtomicU64::new(1);
        Self(Arc::new(Door { recipe, line: tokio::sync::Mutex::new(None), walls: Mutex::new(None), next }))
    }

    /// Which of the engine's own walls stood when it was last started; `None` before its first run.
    pub(crate) fn walls(&self) -> Value {
        let walls = self.0.walls.lock().unwrap_or_else(PoisonError::into_inner);
        walls.as_ref().and_then(|walls| serde_json::to_value(walls).ok()).unwrap_or(Value::Null)
    }

    /// Hands over a run.
    pub(super) async fn exec(&self, run: Run) -> Result<Call, ApiError> {
        let (session, limit) = (run.session.clone(), Duration::from_millis(run.timeout_ms));
        self.call(session, limit, |id| Order::Exec { id, run }).await
    }

    /// Ends a session, or all; how many that were. A room that does not live has none.
    pub(super) async fn reset(&self, session: Option<String>) -> Result<u64, ApiError> {
        if self.living().await.is_none() {
            return Ok(0);
        }
        let mut call = self.call(None, Duration::ZERO, |id| Order::Reset { id, session }).await?;
        Ok(call.done().await.as_u64().unwrap_or(0))
    }

    async fn living(&self) -> Option<Arc<Line>> {
        self.0.line.lock().await.clone().filter(|line| !line.gone.load(Ordering::Relaxed))
    }

    async fn call(
        &self,
        session: Option<String>,
        limit: Duration,
        order: impl FnOnce(u64) -> Order,
    ) -> Result<Call, ApiError> {
        let (begin, limit) = (tokio::time::Instant::now(), limit + OVERTIME);
        let door = self.clone();
        // On its own: a start that somebody stops waiting for goes on for those who come next.
        let line = match tokio::time::timeout(limit, tokio::spawn(async move { door.line().await })).await {
            Ok(Ok(line)) => line?,
            Ok(Err(error)) => {
                return Err(ApiError::internal(format!("the start of JavaScript was interrupted: {error}")));
            }
            Err(_) => return Err(ApiError::timeout("timed out before JavaScript could be started")),
        };
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        // Not bounded here: the room keeps a run's console lines below its log limit.
        let (sender, words) = mpsc::unbounded_channel();
        line.waiting().insert(id, sender);
        let deadline = begin + limit;
        let call = Call { id, line, words, begin: Instant::now(), deadline, session, done: false };
        let _ = call.line.orders.send(order(id));
        Ok(call)
    }

    /// The room's line; the room is started where there is none.
    async fn line(&self) -> Result<Arc<Line>, ApiError> {
        let mut slot = self.0.line.lock().await;
        if let Some(line) = slot.as_ref() {
            drop(line.doubt.lock().await);
            if !line.gone.load(Ordering::Relaxed) {
                return Ok(Arc::clone(line));
            }
        }
        let (line, walls) = self.start().await.map_err(|error| ApiError::from_start("JavaScript", &error))?;
        *self.0.walls.lock().unwrap_or_else(PoisonError::into_inner) = Some(walls);
        Ok(Arc::clone(slot.insert(line)))
    }

    async fn start(&self) -> io::Result<(Arc<Line>, Walls)> {
        let recipe = &self.0.recipe;
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        let theirs = OwnedFd::from(theirs);
        let (out, output) = Capture::open(1024)?;
        let (mut err, error) = Capture::open(8 << 10)?;
        let root = recipe.workspace.root();
        let number = theirs.as_fd().as_raw_fd().to_string();
        let mut args = recipe.prefix.clone();
        args.extend([ROOM_ARGUMENT.to_owned(), number, recipe.folder.display().to_string()]);
        let start = Start {
            program: recipe.program.display().to_string(),
            args,
            env: Vec::new(),
            cwd: root.map_err(|error| io::Error::other(error.to_string()))?,
            streams: StandardStreams { input: no_input()?, output, error },
            terminal: false,
            inherit: Some(theirs),
            processes: recipe.processes,
        };
        let late = || io::Error::other(format!("no response within {START_LIMIT:?}"));
        let started = tokio::time::timeout(START_LIMIT, recipe.family.start_own(start)).await;
        let program = started.map_err(|_| late())??;
        out.forget();
        let Frames { mut reader, writer } = Frames::new(ours);
        let walls = match tokio::time::timeout(START_LIMIT, reader.receive::<Word>()).await {
            Ok(Ok(Word::Ready { walls })) => walls,
            Ok(other) => {
                err.drain();
                if let Some(trouble) = program.trouble() {
                    return Err(trouble);
                }
                let reason = other.err().map_or_else(|| "an unexpected word".to_owned(), |error| error.to_string());
                return Err(io::Error::other(format!("{reason}; it said: {}", err.kept.text().trim())));
            }
            Err(_) => return Err(late()),
        };
        err.forget();
        let (orders, outbox) = mpsc::unbounded_channel();
        let line = Arc::new(Line {
            orders,
            waiting: Mutex::default(),
            cut: Notify::new(),
            gone: std::sync::atomic::AtomicBool::new(false),
            doubt: Arc::default(),
        });
        let writing = tokio::spawn(write(outbox, writer));
        tokio::spawn(attend(Arc::clone(&line), program, reader, writing));
        Ok((line, walls))
    }
}

async fn write(mut outbox: mpsc::UnboundedReceiver<Order>, mut writer: Writer) {
    while let Some(order) = outbox.recv().await {
        let Ok(body) = serde_json::to_vec(&order) else { return };
        if writer.send(&body).await.is_err() {
            return;
        }
    }
}

/// Passes the room's words on until the room has gone; then everybody who waits is told, by the end of his channel.
async fn attend(line: Arc<Line>, mut program: Program, mut reader: Reader, writing: tokio::task::JoinHandle<()>) {
    loop {
        let word = tokio::select! {
            word = reader.receive::<Word>() => word,
            _ = program.ended() => break,
            () = line.cut.notified() => break,
        };
        let Ok(word) = word else { break };
        let (id, last) = match &word {
            Word::Ready { .. } => continue,
            Word::Log { id, .. } => (*id, false),
            Word::Done { id, .. } => (*id, true),
        };
        let mut waiting = line.waiting();
        if let Some(listener) = waiting.get(&id) {
            let _ = listener.send(word);
        }
        if last {
            waiting.remove(&id);
        }
    }
    line.gone.store(true, Ordering::Relaxed);
    writing.abort();
    line.waiting().clear();
    program.end_tree().await;
}

/// Asks the room something that takes no time, and ends it if it has no answer.
async fn question(line: Arc<Line>, _doubt: tokio::sync::OwnedMutexGuard<()>) {
    let (sender, mut words) = mpsc::unbounded_channel();
    line.waiting().insert(QUESTION, sender);
    let nobody = Some(String::new());
    let _ = line.orders.send(Order::Reset { id: QUESTION, session: nobody });
    if tokio::time::timeout(ROOM_LIMIT, words.recv()).await.is_err() {
        line.gone.store(true, Ordering::Relaxed);
        line.cut.notify_one();
    }
}

impl Call {
    /// The next word: a console line, or at last the answer. `None` after that.
    pub(super) async fn next(&mut self) -> Option<Word> {
        if self.done {
            return None;
        }
        let word = tokio::time::timeout_at(self.deadline, self.words.recv()).await;
        let lost = |why: &str| {
            let parts = Parts::refused(self.session.as_deref(), why).lost();
            Word::Done { id: self.id, answer: parts.answer(self.begin) }
        };
        let word = match word {
            Ok(Some(word)) => word,
            Ok(None) => lost("The JavaScript process has ended before its answer; all JavaScript sessions are lost"),
            Err(_) => {
                self.line.waiting().remove(&self.id);
                let _ = self.line.orders.send(Order::Cancel { id: self.id });
                // One question at a time; its answer is the same for all.
                if let Ok(doubt) = Arc::clone(&self.line.doubt).try_lock_owned() {
                    tokio::spawn(question(Arc::clone(&self.line), doubt));
                }
                lost("The run did not end in time and was ended, with its session if it had one")
            }
        };
        self.done = matches!(word, Word::Done { .. });
        Some(word)
    }

    /// The answer alone.
    pub(super) async fn done(&mut self) -> Value {
        while let Some(word) = self.next().await {
            if let Word::Done { answer, .. } = word {
                return answer;
            }
        }
        Value::Null
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.done {
            self.line.waiting().remove(&self.id);
            let _ = self.line.orders.send(Order::Cancel { id: self.id });
        }
    }
}
