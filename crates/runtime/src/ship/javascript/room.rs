//! The JavaScript room: the process inside the sandbox that owns the engine, its sessions and their file tools.
//!
//! Why a process of its own, and not Ship: source text is parsed and pictures are encoded here, by code that a guest
//! feeds; when that breaks, the room breaks, and Ship starts another. It stands below a keeper like every other program,
//! so one word ends it with all of its workers. It speaks to Ship over one socket and ends when that ends.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_artifacts::{PictureMeta, PictureSource, StoreLimits};
use cove_core::{
    Clock, Engine, EngineChoice, ExportFault, Finished, Limits, LogLine, LogSink, Picture, Random, RunOutcome,
    RunRequest, RunShape, RunUnit, Session, SessionFate, SessionOptions, ToolSet,
};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallState};
use cove_executor::{Runner, RunnerOptions, Shelf};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::answer::{PICTURES, Parts};
use super::wire::{Order, Run, Walls, Word};
use crate::ship::frames::Frames;

/// Worlds that keep their state. Each may hold [`Limits::EXECUTOR`]'s memory for as long as it is kept.
const MAX_SESSIONS: usize = 8;

/// Runs at once, sessions included; more wait for their turn at the engine's door.
const MAX_RUNS: usize = 16;

/// Values larger than this belong in a file.
const MAX_RESULT_CHARS: u64 = 1 << 20;

type Slot = Arc<tokio::sync::Mutex<Option<Open>>>;

/// A session that is open, and whom its console lines are for.
struct Open {
    session: Box<dyn Session>,
    listener: Arc<AtomicU64>,
}

struct Room {
    engine: Arc<EmbeddedEngine>,
    tools: ToolSet,
    shelf: Arc<Shelf>,
    words: mpsc::UnboundedSender<Word>,
    sessions: Mutex<HashMap<String, Slot>>,
    runs: Mutex<HashMap<u64, tokio::task::AbortHandle>>,
}

/// Serves until Ship has gone.
pub(super) async fn serve(line: OwnedFd, workspace: &Path) -> Result<(), String> {
    let stream = std::os::unix::net::UnixStream::from(line);
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    let Frames { mut reader, mut writer } =
        Frames::new(UnixStream::from_std(stream).map_err(|error| error.to_string())?);
    let files = cove_files::Workspace::open(workspace).map_err(|error| error.to_string())?;
    let engine = EmbeddedEngine::new(EmbeddedOptions {
        spare_children: 1,
        max_sessions: MAX_RUNS,
        ..EmbeddedOptions::default()
    });
    let report = engine.walls().await.map_err(|error| error.to_string())?;
    let named =
        |state| report.walls.iter().filter(|wall| wall.state == state).map(|wall| wall.name.to_string()).collect();
    let walls = Walls { active: named(WallState::Active), missing: named(WallState::Missing) };
    let (words, mut outbox) = mpsc::unbounded_channel();
    let _ = words.send(Word::Ready { walls });
    let room = Arc::new(Room {
        engine: Arc::new(engine),
        tools: ToolSet::new(cove_files::tool_specs(Arc::new(files)))?,
        shelf: Arc::new(Shelf::at(workspace.join(PICTURES), StoreLimits::default())),
        words,
        sessions: Mutex::default(),
        runs: Mutex::default(),
    });
    let speak = async {
        while let Some(word) = outbox.recv().await {
            let sent = match serde_json::to_vec(&word) {
                Ok(body) => writer.send(&body).await,
                Err(error) => Err(error.into()),
            };
            if sent.is_err() {
                break;
            }
        }
    };
    let hear = async {
        while let Ok(order) = reader.receive::<Order>().await {
            room.obey(order);
        }
    };
    tokio::select! {
        () = speak => {}
        () = hear => {}
    }
    Ok(())
}

