//! The JavaScript process: the program inside the sandbox that owns the engine, its sessions and their file tools.
//!
//! Why a process of its own, and not Ship: source text is parsed and pictures are encoded here, by code that a guest
//! feeds; when that breaks, this process breaks, and Ship starts another. It is started like every other program of the
//! sandbox, so one signal ends it with all of its workers. It speaks to Ship over one socket and ends when that ends.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cove_artifacts::StoreLimits;
use cove_core::{FaultKind, Limits, LogLine, NetworkPolicy, RunReport, RunRequest, ToolSpec};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallState};
use cove_executor::{
    HostError, HostOptions, MaxSessions, PictureStore, Pictures, RunContext, RunListener, SessionHost,
};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::result::{self, PICTURES};
use super::wire::{Command, Message, Walls};
use crate::ship::frames::Frames;

/// Worlds that keep their state. Each may hold [`Limits::EXECUTOR`]'s memory for as long as it is kept.
const MAX_SESSIONS: usize = 8;

/// Runs at once, sessions included; more wait for their turn within their own time.
const MAX_RUNS: usize = 16;

/// Values larger than this belong in a file.
const MAX_RESULT_CHARS: u64 = 1 << 20;

/// As large as a file that a tool would write in one piece.
const MAX_CODE_CHARS: u64 = 1 << 20;

/// Everything in here belongs to the one sandbox that this process is in.
const OWNER: &str = "sandbox";

struct Process {
    host: SessionHost,
    tools: Vec<ToolSpec>,
    pictures: Arc<PictureStore>,
    messages: mpsc::UnboundedSender<Message>,
    runs: Mutex<HashMap<u64, tokio::task::AbortHandle>>,
}

/// Serves until Ship has gone.
pub(super) async fn serve(socket: OwnedFd, workspace: &Path) -> Result<(), String> {
    let stream = std::os::unix::net::UnixStream::from(socket);
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
    let (messages, mut outbox) = mpsc::unbounded_channel();
    let _ = messages.send(Message::Ready { walls });
    let limits =
        |limits: Limits| Limits { max_result_chars: MAX_RESULT_CHARS, max_code_chars: MAX_CODE_CHARS, ..limits };
    let process = Arc::new(Process {
        host: SessionHost::new(HostOptions {
            embedded: Arc::new(engine),
            browser: None,
            one_shot_limits: limits(Limits::ONE_SHOT),
            session_limits: limits(Limits { max_operations: None, ..Limits::EXECUTOR }),
            max_runs: MAX_RUNS,
            max_sessions: MaxSessions { per_owner: MAX_SESSIONS, embedded: MAX_SESSIONS, browser: 0 },
            // Nothing in Ship asks people.
            approval_limit: std::time::Duration::ZERO,
        }),
        tools: cove_files::tool_specs(Arc::new(files)),
        pictures: Arc::new(PictureStore::at(workspace.join(PICTURES), StoreLimits::default())),
        messages,
        runs: Mutex::default(),
    });
    let write = async {
        while let Some(message) = outbox.recv().await {
            let sent = match serde_json::to_vec(&message) {
                Ok(body) => writer.send(&body).await,
                Err(error) => Err(error.into()),
            };
            if sent.is_err() {
                break;
            }
        }
    };
    let read = async {
        while let Ok(command) = reader.receive::<Command>().await {
            process.obey(command);
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
    }
    Ok(())
}

impl Process {
    fn obey(self: &Arc<Self>, command: Command) {
        match command {
            Command::Exec { id, request } => {
                let process = Arc::clone(self);
                let mut runs = self.runs();
                let task = tokio::spawn(async move {
                    let begin = Instant::now();
                    let session = request.session.clone();
                    let report = process.run(id, *request).await;
                    let answer = result::result_of(&report, session.as_deref(), begin);
                    let _ = process.messages.send(Message::Done { id, answer });
                    process.runs().remove(&id);
                });
                runs.insert(id, task.abort_handle());
            }
            Command::Cancel { id } => {
                // Dropping a run ends it, and the session it ran in.
                if let Some(task) = self.runs().remove(&id) {
                    task.abort();
                }
            }
            Command::Reset { id, session } => {
                let process = Arc::clone(self);
                tokio::spawn(async move {
                    let ended = process.host.end(OWNER, session.as_deref()).await;
                    let _ = process.messages.send(Message::Done { id, answer: ended.into() });
                });
            }
        }
    }

    async fn run(&self, id: u64, request: RunRequest) -> RunReport {
        let context = RunContext {
            owner: OWNER.to_owned(),
            tools: self.tools.clone(),
            network: NetworkPolicy::default(),
            live_network: None,
            pictures: Pictures::Kept(Arc::clone(&self.pictures)),
            idle_timeout: None,
            host_tools: None,
        };
        let console = Arc::new(Console { id, messages: self.messages.clone() });
        match self.host.run(context, request, console).await {
            Ok(report) => report,
            Err(error @ (HostError::Ended | HostError::NoAnswer { .. })) => result::given_up(error.to_string()),
            Err(error) => RunReport::refused(FaultKind::EngineLost, error.to_string()),
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<u64, tokio::task::AbortHandle>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a run's console lines to Ship as they are written.
struct Console {
    id: u64,
    messages: mpsc::UnboundedSender<Message>,
}

impl RunListener for Console {
    fn console(&self, line: &LogLine) {
        let _ = self.messages.send(Message::Log { id: self.id, line: line.clone() });
    }

    /// Never: Ship offers no tools that a caller answers.
    fn tool_called(&self, _call_id: &str, _name: &str, _args: Vec<Value>) {}
}
