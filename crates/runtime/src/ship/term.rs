//! `/term/ws`: a terminal over a WebSocket, as a browser's terminal emulator wants it.
//!
//! From the client: binary frames are keys; text frames are `{"type":"input","data":…}`, `{"type":"resize","cols":…,
//! "rows":…}`, or plain keys. To the client: binary frames as the programs write them, at the end one text frame
//! `{"type":"exit","code":…}`. When either side goes, the other ends: a closed tab leaves no process behind.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use cove_runtime_api::TerminalSize;
use cove_walls::descriptors::duplicate_high;
use cove_walls::process::watch;
use cove_walls::spawn::{StandardStreams, Start};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde::Deserialize;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use super::ShipState;
use super::error::{ApiError, Params};
use crate::process::Program;

/// How long a start may take; usually a millisecond.
const START_LIMIT: Duration = Duration::from_secs(5);

/// How long the last output of an ended shell is waited for.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// A paste may be large, a single message need not be.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Keys that a program has not read yet.
const MAX_WAITING_BYTES: usize = 2 << 20;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Word {
    Input { data: String },
    Resize { cols: u16, rows: u16 },
    Ping,
}

pub(super) async fn open(
    State(state): State<ShipState>,
    Params(size): Params<TerminalSize>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    let failed = |error: io::Error| ApiError::internal(format!("no terminal could be opened: {error}"));
    let started = tokio::time::timeout(START_LIMIT, start(&state, &size)).await;
    let late = |_| ApiError::timeout(format!("no terminal could be opened within {START_LIMIT:?}"));
    let (terminal, program) = started.map_err(late)?.map_err(failed)?;
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    Ok(upgrade.on_upgrade(move |socket| serve(socket, terminal, program)))
}

/// A terminal, from its outer side.
#[derive(Debug)]
pub(super) struct Terminal {
    master: AsyncFd<OwnedFd>,
}

async fn start(state: &ShipState, size: &TerminalSize) -> io::Result<(Terminal, Program)> {
    let (terminal, peer) = Terminal::open(*size)?;
    let root = state.workspace.root();
    let mut env: Vec<_> = state.env.iter().filter(|(name, _)| name != "TERM").cloned().collect();
    env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    let start = Start {
        program: "/bin/bash".to_owned(),
        args: vec!["-l".to_owned()],
        env,
        cwd: root.map_err(|error| io::Error::other(error.to_string()))?,
        streams: on_terminal(peer)?,
        terminal: true,
        inherit: None,
        processes: state.process_limit,
    };
    Ok((terminal, state.family.start(start).await?))
}

/// All three streams of a program that runs in a terminal.
pub(super) fn on_terminal(peer: OwnedFd) -> io::Result<StandardStreams> {
    Ok(StandardStreams { input: duplicate_high(&peer)?, output: duplicate_high(&peer)?, error: peer })
}

impl Terminal {
    /// A new one, and its inner side for a program.
    pub(super) fn open(size: TerminalSize) -> io::Result<(Self, OwnedFd)> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        unlockpt(&master)?;
        let peer = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        let terminal = Self { master: watch(master)? };
        terminal.resize(size.cols, size.rows);
        Ok((terminal, peer))
    }

    pub(super) fn resize(&self, cols: u16, rows: u16) {
        let size = Winsize { ws_row: rows.max(1), ws_col: cols.max(1), ws_xpixel: 0, ws_ypixel: 0 };
        let _ = tcsetwinsize(self.master.get_ref(), size);
    }

    /// Waits for output. May be dropped and called again.
    pub(super) async fn read(&self) -> io::Result<Vec<u8>> {
        let mut block = vec![0; 16 << 10];
        loop {
            let mut ready = self.master.readable().await?;
            match ready.try_io(|master| rustix::io::read(master, &mut block[..]).map_err(Into::into)) {
                Ok(Ok(length)) => {
                    block.truncate(length);
                    return Ok(block);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
    }

    pub(super) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.master.writable().await?;
            match ready.try_io(|master| rustix::io::write(master, bytes).map_err(Into::into)) {
                Ok(Ok(length)) => bytes = &bytes[length..],
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Keys on their way to the programs. Somebody who types into a program that does not read must still be seen to leave,
/// so reading keys never waits for the terminal; what is more than a large paste is not kept.
#[derive(Default)]
struct Keys {
    waiting: Mutex<VecDeque<u8>>,
    more: Notify,
}

impl Keys {
    fn put(&self, keys: &[u8]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_WAITING_BYTES - waiting.len().min(MAX_WAITING_BYTES);
        waiting.extend(&keys[..room.min(keys.len())]);
        self.more.notify_one();
    }

    async fn take(&self) -> Vec<u8> {
        loop {
            let taken: Vec<u8> = {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let count = waiting.len().min(4096);
                waiting.drain(..count).collect()
            };
            if !taken.is_empty() {
                return taken;
            }
            self.more.notified().await;
        }
    }
}

/// Reads what the person says, until there is no person any more.
async fn hear(mut said: SplitStream<WebSocket>, terminal: &Terminal, keys: &Keys) {
    while let Some(Ok(message)) = said.next().await {
        match message {
            Message::Binary(typed) => keys.put(&typed),
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(Word::Input { data }) => keys.put(data.as_bytes()),
                Ok(Word::Resize { cols, rows }) => terminal.resize(cols, rows),
                Ok(Word::Ping) => {}
                Err(_) => keys.put(text.as_bytes()),
            },
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) => {}
        }
    }
}

/// Passes on what the programs say, until nobody listens; when the last program has closed the terminal, there is
/// nothing more to pass on, and that is nobody's end yet.
async fn speak(out: &mut SplitSink<WebSocket, Message>, terminal: &Terminal) {
    while let Ok(output) = terminal.read().await {
        if output.is_empty() {
            break;
        }
        if out.send(Message::Binary(output.into())).await.is_err() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

async fn feed(terminal: &Terminal, keys: &Keys) {
    while terminal.write(&keys.take().await).await.is_ok() {}
    std::future::pending::<()>().await;
}

async fn serve(socket: WebSocket, terminal: Terminal, mut program: Program) {
    let (mut out, said) = socket.split();
    let keys = Keys::default();
    let end = {
        // Three directions that do not wait for each other: a program that does not read its keys must still be heard.
        let (hear, feed) = (hear(said, &terminal, &keys), feed(&terminal, &keys));
        let speak = speak(&mut out, &terminal);
        tokio::pin!(hear, feed, speak);
        tokio::select! {
            // Either means that the person has left.
            () = &mut hear => None,
            () = &mut speak => None,
            () = &mut feed => None,
            end = program.ended() => {
                // What it said last is still in the terminal; what others go on saying there is not waited for.
                let _ = tokio::time::timeout(LAST_WORDS, &mut speak).await;
                Some(end)
            }
        }
    };
    program.end_tree().await;
    if let Some(end) = end {
        let word = serde_json::json!({"type": "exit", "code": end.code, "signal": end.signal});
        let _ = out.send(Message::Text(word.to_string().into())).await;
    }
    let _ = out.send(Message::Close(None)).await;
}
