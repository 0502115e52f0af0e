//! The calls that one run of code has made: what each did, and whether the run can be repeated.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::rules::Hints;

/// Calls of one run that are listed one by one; more are counted.
const MAX_LISTED: usize = 200;

/// How much of a call's arguments is told.
const ARGS_CHARS: usize = 200;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// It was done.
    Done,
    /// The tool has answered that it failed.
    Failed,
    /// Nobody knows: it was under way when its server, its time or its run ended.
    Unknown,
    /// It was never sent: its server could not be had, or its run ended while it waited for a person or for its turn.
    NotMade,
    /// A rule or a person has refused it; it was never sent.
    Denied,
}

/// One call.
#[derive(Debug, Clone, Serialize)]
pub struct CallRecord {
    /// `server.tool`.
    pub tool: String,
    /// Its arguments, shortened.
    pub args: String,
    /// How it ended.
    pub end: CallEnd,
    /// What such a call does: `reads`, `may change`, `may destroy`.
    pub effect: &'static str,
    /// Whether making it again does no harm.
    pub retry_safe: bool,
    /// How long it took.
    pub ms: u64,
}

/// The calls of a run.
#[derive(Debug, Default)]
pub struct RunCalls(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    calls: Vec<CallRecord>,
    more: u64,
}

impl RunCalls {
    /// A call begins. Until it is [sent](CallNote::sent) it is one that was not made.
    pub(crate) fn begin(&self, tool: &str, args: &Map<String, Value>, hints: Hints) -> CallNote<'_> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = if made.calls.len() >= MAX_LISTED {
            made.more += 1;
            None
        } else {
            let record = CallRecord {
                tool: tool.to_owned(),
                args: shortened(&Value::Object(args.clone()).to_string()),
                end: CallEnd::NotMade,
                effect: hints.effect(),
                retry_safe: true,
                ms: 0,
            };
            made.calls.push(record);
            Some(made.calls.len() - 1)
        };
        CallNote { calls: self, at, begun: Instant::now(), repeatable: hints.is_repeatable() }
    }

    /// Those that are listed, and how many more there were.
    pub fn list(&self) -> (Vec<CallRecord>, u64) {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (made.calls.clone(), made.more)
    }

    /// Whether all of it can be run again without doing anything twice.
    pub fn retry_safe(&self) -> bool {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.more == 0 && made.calls.iter().all(|call| call.retry_safe)
    }
}

/// A call that is under way.
pub(crate) struct CallNote<'a> {
    calls: &'a RunCalls,
    at: Option<usize>,
    begun: Instant,
    repeatable: bool,
}

impl CallNote<'_> {
    /// From here on nobody knows whether it was done, until its end is known.
    pub(crate) fn sent(&self) {
        self.put(CallEnd::Unknown);
    }

    pub(crate) fn end(self, end: CallEnd) {
        self.put(end);
    }

    fn put(&self, end: CallEnd) {
        let mut made = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = self.at.and_then(|at| made.calls.get_mut(at)) else { return };
        record.end = end;
        record.ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        record.retry_safe = match end {
            CallEnd::NotMade | CallEnd::Denied => true,
            CallEnd::Done | CallEnd::Failed | CallEnd::Unknown => self.repeatable,
        };
    }
}

/// The beginning of a text, on one line.
pub(crate) fn shortened(text: &str) -> String {
    crate::types::comment(text, ARGS_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_unknown_from_being_sent_to_its_end() {
        let calls = RunCalls::default();
        let reads = Hints { read_only: Some(true), ..Hints::default() };
        calls.begin("a.read", &Map::new(), reads).sent();
        assert!(calls.retry_safe());
        let note = calls.begin("a.write", &Map::new(), Hints::default());
        assert_eq!((calls.list().0[1].end, calls.retry_safe()), (CallEnd::NotMade, true), "it waits");
        note.sent();
        assert_eq!((calls.list().0[1].end, calls.retry_safe()), (CallEnd::Unknown, false));
        let (list, more) = calls.list();
        assert_eq!((list.len(), more, list[1].end, list[1].effect), (2, 0, CallEnd::Unknown, "may change"));
        let calls = RunCalls::default();
        calls.begin("a.write", &Map::new(), Hints::default()).end(CallEnd::Denied);
        assert!(calls.retry_safe());
    }
}
