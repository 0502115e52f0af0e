//! `/fs/watch`: what happens in a folder, told by the kernel.
//!
//! Counted and limited: so many watches of a sandbox, so many folders of one, and so many events that wait. What is more
//! is lost and counted; nobody who writes ever waits for somebody who watches.

use std::collections::HashMap;
use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use cove_runtime_api::{FolderChange, FolderEvent, PROCESS_HEARTBEAT, WatchFolder, WatchFrame};
use cove_walls::process::watch;
use cove_workspace::{Listing, RelPath};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use super::on_disk;
use super::workspace::{GuestFiles, rel_path};
use crate::ship::ShipState;
use crate::ship::error::{ApiError, Body};

/// Watches of one sandbox at once.
const MAX_WATCHES: usize = 8;

/// Folders of one watch.
const MAX_FOLDERS: usize = 1_024;

/// Events that are told at once; the kernel keeps some thousands more.
const BLOCK_BYTES: usize = 16 << 10;

/// Events of one moment are told together.
const REST: Duration = Duration::from_millis(10);

static WATCHES: AtomicUsize = AtomicUsize::new(0);

/// One of the places for watches.
struct WatchSlot;

impl WatchSlot {
    fn take() -> Result<Self, ApiError> {
        if WATCHES.fetch_add(1, Ordering::SeqCst) >= MAX_WATCHES {
            WATCHES.fetch_sub(1, Ordering::SeqCst);
            return Err(ApiError::too_many(format!("{MAX_WATCHES} folders are being watched; end one of these first")));
        }
        Ok(Self)
    }
}

impl Drop for WatchSlot {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A watch with the folders in it.
struct Watched {
    kernel: AsyncFd<OwnedFd>,
    /// The path of each, relative to the watched folder; empty for that itself.
    folders: HashMap<i32, String>,
    /// The watched folder, from the workspace.
    root: String,
    recursive: bool,
    files: Arc<GuestFiles>,
    _place: WatchSlot,
}

pub(super) async fn follow(
    State(state): State<ShipState>,
    Body(request): Body<WatchFolder>,
) -> Result<Response, ApiError> {
    let place = WatchSlot::take()?;
    let path = rel_path(&request.path)?;
    let refused = |errno: Errno| match errno {
        Errno::PERM | Errno::ACCESS | Errno::NOSYS => ApiError::not_supported(
            "folders cannot be watched in this sandbox: it shares files of the machine with others, where a watch would \
             tell what its neighbours do",
        ),
        Errno::MFILE | Errno::NOSPC => ApiError::too_many("the kernel has no watch left for this sandbox"),
        other => ApiError::from_errno(other, &request.path),
    };
    let kernel = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).map_err(refused)?;
    let kernel = watch(kernel).map_err(|error| ApiError::internal(error.to_string()))?;
    let mut watched = Watched {
        kernel,
        folders: HashMap::new(),
        root: path.given().to_owned(),
        recursive: request.recursive,
        files: Arc::clone(&state.workspace),
        _place: place,
    };
    let watched = on_disk(&state, move |_| {
        watched.add(String::new())?;
        Ok(watched)
    })
    .await?;
    Ok(told(watched))
}

impl Watched {
    /// Watches a folder, and those below it where that is wanted; the paths of what was found in them.
    fn add(&mut self, relative: String) -> Result<Vec<String>, ApiError> {
        let mut found = Vec::new();
        let mut todo = vec![relative];
        while let Some(relative) = todo.pop() {
            if self.folders.len() >= MAX_FOLDERS {
                return Err(ApiError::too_many(format!("more than {MAX_FOLDERS} folders would have to be watched")));
            }
            let path = match relative.is_empty() {
                true => rel_path(&self.root)?,
                false => rel_path(&format!("{}/{relative}", self.root))?,
            };
            let folder = self.files.folder(&path)?;
            self.add_opened(&folder, &relative, &path)?;
            if !self.recursive {
                continue;
            }
            let listed = Listing::new().each(&folder, |entry| {
                let name = String::from_utf8_lossy(entry.name);
                let below = if relative.is_empty() { name.into_owned() } else { format!("{relative}/{name}") };
                if is_folder(&folder, entry.name) {
                    todo.push(below.clone());
                }
                found.push(below);
                found.len() < MAX_FOLDERS
            });
            listed.map_err(|errno| ApiError::from_errno(errno, path.given()))?;
        }
        Ok(found)
    }

