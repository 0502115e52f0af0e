//! What a run says while it goes on, as progress notifications: for clients that asked for them with a token.
//!
//! Lines (of a console, of Python, of a command) come together where there are many, and a run that is silent says now
//! and then that it is still there, so that a client with an impatient clock knows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_core::{LogSink, beginning_chars};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Notifications are at least so far apart.
const REST: Duration = Duration::from_millis(50);

/// A silent run says so after this time.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// One notification's text at most.
const MAX_CHARS: usize = 4_000;

/// The way to the client, if it wants to hear.
pub(crate) struct Progress {
    lines: Option<mpsc::UnboundedSender<String>>,
    task: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to speak, if the request carries a token.
    pub(crate) fn begin(context: &RequestContext<RoleServer>) -> Self {
        let Some(token) = context.meta.get_progress_token() else { return Self { lines: None, task: None } };
        // Unbounded: what code may write to its console is bounded by its log limit, and what a runtime tells of a program
        // by its own.
        let (lines, heard) = mpsc::unbounded_channel();
        let task = tokio::spawn(speak(context.peer.clone(), token, heard));
        Self { lines: Some(lines), task: Some(task) }
    }

    /// Hears console lines; `None` where nobody wants to know.
    pub(crate) fn sink(&self) -> Option<LogSink> {
        let lines = self.lines.clone()?;
        Some(Arc::new(move |line| drop(lines.send(line.text.clone()))))
    }

    /// Says what is left; then nothing more is said, as the protocol wants it.
    pub(crate) async fn end(mut self) {
        self.lines = None;
        if let Some(task) = self.task.take() {
            let abort = task.abort_handle();
            if tokio::time::timeout(Duration::from_secs(2), task).await.is_err() {
                abort.abort();
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn speak(peer: Peer<RoleServer>, token: ProgressToken, mut heard: mpsc::UnboundedReceiver<String>) {
    let begin = Instant::now();
    let mut progress = 0.0;
    loop {
        let first = tokio::time::timeout(HEARTBEAT, heard.recv()).await;
        let message = match first {
            Ok(None) => return,
            Ok(Some(line)) => gather(line, &mut heard),
            Err(_) => format!("running for {} s", begin.elapsed().as_secs()),
        };
        progress += 1.0;
        let note = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        if peer.notify_progress(note).await.is_err() {
            return;
        }
        tokio::time::sleep(REST).await;
    }
}

fn gather(first: String, heard: &mut mpsc::UnboundedReceiver<String>) -> String {
    let mut message = first;
    while message.len() < MAX_CHARS {
        let Ok(line) = heard.try_recv() else { break };
        message.push('\n');
        message.push_str(&line);
    }
    match beginning_chars(&message, MAX_CHARS) {
        (_, false) => message,
        (beginning, true) => format!("{beginning}…"),
    }
}
