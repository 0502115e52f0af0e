//! Watching a folder: as a stream, or by asking again and again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use cove_api::{FolderChange, FolderEvent, SandboxId};
use cove_bay::FolderWatch;
use cove_runtime_api::WatchFrame;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::filesystem;
use super::process::check_user;
use crate::connect;
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::refusal::Refused;

/// Events that wait to be asked for; the oldest go first.
const MAX_WAITING: usize = 4_096;

/// A watcher that nobody asks for so long is ended.
const FORGOTTEN: Duration = Duration::from_secs(600);

/// Watchers of all sandboxes.
const MAX_WATCHERS: usize = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    path: String,
    recursive: bool,
    include_entry: bool,
    watcher_id: String,
}

/// A watcher between two questions.
struct Watcher {
    sandbox: SandboxId,
    events: Arc<Mutex<VecDeque<Value>>>,
    asked: Instant,
    task: AbortHandle,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

static WATCHERS: LazyLock<Mutex<HashMap<String, Watcher>>> = LazyLock::new(Mutex::default);

fn watchers() -> MutexGuard<'static, HashMap<String, Watcher>> {
    let mut all = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|_, watcher| watcher.asked.elapsed() < FORGOTTEN);
    all
}

/// A folder that is watched for a client.
struct Watch {
    door: E2bDoor,
    guest: Guest,
    place: SandboxPath,
    /// Whether its events say what is there afterwards.
    with_entries: bool,
}

impl Watch {
    async fn begin(door: E2bDoor, guest: Guest, asked: &Asked) -> Result<(Self, FolderWatch), Refused> {
        let place = SandboxPath::of(&asked.path);
        let Some(path) = place.in_workspace() else {
            return Err(Refused::unsupported(format!(
                "{} is not in the home; only folders in it are watched",
                place.shown
            )));
        };
        let events = door.bay.watch_folder(&guest.owner, &guest.id, path, asked.recursive).await;
        let events = events.map_err(|error| {
            let refused = Refused::from(error);
            Refused { message: refused.message.replace(&place.inside, &place.shown), ..refused }
        })?;
        Ok((Self { door, guest, place, with_entries: asked.include_entry }, events))
    }

    /// As clients read it.
    async fn told(&self, event: &FolderEvent) -> Value {
        let (kind, is_there) = match event.change {
            FolderChange::Created => ("EVENT_TYPE_CREATE", true),
            FolderChange::Written => ("EVENT_TYPE_WRITE", true),
            FolderChange::Removed => ("EVENT_TYPE_REMOVE", false),
            FolderChange::Renamed => ("EVENT_TYPE_RENAME", false),
            FolderChange::Attributes => ("EVENT_TYPE_CHMOD", true),
        };
        let mut told = json!({"name": event.path, "type": kind});
        if self.with_entries && is_there {
            let place = SandboxPath::of(&format!("{}/{}", self.place.shown, event.path));
            // It may be gone again.
            if let Ok(entry) = filesystem::stated(&self.door, &self.guest, &place).await {
                told["entry"] = entry;
            }
        }
        told
    }
}

pub(super) async fn watch_dir(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let begun = async {
        check_user(&parts.headers)?;
        let guest = door.guest(&parts).await?;
        let asked: Asked = connect::only_message(&parts.headers, &body)?;
        Watch::begin(door, guest, &asked).await
    };
    let (watch, events) = match begun.await {
        Ok(watch) => watch,
        Err(refused) => return connect::refused_stream(refused),
    };
    let keep_alive = connect::keep_alive(&parts.headers);
    let limit = connect::time_limit(&parts.headers);
    let over = limit.map(|limit| Instant::now() + limit);
    let state = (Some((watch, events)), true);
    connect::stream(futures_util::stream::unfold(state, move |(watched, is_first)| async move {
        let (watch, mut events) = watched?;
        if is_first {
            return Some((Ok(json!({"start": {}})), (Some((watch, events)), false)));
        }
        loop {
            let left = over.map_or(keep_alive, |over| over.saturating_duration_since(Instant::now()).min(keep_alive));
            match tokio::time::timeout(left, events.next()).await {
                Ok(Ok(WatchFrame::Event(event))) => {
                    let told = watch.told(&event).await;
                    return Some((Ok(json!({"filesystem": told})), (Some((watch, events)), false)));
                }
                Ok(Ok(WatchFrame::Lost(_) | WatchFrame::Watching {} | WatchFrame::Alive {})) => {}
                Ok(Ok(WatchFrame::Gone {})) => return None,
                Ok(Err(error)) => return Some((Err(error.into()), (None, false))),
                Err(_) if over.is_some_and(|over| over <= Instant::now()) => {
                    let refused = Refused::new(StatusCode::GATEWAY_TIMEOUT, "the time of this watch is over");
                    return Some((Err(refused), (None, false)));
                }
                Err(_) => return Some((Ok(json!({"keepalive": {}})), (Some((watch, events)), false))),
            }
        }
    }))
}

pub(super) async fn create(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let made = async {
        check_user(&parts.headers)?;
        let guest = door.guest(&parts).await?;
        let asked: Asked = connect::message(&parts.headers, &body)?;
        if watchers().len() >= MAX_WATCHERS {
            return Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, "too many folders are being watched"));
        }
        let sandbox = guest.id.clone();
        let (watch, mut changes) = Watch::begin(door, guest, &asked).await?;
        let events: Arc<Mutex<VecDeque<Value>>> = Arc::default();
        let heard = Arc::clone(&events);
        let task = tokio::spawn(async move {
            while let Ok(frame) = changes.next().await {
                match frame {
                    WatchFrame::Event(event) => {
                        let told = watch.told(&event).await;
                        let mut waiting = heard.lock().unwrap_or_else(PoisonError::into_inner);
                        if waiting.len() >= MAX_WAITING {
                            waiting.pop_front();
                        }
                        waiting.push_back(told);
                    }
                    WatchFrame::Gone {} => return,
                    WatchFrame::Watching {} | WatchFrame::Lost(_) | WatchFrame::Alive {} => {}
                }
            }
        });
        let mut random = [0; 8];
        let drawn = getrandom::fill(&mut random);
        drawn.map_err(|error| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        let id = format!("watch-{:016x}", u64::from_ne_bytes(random));
        let watcher = Watcher { sandbox, events, asked: Instant::now(), task: task.abort_handle() };
        watchers().insert(id.clone(), watcher);
        Ok(json!({"watcherId": id}))
    };
    connect::unary(made.await)
}

fn missing(id: &str) -> Refused {
    Refused::missing(format!("watcher {} not found", id.chars().take(64).collect::<String>()))
}

pub(super) async fn events(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let guest = door.guest(&parts).await?;
        let asked: Asked = connect::message(&parts.headers, &body)?;
        let mut all = watchers();
        let found = all.get_mut(&asked.watcher_id).filter(|watcher| watcher.sandbox == guest.id);
        let watcher = found.ok_or_else(|| missing(&asked.watcher_id))?;
        watcher.asked = Instant::now();
        let waiting = std::mem::take(&mut *watcher.events.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(json!({"events": waiting}))
    };
    connect::unary(done.await)
}

pub(super) async fn remove(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let guest = door.guest(&parts).await?;
        let asked: Asked = connect::message(&parts.headers, &body)?;
        let mut all = watchers();
        if all.get(&asked.watcher_id).is_none_or(|watcher| watcher.sandbox != guest.id) {
            return Err(missing(&asked.watcher_id));
        }
        all.remove(&asked.watcher_id);
        Ok(json!({}))
    };
    connect::unary(done.await)
}
