//! What happened, step by step: for whoever wants to see later why a run went the way it did.
//!
//! A trace is given back with the answer and kept by whoever asked for it; Gull keeps none. Texts are cut, so that a
//! hundred steps of long pages stay small enough to store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cove_core::beginning_bytes;
use cove_runtime_api::{BrowserAnswer, TraceStep};

use crate::gull::Inner;

/// Kept of each output: enough for a snapshot of an ordinary page.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// The question where the page is costs half a millisecond; a browser that does not answer it is not waited for.
const ASK: Duration = Duration::from_millis(250);

/// A step that has begun.
pub(crate) struct Begun {
    at: SystemTime,
    clock: tokio::time::Instant,
    url: Option<String>,
}

impl Begun {
    pub(crate) async fn now(inner: &Inner) -> Self {
        let url = inner.url(ASK).await;
        Self { at: SystemTime::now(), clock: tokio::time::Instant::now(), url }
    }

    pub(crate) async fn end(self, inner: &Inner, step_index: u32, cmd: &str, answer: &BrowserAnswer) -> TraceStep {
        let duration = self.clock.elapsed();
        let at = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (stdout, cut_out) = cut(&answer.stdout);
        let (stderr, cut_err) = cut(&answer.stderr);
        TraceStep {
            step_index,
            cmd: cut(cmd).0,
            started_at_ms: crate::gull::millis(at),
            duration_ms: crate::gull::millis(duration),
            exit_code: answer.exit_code,
            stdout,
            stderr,
            truncated: cut_out || cut_err,
            url_before: self.url,
            url_after: inner.url(ASK).await,
        }
    }
}

/// The start of a text, on a character's border, and whether more was there.
fn cut(text: &str) -> (String, bool) {
    match beginning_bytes(text, MAX_TEXT_BYTES) {
        (whole, false) => (whole.to_owned(), false),
        (beginning, true) => (format!("{beginning}…"), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("short"), ("short".to_owned(), false));
        let (text, truncated) = cut(&"€".repeat(MAX_TEXT_BYTES));
        assert!(truncated && text.len() <= MAX_TEXT_BYTES + 3 && text.ends_with("€…"));
    }
}
