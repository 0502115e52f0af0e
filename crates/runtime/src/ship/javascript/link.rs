//! Ship's side of the JavaScript process: starts it with the first run, speaks to it, replaces it when it is gone.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_core::{Deadline, RunRequest};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use super::PROCESS_ARGUMENT;
use super::result::{given_up, result_of};
use super::wire::{Command, Message, Walls};
use crate::process::{Family, Program};
use crate::ship::error::ApiError;
use crate::ship::frames::{FramedProcess, FramedStart, Frames, Reader, Writer};
use crate::ship::fs::workspace::GuestFiles;

/// What an answer may take beyond a run's own time; then the run is given up.
const OVERTIME: Duration = Duration::from_millis(900);

/// How long a process that has let a run's time pass may take to answer a simple question; then it is ended, and every
/// session with it.
const QUESTION_LIMIT: Duration = Duration::from_secs(3);

/// How long the end of sessions may take; they are killed, so this is the kernel's time to clear them away.
const RESET_LIMIT: Duration = Duration::from_secs(5);

/// The number of that question.
const QUESTION: u64 = 0;

/// What the process needs to start.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// This very program, and the arguments before [`PROCESS_ARGUMENT`].
    pub(crate) program: PathBuf,
    pub(crate) prefix: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) family: Arc<Family>,
    pub(crate) workspace: Arc<GuestFiles>,
    pub(crate) processes: Option<u64>,
}

/// JavaScript, as Ship's endpoints use it.
#[derive(Debug, Clone)]
pub(crate) struct Javascript(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    recipe: Recipe,
    /// Held while the process is being started, so that there is one.
    link: tokio::sync::Mutex<Option<Arc<Link>>>,
    walls: Mutex<Option<Walls>>,
    next: AtomicU64,
}

/// The connection to a living process.
#[derive(Debug)]
struct Link {
    commands: mpsc::UnboundedSender<Command>,
    waiting: Mutex<HashMap<u64, mpsc::UnboundedSender<Message>>>,
    close: Notify,
    gone: std::sync::atomic::AtomicBool,
    /// Held while the process is asked whether it still answers.
    question: Arc<tokio::sync::Mutex<()>>,
}

impl Link {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, mpsc::UnboundedSender<Message>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call that waits for its answer. Dropping it ends the run.
#[derive(Debug)]
pub(super) struct Call {
    id: u64,
    link: Arc<Link>,
    messages: mpsc::UnboundedReceiver<Message>,
    begin: Instant,
    deadline: tokio::time::Instant,
    session: Option<String>,
    done: bool,
}

impl Javascript {
    pub(crate) fn new(recipe: Recipe) -> Self {
        let next = AtomicU64::new(1);
        Self(Arc::new(Shared { recipe, link: tokio::sync::Mutex::new(None), walls: Mutex::new(None), next }))
    }

    /// Which of the engine's own walls stood when it was last started; `None` before its first run.
    pub(crate) fn walls(&self) -> Value {
        let walls = self.0.walls.lock().unwrap_or_else(PoisonError::into_inner);
        walls.as_ref().and_then(|walls| serde_json::to_value(walls).ok()).unwrap_or(Value::Null)
    }

    /// Hands over a run.
    pub(super) async fn exec(&self, request: RunRequest) -> Result<Call, ApiError> {
        let (session, limit) = (request.session.clone(), Duration::from_millis(request.timeout_ms));
        self.call(session, limit, |id| Command::Exec { id, request: Box::new(request) }).await
    }

    /// Ends a session, or all; how many that were. A process that does not live has none.
    pub(super) async fn reset(&self, session: Option<String>) -> Result<u64, ApiError> {
        if self.living().await.is_none() {
            return Ok(0);
        }
        let mut call = self.call(None, RESET_LIMIT, |id| Command::Reset { id, session }).await?;
        Ok(call.done().await.as_u64().unwrap_or(0))
    }

    async fn living(&self) -> Option<Arc<Link>> {
        self.0.link.lock().await.clone().filter(|link| !link.gone.load(Ordering::Relaxed))
    }

    async fn call(
        &self,
        session: Option<String>,
        limit: Duration,
        command: impl FnOnce(u64) -> Command,
    ) -> Result<Call, ApiError> {
        let deadline = Deadline::after(limit).backstop(OVERTIME).at().into();
        let own = self.clone();
        // On its own: a start that somebody stops waiting for goes on for those who come next.
        let link = match tokio::time::timeout_at(deadline, tokio::spawn(async move { own.link().await })).await {
            Ok(Ok(link)) => link?,
            Ok(Err(error)) => {
                return Err(ApiError::internal(format!("the start of JavaScript was interrupted: {error}")));
            }
            Err(_) => return Err(ApiError::timeout("timed out before JavaScript could be started")),
        };
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        // Not bounded here: the engine keeps a run's console lines below its log limit.
        let (sender, messages) = mpsc::unbounded_channel();
        link.waiting().insert(id, sender);
        let call = Call { id, link, messages, begin: Instant::now(), deadline, session, done: false };
        let _ = call.link.commands.send(command(id));
        Ok(call)
    }

