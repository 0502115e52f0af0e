//! Where a run takes place: what the room must know of a sandbox, and what it says while it runs.

use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_core::{LogLine, LogSink, NetworkPolicy, SandboxId, ToolSpec};
use serde_json::Value;

/// What the room must know of the sandbox that a run belongs to.
pub(crate) struct Place {
    /// The sandbox.
    pub(crate) sandbox_id: SandboxId,
    /// The hosts that its profile opens.
    pub(crate) network: NetworkPolicy,
    /// The file tools, if its profile has files.
    pub(crate) files: Vec<ToolSpec>,
    /// Why no pictures are kept, if none are.
    pub(crate) no_pictures: Option<String>,
    /// How long a session may stay unused.
    pub(crate) idle: Duration,
}

/// What a run says while it goes on.
pub(crate) trait Heard: Send + Sync {
    /// A console line.
    fn line(&self, line: &LogLine);
    /// A tool is called that the caller answers.
    fn call(&self, call_id: &str, name: &str, args: Vec<Value>);
}

/// The run that a session is busy with. A session outlives its runs, and its console and its tools with it: they look
/// here for whom they speak to.
#[derive(Default)]
pub(crate) struct Current(Mutex<Option<Run>>);

/// One run's listener, and the tools that its caller answers.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) heard: Arc<dyn Heard>,
    pub(crate) tools: Arc<[String]>,
}

impl Current {
    /// This run, from now until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, run: Run) -> Entered {
        *self.slot() = Some(run);
        Entered(Arc::clone(self))
    }

    /// The run of this moment.
    pub(crate) fn get(&self) -> Option<Run> {
        self.slot().clone()
    }

    /// A console that speaks to the run of the moment.
    pub(crate) fn sink(self: &Arc<Self>) -> LogSink {
        let current = Arc::clone(self);
        Arc::new(move |line| {
            if let Some(run) = current.get() {
                run.heard.line(line);
            }
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, its run is the current one.
pub(crate) struct Entered(Arc<Current>);

impl Drop for Entered {
    fn drop(&mut self) {
        *self.0.slot() = None;
    }
}
