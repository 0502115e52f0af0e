//! What Gull answers.

use serde::{Deserialize, Serialize};

/// Exit code of a command that ran out of time.
pub(crate) const TIMED_OUT: i32 = -1;

/// The answer to one command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// What the command printed.
    pub stdout: String,
    /// What went wrong, hints, and notes about what Gull had to do (a browser started again, a page closed).
    pub stderr: String,
    /// 0: done. 1: the browser could not. 2: refused. -1: out of time.
    pub exit_code: i32,
}

impl Answer {
    pub(crate) fn failed(exit_code: i32, stderr: impl Into<String>) -> Self {
        Self { stdout: String::new(), stderr: stderr.into(), exit_code }
    }

    pub(crate) fn timed_out(timeout: std::time::Duration) -> Self {
        Self::failed(TIMED_OUT, timed_out_words(timeout))
    }

    /// Adds a line to what went wrong.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.stderr.is_empty() && !self.stderr.ends_with('\n') {
            self.stderr.push('\n');
        }
        self.stderr.push_str(note);
    }
}

/// The contract's own sentence.
pub(crate) fn timed_out_words(timeout: std::time::Duration) -> String {
    // To the millisecond: what is left of a batch's time has nine digits.
    format!("Command timed out after {}s", (timeout.as_secs_f64() * 1e3).round() / 1e3)
}

/// One step of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The command as it was given.
    pub cmd: String,
    /// What it printed.
    pub stdout: String,
    /// What went wrong.
    pub stderr: String,
    /// As in [`Answer`].
    pub exit_code: i32,
    /// Which one it was, from 0.
    pub step_index: usize,
    /// How long it took.
    pub duration_ms: u64,
}

/// The answer to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchAnswer {
    /// One entry per command that was begun.
    pub results: Vec<Step>,
    /// How many commands there were.
    pub total_steps: usize,
    /// How many were begun and came to an end.
    pub completed_steps: usize,
    /// Whether all of them succeeded.
    pub success: bool,
    /// How long it took in all.
    pub duration_ms: u64,
}

/// Whether the browser can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// It answers, or waits to be started by the first command.
    Healthy,
    /// It has ended; the next command starts it again.
    Degraded,
    /// It is there and does not answer, or cannot be had.
    Unhealthy,
}

/// The answer to `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// In one word.
    pub status: HealthStatus,
    /// Whether there is a browser process.
    pub browser_active: bool,
    /// Whether it has just answered a question.
    pub browser_ready: bool,
    /// The sandbox's id.
    pub session: String,
    /// Cove's version.
    pub version: String,
    /// Why not, if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
