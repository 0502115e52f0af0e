//! The programs of servers that speak on standard streams: started, listened to, and ended with everything they started.
//!
//! A child dies with the thread that made it, so all of them are made on one thread that lives as long as they may. What
//! a server says on its standard error is kept, its last lines only: they say why it ended.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cove_walls::process::kill_group;
use cove_walls::{ChildSetup, Group};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::servers::Reach;

/// Lines of its standard error that are kept of a server.
const LAST_LINES: usize = 5;

/// The longest of them.
const LINE_CHARS: usize = 300;

/// How long a server may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_millis(500);

type Order = (Command, oneshot::Sender<io::Result<Child>>);

/// The thread that makes all children.
#[derive(Debug)]
pub(crate) struct Starter {
    orders: mpsc::UnboundedSender<Order>,
}

impl Starter {
    /// Its thread ends when it is dropped; that ends every program it has started, too.
    pub(crate) fn new() -> io::Result<Self> {
        let (orders, mut inbox) = mpsc::unbounded_channel::<Order>();
        let runtime = tokio::runtime::Handle::current();
        std::thread::Builder::new().name("cove-wrap".to_owned()).spawn(move || {
            let _entered = runtime.enter();
            while let Some((mut command, made)) = inbox.blocking_recv() {
                let _ = made.send(command.spawn());
            }
        })?;
        Ok(Self { orders })
    }

    /// Starts a server's program.
    pub(crate) async fn start(&self, reach: &Reach) -> io::Result<(Program, ChildStdout, ChildStdin)> {
        let (made, answer) = oneshot::channel();
        let gone = || io::Error::other("the wrapper is shutting down");
        self.orders.send((command(reach)?, made)).map_err(|_| gone())?;
        let mut child = answer.await.map_err(|_| gone())??;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let said = LastLines::default();
        let group = child.id();
        let program = Program { child: Some(child), group, said: said.clone() };
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else { return Err(gone()) };
        tokio::spawn(said.read(stderr));
        Ok((program, stdout, stdin))
    }
}

#[expect(clippy::disallowed_methods, reason = "the child is owned by `Program`, which ends its group")]
fn command(reach: &Reach) -> io::Result<Command> {
    let Reach::Stdio { command: program, args, env, cwd } = reach else {
        return Err(io::Error::other("it is not a program"));
    };
    let mut command = std::process::Command::new(program);
    command.args(args).envs(env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A server is the user's own program, with the user's rights: it is owned here, not walled in.
    ChildSetup { group: Group::Process, ..ChildSetup::default() }.apply(&mut command)?;
    Ok(command.into())
}

/// A server's program. Dropping it kills it and all that it has started in its group.
#[derive(Debug)]
pub(crate) struct Program {
    child: Option<Child>,
    group: Option<u32>,
    said: LastLines,
}

impl Program {
    /// What it said last on its standard error, on one line.
    pub(crate) fn last_words(&self) -> Option<String> {
        let lines = self.said.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ");
        (!text.is_empty()).then_some(text)
    }

    /// Waits until it has ended by itself, a short time only; then it is killed.
    pub(crate) async fn end(mut self) {
        if let Some(child) = &mut self.child {
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            kill_group(group);
        }
        let Some(mut child) = self.child.take() else { return };
        // Killed just now; somebody has to take note of it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = child.wait().await;
            });
        }
    }
}

/// The last lines of a server's standard error.
#[derive(Debug, Clone, Default)]
struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    async fn read(self, stderr: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            // Bounded by the buffer: what is longer than that comes in pieces.
            let Ok(available) = reader.fill_buf().await else { return };
            if available.is_empty() {
                return;
            }
            let end = available.iter().position(|byte| *byte == b'\n').map_or(available.len(), |end| end + 1);
            line.extend_from_slice(&available[..end]);
            reader.consume(end);
            let text = String::from_utf8_lossy(&line);
            let text: String = text.trim().chars().filter(|letter| !letter.is_control()).take(LINE_CHARS).collect();
            if text.is_empty() {
                continue;
            }
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == LAST_LINES {
                lines.pop_front();
            }
            lines.push_back(text);
        }
    }
}