    /// The link to the process, which is started where there is none.
    async fn link(&self) -> Result<Arc<Link>, ApiError> {
        let mut slot = self.0.link.lock().await;
        if let Some(link) = slot.as_ref() {
            drop(link.question.lock().await);
            if !link.gone.load(Ordering::Relaxed) {
                return Ok(Arc::clone(link));
            }
        }
        let (link, walls) = self.start().await.map_err(|error| ApiError::from_start("JavaScript", &error))?;
        *self.0.walls.lock().unwrap_or_else(PoisonError::into_inner) = Some(walls);
        Ok(Arc::clone(slot.insert(link)))
    }

    async fn start(&self) -> io::Result<(Arc<Link>, Walls)> {
        let recipe = &self.0.recipe;
        let wanted = FramedStart {
            program: recipe.program.display().to_string(),
            args: [
                recipe.prefix.iter().cloned().chain([PROCESS_ARGUMENT.to_owned()]).collect(),
                vec![recipe.folder.display().to_string()],
            ],
            env: Vec::new(),
            workspace: &recipe.workspace,
            processes: recipe.processes,
            output_bytes: [1024, 8 << 10],
        };
        let mut started = FramedProcess::start(wanted, |start| recipe.family.start_own(start)).await?;
        let Message::Ready { walls } = started.first(None).await? else {
            return Err(started.failure("an unexpected message"));
        };
        let FramedProcess { program, frames: Frames { reader, writer }, out, err } = started;
        out.forget();
        err.forget();
        let (commands, outbox) = mpsc::unbounded_channel();
        let link = Arc::new(Link {
            commands,
            waiting: Mutex::default(),
            close: Notify::new(),
            gone: std::sync::atomic::AtomicBool::new(false),
            question: Arc::default(),
        });
        let writing = tokio::spawn(write(outbox, writer));
        tokio::spawn(attend(Arc::clone(&link), program, reader, writing));
        Ok((link, walls))
    }
}

async fn write(mut outbox: mpsc::UnboundedReceiver<Command>, mut writer: Writer) {
    while let Some(command) = outbox.recv().await {
        let Ok(body) = serde_json::to_vec(&command) else { return };
        if writer.send(&body).await.is_err() {
            return;
        }
    }
}

/// Passes messages on until the process has gone; then everybody who waits is told, by the end of the channel.
async fn attend(link: Arc<Link>, mut program: Program, mut reader: Reader, writing: tokio::task::JoinHandle<()>) {
    loop {
        let message = tokio::select! {
            message = reader.receive::<Message>() => message,
            _ = program.ended() => break,
            () = link.close.notified() => break,
        };
        let Ok(message) = message else { break };
        let (id, last) = match &message {
            Message::Ready { .. } => continue,
            Message::Log { id, .. } => (*id, false),
            Message::Done { id, .. } => (*id, true),
        };
        let mut waiting = link.waiting();
        if let Some(listener) = waiting.get(&id) {
            let _ = listener.send(message);
        }
        if last {
            waiting.remove(&id);
        }
    }
    link.gone.store(true, Ordering::Relaxed);
    writing.abort();
    link.waiting().clear();
    program.end_tree().await;
}

/// Asks the process something that takes no time, and ends it if it has no answer.
async fn ask(link: Arc<Link>, _question: tokio::sync::OwnedMutexGuard<()>) {
    let (sender, mut answers) = mpsc::unbounded_channel();
    link.waiting().insert(QUESTION, sender);
    // No session has an empty name.
    let _ = link.commands.send(Command::Reset { id: QUESTION, session: Some(String::new()) });
    if tokio::time::timeout(QUESTION_LIMIT, answers.recv()).await.is_err() {
        link.gone.store(true, Ordering::Relaxed);
        link.close.notify_one();
    }
}

impl Call {
    /// The next message: a console line, or at last the answer. `None` after that.
    pub(super) async fn next(&mut self) -> Option<Message> {
        if self.done {
            return None;
        }
        let message = tokio::time::timeout_at(self.deadline, self.messages.recv()).await;
        let lost = |why: &str| {
            let answer = result_of(&given_up(why), self.session.as_deref(), self.begin);
            Message::Done { id: self.id, answer }
        };
        let message = match message {
            Ok(Some(message)) => message,
            Ok(None) => lost("The JavaScript process has ended before its answer; all JavaScript sessions are lost"),
            Err(_) => {
                self.link.waiting().remove(&self.id);
                let _ = self.link.commands.send(Command::Cancel { id: self.id });
                // One question at a time; its answer is the same for all.
                if let Ok(question) = Arc::clone(&self.link.question).try_lock_owned() {
                    tokio::spawn(ask(Arc::clone(&self.link), question));
                }
                lost("The run did not end in time and was ended, with its session if it had one")
            }
        };
        self.done = matches!(message, Message::Done { .. });
        Some(message)
    }

    /// The answer alone.
    pub(super) async fn done(&mut self) -> Value {
        while let Some(message) = self.next().await {
            if let Message::Done { answer, .. } = message {
                return answer;
            }
        }
        Value::Null
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.done {
            self.link.waiting().remove(&self.id);
            let _ = self.link.commands.send(Command::Cancel { id: self.id });
        }
    }
}