    fn add_opened(&mut self, folder: &OwnedFd, relative: &str, path: &RelPath) -> Result<(), ApiError> {
        let flags = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        // By the opened folder: nobody can swap what its name means.
        let opened = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let number = inotify::add_watch(self.kernel.get_ref(), opened, flags);
        let number = number.map_err(|errno| match errno {
            Errno::NOSPC => ApiError::too_many("the kernel has no watch left for this sandbox"),
            other => ApiError::from_errno(other, path.given()),
        })?;
        self.folders.insert(number, relative.to_owned());
        Ok(())
    }

    /// Waits for events.
    async fn next(&mut self) -> Result<Vec<WatchFrame>, Errno> {
        loop {
            let mut ready = self.kernel.readable().await.map_err(|_| Errno::IO)?;
            ready.clear_ready();
            drop(ready);
            let mut frames = Vec::new();
            let mut new = Vec::new();
            let mut block = [MaybeUninit::uninit(); BLOCK_BYTES];
            let mut events = inotify::Reader::new(self.kernel.get_ref(), &mut block);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::WOULDBLOCK) => break,
                    Err(Errno::INTR) => continue,
                    Err(errno) => return Err(errno),
                };
                let flags = event.events();
                if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                    frames.push(WatchFrame::Lost(1));
                    continue;
                }
                let Some(folder) = self.folders.get(&event.wd()) else { continue };
                if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED) {
                    if folder.is_empty() {
                        frames.push(WatchFrame::Gone {});
                    }
                    continue;
                }
                let Some(name) = event.file_name() else { continue };
                let name = name.to_string_lossy();
                let path = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
                let change = match flags {
                    flags if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) => FolderChange::Created,
                    flags if flags.contains(ReadFlags::MODIFY) => FolderChange::Written,
                    flags if flags.contains(ReadFlags::DELETE) => FolderChange::Removed,
                    flags if flags.contains(ReadFlags::MOVED_FROM) => FolderChange::Renamed,
                    flags if flags.contains(ReadFlags::ATTRIB) => FolderChange::Attributes,
                    _ => continue,
                };
                if change == FolderChange::Created && flags.contains(ReadFlags::ISDIR) && self.recursive {
                    new.push(path.clone());
                }
                frames.push(WatchFrame::Event(FolderEvent { path, change }));
            }
            for path in new {
                // What came into it before it was watched is told now; what is too much is counted.
                match self.add(path) {
                    Ok(found) => frames.extend(
                        found
                            .into_iter()
                            .map(|path| WatchFrame::Event(FolderEvent { path, change: FolderChange::Created })),
                    ),
                    Err(_) => frames.push(WatchFrame::Lost(1)),
                }
            }
            if !frames.is_empty() {
                return Ok(frames);
            }
        }
    }
}

fn is_folder(folder: &OwnedFd, name: &[u8]) -> bool {
    let stat = rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}

/// Where a stream of events is.
enum Told {
    Nothing,
    Begin,
    End,
}

fn told(watched: Watched) -> Response {
    let lines = futures_util::stream::unfold((watched, Told::Nothing), |(mut watched, told)| async move {
        let (frames, told) = match told {
            Told::Nothing => (vec![WatchFrame::Watching {}], Told::Begin),
            Told::Begin => match tokio::time::timeout(PROCESS_HEARTBEAT, watched.next()).await {
                Err(_) => (vec![WatchFrame::Alive {}], Told::Begin),
                Ok(Err(_)) => (vec![WatchFrame::Gone {}], Told::End),
                Ok(Ok(frames)) => {
                    // Whoever writes a thousand files makes a few lines of it, not a thousand.
                    tokio::time::sleep(REST).await;
                    let told = if frames.contains(&WatchFrame::Gone {}) { Told::End } else { Told::Begin };
                    (frames, told)
                }
            },
            Told::End => return None,
        };
        // Strings and numbers always serialise.
        let text: String = frames.iter().map(|frame| serde_json::to_string(frame).unwrap_or_default() + "\n").collect();
        Some((Ok::<_, Infallible>(Bytes::from(text)), (watched, told)))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], HttpBody::from_stream(lines)).into_response()
}