impl Room {
    fn obey(self: &Arc<Self>, order: Order) {
        match order {
            Order::Exec { id, run } => {
                let room = Arc::clone(self);
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                let task = tokio::spawn(async move {
                    let begin = Instant::now();
                    let parts = match run.session.clone() {
                        None => room.run_once(id, run).await,
                        Some(session) => room.run_in(id, run, &session, begin).await,
                    };
                    let _ = room.words.send(Word::Done { id, answer: parts.answer(begin) });
                    room.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                });
                runs.insert(id, task.abort_handle());
            }
            Order::Cancel { id } => {
                // Dropping a run ends it, and the session it ran in.
                if let Some(task) = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
                    task.abort();
                }
            }
            Order::Reset { id, session } => {
                let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                let ended = match session {
                    Some(name) => usize::from(sessions.remove(&name).is_some()),
                    None => sessions.drain().count(),
                };
                let _ = self.words.send(Word::Done { id, answer: ended.into() });
            }
        }
    }

    fn sink(&self, listener: Arc<AtomicU64>) -> LogSink {
        let words = self.words.clone();
        Arc::new(move |line: &LogLine| {
            let _ = words.send(Word::Log { id: listener.load(Ordering::Relaxed), line: line.clone() });
        })
    }

    async fn run_once(&self, id: u64, run: Run) -> Parts {
        let runner = Runner::new(RunnerOptions {
            embedded: Some(Arc::clone(&self.engine) as Arc<dyn Engine>),
            shelf: Some(Arc::clone(&self.shelf)),
            limits: Limits { max_result_chars: MAX_RESULT_CHARS, max_code_chars: MAX_CODE_CHARS, ..Limits::ONE_SHOT },
            tools: self.tools.clone(),
            log_sink: Some(self.sink(Arc::new(AtomicU64::new(id)))),
            max_operations: run.max_operations,
            ..RunnerOptions::default()
        });
        let mut request = RunRequest::new(run.code);
        request.input = run.input;
        request.timeout_ms = run.timeout_ms;
        request.engine = if run.auto { EngineChoice::Auto } else { EngineChoice::Embedded };
        request.fallback = run.fallback;
        request.message_id = run.message_id;
        request.agent_id = run.agent_id;
        Parts::of_one_shot(runner.run(request).await)
    }

    async fn run_in(&self, id: u64, run: Run, name: &str, begin: Instant) -> Parts {
        let slot = {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            if sessions.len() >= MAX_SESSIONS {
                // Names whose session was lost hold nothing.
                sessions.retain(|_, slot| slot.try_lock().map_or(true, |open| open.is_some()));
            }
            match sessions.get(name) {
                Some(slot) => Arc::clone(slot),
                None if sessions.len() >= MAX_SESSIONS => {
                    let message = format!("too many JavaScript sessions: the limit is {MAX_SESSIONS}; reset one first");
                    return Parts::refused(Some(name), message);
                }
                None => Arc::clone(sessions.entry(name.to_owned()).or_default()),
            }
        };
        let limit = Duration::from_millis(run.timeout_ms);
        let Ok(mut slot) = tokio::time::timeout(limit, slot.lock()).await else {
            return Parts::refused(Some(name), "timed out waiting for the session, which was busy with another run");
        };
        // Taken out: a run that is given up half-way must not leave its session behind.
        let mut open = match slot.take() {
            Some(open) => open,
            None => match self.open().await {
                Ok(open) => open,
                Err(message) => return Parts::refused(Some(name), message),
            },
        };
        open.listener.store(id, Ordering::Relaxed);
        if let Some(input) = run.input.clone() {
            let variables = [("input".to_owned(), input)].into_iter().collect();
            if let Err(error) = open.session.send_variables(variables).await {
                return Parts::refused(Some(name), error.to_string()).lost();
            }
        }
        let left = limit.saturating_sub(begin.elapsed()).max(Duration::from_millis(1));
        let unit = RunUnit {
            code: run.code.clone(),
            shape: RunShape::Cell,
            timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            max_operations: run.max_operations,
        };
        let report = open.session.run(unit).await;
        if report.fate == SessionFate::Usable {
            *slot = Some(open);
        }
        Parts::of_session(name, report, |finished| self.keep(&run, finished))
    }

    async fn open(&self) -> Result<Open, String> {
        let listener = Arc::new(AtomicU64::new(0));
        let options = SessionOptions {
            // A person or a model works here: time and chance are real, and the clock is the limit.
            clock: Clock::Real,
            random: Random::Real,
            limits: Limits { max_operations: None, max_result_chars: MAX_RESULT_CHARS, ..Limits::EXECUTOR },
            log_sink: Some(self.sink(Arc::clone(&listener))),
            ..SessionOptions::executor()
        };
        let mut session = self.engine.open(options).await.map_err(|error| error.to_string())?;
        session.send_tools(self.tools.clone()).await.map_err(|error| error.to_string())?;
        Ok(Open { session, listener })
    }

    fn keep(&self, run: &Run, finished: Finished) -> RunOutcome {
        let result = finished.value;
        if let Some(message) = finished.canvas_error {
            return RunOutcome::ExportFailed { result, message, by: ExportFault::Drawing };
        }
        let saved: Result<Vec<String>, String> =
            finished.pictures.iter().map(|picture| self.save(run, picture)).collect();
        match saved {
            Ok(images) if images.is_empty() => RunOutcome::Value(result),
            Ok(images) => RunOutcome::Pictures { result, images },
            Err(message) => RunOutcome::ExportFailed { result, message, by: ExportFault::Store },
        }
    }

    fn save(&self, run: &Run, picture: &Picture) -> Result<String, String> {
        let meta = PictureMeta {
            message_id: run.message_id.clone(),
            agent_id: run.agent_id.clone(),
            width: picture.width,
            height: picture.height,
            source: PictureSource::Canvas,
        };
        let store = self.shelf.store().map_err(|error| error.to_string())?;
        store.save_picture(&picture.png, meta).map(|saved| saved.file_name).map_err(|error| error.to_string())
    }
}

/// As large as a file that a tool would write in one piece.
const MAX_CODE_CHARS: u64 = 1 << 20;
