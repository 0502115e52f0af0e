//! The run that a session is busy with: whom its console and its tools speak to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::{Approval, ApprovalEnd};
use cove_core::{Holds, LogLine, LogSink};
use serde_json::Value;

/// Hears what a run says while it goes on. Must not block.
pub trait RunListener: Send + Sync {
    /// A console line, as it is written.
    fn console(&self, line: &LogLine);

    /// The code calls a tool that the caller answers, with
    /// [`SessionHost::answer_call`](crate::SessionHost::answer_call).
    fn tool_called(&self, call_id: &str, name: &str, args: Vec<Value>);

    /// A call waits for a person, who decides with [`SessionHost::decide`](crate::SessionHost::decide).
    fn approval_asked(&self, _approval: &Approval) {}

    /// It waits no more.
    fn approval_ended(&self, _approval: &Approval, _end: ApprovalEnd) {}
}

/// A session outlives its runs, and its console and its tools with it: they look here for the run of the moment.
#[derive(Default)]
pub(super) struct CurrentRun {
    run: Mutex<Option<ActiveRun>>,
    /// The clock of the session's engine.
    pub(super) holds: Arc<Holds>,
}

/// One run's listener, and the tools that its caller answers.
#[derive(Clone)]
pub(super) struct ActiveRun {
    pub(super) listener: Arc<dyn RunListener>,
    pub(super) tools: Arc<[String]>,
    /// Those of them that a person must allow.
    pub(super) asked: Arc<[String]>,
    /// The clock of whoever waits for this run.
    pub(super) holds: Arc<Holds>,
}

impl CurrentRun {
    /// This run, from now until the guard is dropped.
    pub(super) fn enter(self: &Arc<Self>, run: ActiveRun) -> Entered {
        *self.slot() = Some(run);
        Entered(Arc::clone(self))
    }

    /// The run of this moment.
    pub(super) fn get(&self) -> Option<ActiveRun> {
        self.slot().clone()
    }

    /// A console that speaks to the run of the moment.
    pub(super) fn sink(self: &Arc<Self>) -> LogSink {
        let current = Arc::clone(self);
        Arc::new(move |line| {
            if let Some(run) = current.get() {
                run.listener.console(line);
            }
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<ActiveRun>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, its run is the current one.
pub(super) struct Entered(Arc<CurrentRun>);

impl Drop for Entered {
    fn drop(&mut self) {
        *self.0.slot() = None;
    }
}
