//! One command from start to end: its output as it comes, its deadline, and the tree below it.

use std::time::Instant;

use super::{ExecAnswer, Order};
use crate::process::{Capture, End, Program};
use crate::ship::ShipState;
use crate::ship::error::ApiError;
use crate::sys::keeper::{self, StandardStreams, Start};

/// A command that has been started.
pub(super) struct Running {
    pub(super) program: Program,
    pub(super) out: Capture,
    pub(super) err: Capture,
}

impl Running {
    pub(super) fn start(state: &ShipState, order: &Order) -> Result<Self, ApiError> {
        let failed = |error: std::io::Error| ApiError::internal(format!("bash could not be started: {error}"));
        let cwd = state.workspace.folder(&order.cwd)?;
        let (out, output) = Capture::open(state.output_limit_bytes).map_err(failed)?;
        let (err, error) = Capture::open(state.output_limit_bytes).map_err(failed)?;
        let input = keeper::no_input().map_err(failed)?;
        let start = Start {
            program: "/bin/bash",
            args: &["-lc".to_owned(), order.command.clone()],
            env: &order.env,
            cwd,
            streams: StandardStreams { input, output, error },
            terminal: false,
            inherit: None,
            processes: state.process_limit,
        };
        Ok(Self { program: state.family.start(start).map_err(failed)?, out, err })
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
    pub(super) async fn end_tree(&mut self) -> End {
        let end = self.program.end_tree().await;
        self.out.drain();
        self.err.drain();
        end
    }
}

/// Runs a command and waits for it. Dropping the future (the client has gone) ends the tree.
pub(super) async fn run(state: &ShipState, order: Order) -> Result<ExecAnswer, ApiError> {
    let begin = Instant::now();
    let mut running = Running::start(state, &order)?;
    let limit = order.timeout.unwrap_or(std::time::Duration::MAX);
    let (end, timed_out) = match tokio::time::timeout(limit, running.ended()).await {
        Ok(end) => (end, false),
        Err(_) => (running.end_tree().await, true),
    };
    let Running { mut program, out, err } = running;
    let pid = program.pid().await;
    let answer = ExecAnswer {
        success: end.code == 0 && !timed_out,
        return_code: if timed_out { -1 } else { end.code },
        stdout: out.kept.text(),
        stderr: err.kept.text(),
        pid,
        process_id: None,
        error: reason(end, timed_out.then_some(limit.as_secs_f64())),
        signal: end.signal,
        timed_out,
        truncated: out.kept.is_truncated() || err.kept.is_truncated(),
        execution_time_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    // What the command left running on purpose goes on, as it would in any shell.
    program.release();
    out.forget();
    err.forget();
    Ok(answer)
}

/// Why a command did not end by itself.
pub(super) fn reason(end: End, timed_out_after_s: Option<f64>) -> Option<String> {
    match (timed_out_after_s, end.signal) {
        (Some(seconds), _) => Some(format!("Command timed out after {seconds}s; its whole process tree was ended")),
        (None, Some(libc::SIGKILL)) => {
            Some("Command was ended by signal 9 (SIGKILL); if nobody killed it, memory ran out".to_owned())
        }
        (None, Some(signal)) => Some(format!("Command was ended by signal {signal}")),
        (None, None) => None,
    }
}
