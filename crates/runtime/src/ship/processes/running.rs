//! A program that runs, and its output: from two pipes or from a terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use cove_core::Excerpt;
use cove_runtime_api::ProcessStream;
use cove_walls::spawn::{StandardStreams, Start, no_input};
use tokio::net::unix::pipe;

use super::input::InputEnd;
use super::launch::Launch;
use crate::process::{Capture, Hearer, Program, Transcript, TreeEnd};
use crate::ship::ShipState;
use crate::ship::causes::Moment;
use crate::ship::error::ApiError;
use crate::ship::term::{Terminal, on_terminal};

/// How long the last output of a program in a terminal is waited for.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// A program that has been started, and where it writes to.
pub(super) struct Running {
    pub(super) program: Program,
    pub(super) outlet: Outlet,
    /// Before it started.
    pub(super) begun: Moment,
}

/// Where its output comes from.
pub(super) enum Outlet {
    Pipes { out: Capture, err: Capture },
    Terminal { terminal: Arc<Terminal>, transcript: Arc<Transcript>, kept: Excerpt, is_closed: bool },
}

impl Running {
    /// Starts it; with it the end of its standard input that is ours, where it has one.
    pub(super) async fn start(state: &ShipState, launch: Launch) -> Result<(Self, Option<InputEnd>), ApiError> {
        let Launch { program, args, mut env, folder, input, terminal, .. } = launch;
        let failed = |error: io::Error| ApiError::from_start(&program, &error);
        let (streams, outlet, input) = match terminal {
            None => {
                let (out, output) = Capture::open(state.output_limit_bytes).map_err(failed)?;
                let (err, error) = Capture::open(state.output_limit_bytes).map_err(failed)?;
                let (theirs, ours) =
                    if input { input_pipe().map_err(failed)? } else { (no_input().map_err(failed)?, None) };
                (StandardStreams { input: theirs, output, error }, Outlet::Pipes { out, err }, ours)
            }
            Some(size) => {
                let (terminal, peer) = Terminal::open(size).map_err(failed)?;
                let terminal = Arc::new(terminal);
                if !env.iter().any(|(name, _)| name == "TERM") {
                    env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
                }
                let kept = Excerpt::halves(state.output_limit_bytes);
                let outlet = Outlet::Terminal {
                    terminal: Arc::clone(&terminal),
                    transcript: Arc::default(),
                    kept,
                    is_closed: false,
                };
                (on_terminal(peer).map_err(failed)?, outlet, Some(InputEnd::Terminal(terminal)))
            }
        };
        let start = Start {
            program: program.clone(),
            args,
            env,
            cwd: folder,
            streams,
            terminal: terminal.is_some(),
            inherit: None,
            processes: state.process_limit,
        };
        let begun = state.causes.now();
        let started = state.family.start(start).await.map_err(failed)?;
        started.executed().await.map_err(|error| ApiError::from_program(&program, &error))?;
        Ok((Self { program: started, outlet, begun }, input))
    }

    pub(super) fn terminal(&self) -> Option<Arc<Terminal>> {
        match &self.outlet {
            Outlet::Pipes { .. } => None,
            Outlet::Terminal { terminal, .. } => Some(Arc::clone(terminal)),
        }
    }

    /// From now on everything is written down.
    pub(super) fn tell(&mut self, to: &Arc<Transcript>) {
        match &mut self.outlet {
            Outlet::Pipes { out, err } => {
                out.tell(Some(Hearer::Transcript(Arc::clone(to), ProcessStream::Stdout)));
                err.tell(Some(Hearer::Transcript(Arc::clone(to), ProcessStream::Stderr)));
            }
            Outlet::Terminal { transcript, .. } => *transcript = Arc::clone(to),
        }
    }

    /// Ends the whole tree and takes what it still said.
    pub(super) async fn end_tree(&mut self) -> TreeEnd {
        let end = self.program.end_tree().await;
        self.outlet.drain().await;
        end
    }
}

impl Outlet {
    /// Waits for more and takes it. May be dropped any time.
    pub(super) async fn fill(&mut self) {
        match self {
            Self::Pipes { out, err } => tokio::select! {
                biased;
                () = out.fill() => {}
                () = err.fill() => {}
            },
            Self::Terminal { is_closed: true, .. } => std::future::pending().await,
            Self::Terminal { terminal, transcript, kept, is_closed } => match terminal.read().await {
                Ok(bytes) if !bytes.is_empty() => {
                    transcript.push(ProcessStream::Terminal, &bytes);
                    kept.push(&bytes);
                }
                // The last program has closed it.
                _ => *is_closed = true,
            },
        }
    }

    /// Takes what is there now.
    pub(super) async fn drain(&mut self) {
        match self {
            Self::Pipes { out, err } => {
                out.drain();
                err.drain();
            }
            Self::Terminal { .. } => {
                let all = async {
                    while !matches!(self, Self::Terminal { is_closed: true, .. }) {
                        self.fill().await;
                    }
                };
                let _ = tokio::time::timeout(LAST_WORDS, all).await;
            }
        }
    }

    /// Hands over what was read, for who looks later.
    pub(super) fn collect(&mut self, stdout: &mut Excerpt, stderr: &mut Excerpt) {
        match self {
            Self::Pipes { out, err } => {
                stdout.append(&out.kept.take());
                stderr.append(&err.kept.take());
            }
            Self::Terminal { kept, .. } => stdout.append(&kept.take()),
        }
    }

    /// Empty excerpts with the right bound.
    pub(super) fn bounds(&self) -> (Excerpt, Excerpt) {
        match self {
            Self::Pipes { out, err } => (out.kept.clone(), err.kept.clone()),
            Self::Terminal { kept, .. } => (kept.clone(), kept.clone()),
        }
    }

    pub(super) fn forget(self) {
        if let Self::Pipes { out, err } = self {
            out.forget();
            err.forget();
        }
    }
}

/// A pipe for a program's standard input: its end, and ours.
fn input_pipe() -> io::Result<(OwnedFd, Option<InputEnd>)> {
    let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((theirs, Some(InputEnd::Pipe(pipe::Sender::from_owned_fd(ours)?))))
}
