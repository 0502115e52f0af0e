//! One command from start to end: its output as it comes, its deadline, and the tree below it.

use std::time::Instant;

use cove_core::Deadline;
use cove_runtime_api::{OutputStream, ShellAnswer};
use cove_walls::spawn::{StandardStreams, Start, no_input};

use super::ShellCommand;
use crate::process::{Capture, End, Hearer, Program, TreeEnd};
use crate::ship::ShipState;
use crate::ship::causes::{Moment, told};
use crate::ship::error::ApiError;
use cove_cell::{EndedByLimit, ExceededLimit};

/// A command that has been started.
pub(super) struct Running {
    pub(super) program: Program,
    pub(super) out: Capture,
    pub(super) err: Capture,
    /// Before it started.
    pub(super) begun: Moment,
}

impl Running {
    pub(super) async fn start(state: &ShipState, order: &ShellCommand) -> Result<Self, ApiError> {
        let failed = |error: std::io::Error| ApiError::from_start("bash", &error);
        let cwd = state.workspace.folder(&order.cwd)?;
        let (mut out, output) = Capture::open(state.output_limit_bytes).map_err(failed)?;
        let (mut err, error) = Capture::open(state.output_limit_bytes).map_err(failed)?;
        if let Some(live) = &order.live {
            out.tell(Some(Hearer::Live(live.clone(), OutputStream::Stdout)));
            err.tell(Some(Hearer::Live(live.clone(), OutputStream::Stderr)));
        }
        let input = no_input().map_err(failed)?;
        let start = Start {
            program: "/bin/bash".to_owned(),
            args: vec!["-lc".to_owned(), order.command.clone()],
            env: order.env.clone(),
            cwd,
            streams: StandardStreams { input, output, error },
            terminal: false,
            inherit: None,
            processes: state.process_limit,
        };
        let begun = state.causes.now();
        Ok(Self { program: state.family.start(start).await.map_err(failed)?, out, err, begun })
    }

    /// Reads until the command itself has ended.
    pub(super) async fn ended(&mut self) -> End {
        loop {
            tokio::select! {
                biased;
                end = self.program.ended() => {
                    self.out.drain();
                    self.err.drain();
                    return end;
                }
                () = self.out.fill() => {}
                () = self.err.fill() => {}
            }
        }
    }

    /// Ends the whole tree and takes what it still said.
    pub(super) async fn end_tree(&mut self) -> TreeEnd {
        let end = self.program.end_tree().await;
        self.out.drain();
        self.err.drain();
        end
    }
}

/// Runs a command and waits for it. Dropping the future (the client has gone) ends the tree.
pub(super) async fn run(state: &ShipState, order: ShellCommand) -> Result<ShellAnswer, ApiError> {
    let begin = Instant::now();
    let deadline = order.deadline.unwrap_or_else(|| Deadline::after(std::time::Duration::MAX));
    let after_s = deadline.budget().as_secs_f64();
    let Ok(started) = tokio::time::timeout_at(deadline.at().into(), Running::start(state, &order)).await else {
        return Err(ApiError::timeout(format!("bash could not be started within {after_s}s")));
    };
    let mut running = started?;
    let (end, timed_out) = match tokio::time::timeout_at(deadline.at().into(), running.ended()).await {
        Ok(end) => (end, None),
        Err(_) => {
            let TreeEnd { end, whole } = running.end_tree().await;
            (end, Some(TimedOut { after_s, whole }))
        }
    };
    let Running { program, out, err, begun } = running;
    if let Some(trouble) = program.trouble() {
        return Err(ApiError::from_start("bash", &trouble));
    }
    let pid = Some(program.pid());
    let stopped = state.causes.since(begun, timed_out.is_none().then_some(end));
    let answer = ShellAnswer {
        success: end.code == 0 && timed_out.is_none(),
        return_code: if timed_out.is_some() { -1 } else { end.code },
        stdout: out.kept.text(),
        stderr: err.kept.text(),
        pid,
        process_id: None,
        error: reason(end, timed_out, stopped),
        signal: end.signal,
        stopped: stopped.map(told),
        timed_out: timed_out.is_some(),
        truncated: out.kept.is_truncated() || err.kept.is_truncated(),
        execution_time_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    // What the command left running on purpose goes on, as it would in any shell.
    program.release();
    out.forget();
    err.forget();
    Ok(answer)
}

/// A command that took too long.
#[derive(Debug, Clone, Copy)]
pub(in crate::ship) struct TimedOut {
    pub(in crate::ship) after_s: f64,
    /// Whether nobody of its tree is left.
    pub(in crate::ship) whole: bool,
}

/// Why a command did not end by itself.
pub(in crate::ship) fn reason(end: End, timed_out: Option<TimedOut>, stopped: Option<EndedByLimit>) -> Option<String> {
    if let (Some(stopped), None, 1..) = (stopped, timed_out, end.code) {
        return Some(match stopped.cause {
            ExceededLimit::MemoryLimit => format!("Command was ended by signal 9 (SIGKILL): {stopped}"),
            ExceededLimit::DiskLimit => format!("Command was ended, or a program that it started: {stopped}"),
        });
    }
    match (timed_out, end.signal) {
        (Some(TimedOut { after_s, whole: true }), _) => {
            Some(format!("Command timed out after {after_s}s; its whole process tree was ended"))
        }
        (Some(TimedOut { after_s, whole: false }), _) => Some(format!(
            "Command timed out after {after_s}s; some of its processes were killed and have not ended yet"
        )),
        (None, Some(signal @ libc::SIGKILL)) => Some(format!("Command was ended by signal {signal} (SIGKILL)")),
        (None, Some(signal)) => Some(format!("Command was ended by signal {signal}")),
        (None, None) => None,
    }
}
