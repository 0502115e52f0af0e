//! Gull's `/exec` and `/exec_batch`: the browser, one command at a time or several.

use std::time::Duration;

use cove_api::{BrowserCause, BrowserStep, EXIT_TIMED_OUT, HINT, NOTE, REFUSED};
use serde::{Deserialize, Serialize};

use crate::Call;

/// Commands in one batch.
pub const MAX_COMMANDS: usize = 200;

/// What one command may have.
pub const MAX_COMMAND_BYTES: usize = 256 << 10;

/// The largest body that Gull reads: a batch of long commands fits.
pub const MAX_BROWSER_BODY_BYTES: usize = 4 << 20;

/// The least time of a command: with less, no browser answers.
pub const MIN_BROWSER_TIMEOUT: Duration = Duration::from_secs(1);

/// The most time of one command.
pub const MAX_BROWSER_TIMEOUT: Duration = Duration::from_secs(300);

/// The most time of a batch.
pub const MAX_BATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// One command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrowserRequest {
    /// The command line.
    pub cmd: String,
    /// Seconds.
    #[serde(default = "thirty")]
    pub timeout: f64,
    /// Whether the answer has a trace.
    #[serde(default)]
    pub include_trace: bool,
}

impl Call for BrowserRequest {
    type Answer = BrowserAnswer;
    const PATH: &'static str = "/exec";
}

/// Several commands, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchRequest {
    /// The command lines.
    pub commands: Vec<String>,
    /// Seconds for all of them together.
    #[serde(default = "sixty")]
    pub timeout: f64,
    /// Whether the first failure ends it.
    #[serde(default = "yes")]
    pub stop_on_error: bool,
    /// Whether the answer has a trace.
    #[serde(default)]
    pub include_trace: bool,
}

impl Call for BatchRequest {
    type Answer = BatchAnswer;
    const PATH: &'static str = "/exec_batch";
}

fn thirty() -> f64 {
    30.0
}

fn sixty() -> f64 {
    60.0
}

fn yes() -> bool {
    true
}

/// The answer to one command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BrowserAnswer {
    /// What the command printed.
    pub stdout: String,
    /// What went wrong, hints, and notes about what Gull had to do (a browser started again, a page closed).
    pub stderr: String,
    /// 0: done. Else [`EXIT_FAILED`](crate::EXIT_FAILED), [`EXIT_REFUSED`](crate::EXIT_REFUSED),
    /// [`EXIT_TIMED_OUT`](crate::EXIT_TIMED_OUT), [`EXIT_HELD`](crate::EXIT_HELD), or agent-browser's own.
    pub exit_code: i32,
    /// What refused or ended it, where Gull knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<BrowserCause>,
    /// Why Gull refused or ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What happened besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What happened, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<TraceStep>>,
}

impl BrowserAnswer {
    /// A command that was not carried out.
    pub fn failed(exit_code: i32, stderr: impl Into<String>) -> Self {
        Self { stderr: stderr.into(), exit_code, ..Self::default() }
    }

    /// A command that was refused before anything happened.
    pub fn refused(cause: BrowserCause, exit_code: i32, reason: impl Into<String>, hint: Option<String>) -> Self {
        let reason = reason.into();
        let mut answer = Self { cause: Some(cause), ..Self::failed(exit_code, format!("{REFUSED}{reason}")) };
        answer.reason = Some(reason);
        if let Some(hint) = hint {
            answer.advise(hint);
        }
        answer
    }

    /// The command ran out of time.
    pub fn time_out(&mut self, reason: String) {
        self.exit_code = EXIT_TIMED_OUT;
        self.cause = Some(BrowserCause::TimedOut);
        self.add_line(&reason);
        self.reason = Some(reason);
    }

    /// Adds how the command was ended.
    pub fn explain(&mut self, how: &str) {
        self.add_line(&format!("{NOTE}{how}"));
        let reason = self.reason.get_or_insert_default();
        if !reason.is_empty() {
            reason.push('\n');
        }
        reason.push_str(how);
    }

    /// Adds what happened besides.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        self.add_line(&format!("{NOTE}{note}"));
        self.notes.push(note);
    }

    /// Adds what to do next.
    pub fn advise(&mut self, hint: impl Into<String>) {
        let hint = hint.into();
        self.add_line(&format!("{HINT}{hint}"));
        self.hint = Some(hint);
    }

    /// Adds a line to what went wrong.
    pub fn add_line(&mut self, line: &str) {
        if !self.stderr.is_empty() && !self.stderr.ends_with('\n') {
            self.stderr.push('\n');
        }
        self.stderr.push_str(line);
    }

    /// As one step of several.
    pub fn into_step(self, cmd: String, step_index: u32, duration_ms: i64) -> BrowserStep {
        let Self { stdout, stderr, exit_code, cause, reason, hint, notes, trace: _ } = self;
        BrowserStep { cmd, stdout, stderr, exit_code, cause, reason, hint, notes, step_index, duration_ms }
    }
}

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchAnswer {
    /// One entry per command that was begun.
    pub results: Vec<BrowserStep>,
    /// How many commands there were.
    pub total_steps: u32,
    /// How many were begun and came to an end.
    pub completed_steps: u32,
    /// Whether all of them succeeded.
    pub success: bool,
    /// How long it took in all.
    pub duration_ms: i64,
    /// What happened, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<TraceStep>>,
}

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Which one it was, from 0.
    pub step_index: u32,
    /// The command as it was given.
    pub cmd: String,
    /// When it began, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// As in [`BrowserAnswer`].
    pub exit_code: i32,
    /// What it printed, cut.
    pub stdout: String,
    /// What went wrong, cut.
    pub stderr: String,
    /// Whether something was cut.
    pub truncated: bool,
    /// Where the active page was before; `None` where there was no page or it did not say.
    pub url_before: Option<String>,
    /// And after.
    pub url_after: Option<String>,
}
