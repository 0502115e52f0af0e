//! Standard input on its way to a process.
//!
//! It waits in a queue of bounded size: who writes faster than the process reads waits, and who writes to one that never
//! reads is told so.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::sync::Notify;

use crate::ship::error::ApiError;
use crate::ship::term::Terminal;

/// What waits to be read by the process.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// How long somebody who writes waits for a process that reads nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is written at once.
const BLOCK_BYTES: usize = 64 << 10;

/// What ends the input of a terminal.
const END_OF_TRANSMISSION: u8 = 4;

/// Our end of a process's standard input.
#[derive(Debug)]
pub(super) enum InputEnd {
    Pipe(pipe::Sender),
    Terminal(Arc<Terminal>),
}

/// The way to it.
#[derive(Debug)]
pub(super) struct Input {
    queue: Mutex<Queue>,
    /// Something has come, or nothing follows.
    came: Notify,
    /// Something was written, or nothing can be any more.
    went: Notify,
    end: Mutex<Option<InputEnd>>,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: VecDeque<u8>,
    /// Nothing follows.
    ending: bool,
    /// The process reads no more.
    closed: bool,
}

impl Input {
    pub(super) fn new(end: InputEnd) -> Self {
        Self { queue: Mutex::default(), came: Notify::new(), went: Notify::new(), end: Mutex::new(Some(end)) }
    }

    /// Puts bytes into the queue, as there is room for them. `end`: nothing follows.
    pub(super) async fn put(&self, mut bytes: &[u8], end: bool) -> Result<(), ApiError> {
        loop {
            let went = self.went.notified();
            {
                let mut queue = self.queue();
                if queue.closed || queue.ending {
                    return Err(ApiError::conflict("the process's standard input is closed"));
                }
                let room = MAX_WAITING_BYTES - queue.bytes.len().min(MAX_WAITING_BYTES);
                let (taken, left) = bytes.split_at(room.min(bytes.len()));
                queue.bytes.extend(taken);
                bytes = left;
                queue.ending = end && bytes.is_empty();
            }
            self.came.notify_one();
            if bytes.is_empty() {
                return Ok(());
            }
            if tokio::time::timeout(PATIENCE, went).await.is_err() {
                return Err(ApiError::timeout(format!("the process has read nothing for {PATIENCE:?}")));
            }
        }
    }

    /// Writes what comes, until nothing follows or nobody reads. For one caller.
    pub(super) async fn feed(&self) {
        let Some(end) = self.end.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        loop {
            let came = self.came.notified();
            let (block, ending) = {
                let mut queue = self.queue();
                let count = queue.bytes.len().min(BLOCK_BYTES);
                let block: Vec<u8> = queue.bytes.drain(..count).collect();
                (block, queue.ending && queue.bytes.is_empty())
            };
            if block.is_empty() && !ending {
                came.await;
                continue;
            }
            let written = end.write(&block).await;
            self.went.notify_waiters();
            if ending && written.is_ok() {
                end.finish().await;
            }
            if ending || written.is_err() {
                self.close();
                return;
            }
        }
    }

    /// Nothing can be written any more.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        queue.bytes = VecDeque::new();
        drop(queue);
        self.went.notify_waiters();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InputEnd {
    async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Terminal(terminal) => terminal.write(bytes).await,
            Self::Pipe(pipe) => {
                while !bytes.is_empty() {
                    pipe.writable().await?;
                    match pipe.try_write(bytes) {
                        Ok(count) => bytes = &bytes[count..],
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
        }
    }

    /// A pipe ends when it is dropped; a terminal is told.
    async fn finish(&self) {
        if let Self::Terminal(terminal) = self {
            let _ = terminal.write(&[END_OF_TRANSMISSION]).await;
        }
    }
}
