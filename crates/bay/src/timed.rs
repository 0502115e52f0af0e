//! How long a run may take, as a caller inside this process says it.
//!
//! Over HTTP a time-out counts in whole seconds; callers in this process may mean milliseconds. One pair for all verbs,
//! so that none of them reads the seconds of a request that came with a time of its own.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{
    BrowserBatchRequest, BrowserExecRequest, BrowserSkillRequest, OutputChunk, PythonExecRequest, ShellExecRequest,
};

use crate::BayResult;
use crate::sandboxes::invalid;

/// Hears what one run writes, while it runs. Must not block.
pub type OutputSink = Arc<dyn Fn(&OutputChunk) + Send + Sync>;

/// A request, and the time that it has in place of its own.
#[derive(Clone)]
pub struct Timed<T> {
    /// What to do.
    pub request: T,
    /// How long it may take.
    pub timeout: Duration,
    /// Hears the output of Python or a command as it is written.
    pub output: Option<OutputSink>,
    /// Whether it may take longer than others: its caller waits for it with a stream.
    pub long: bool,
}

/// The longest that such a run may take.
const LONG: Duration = Duration::from_secs(3600);

impl<T> Timed<T> {
    /// A request that may take so long, and is heard when it has ended.
    pub fn new(request: T, timeout: Duration) -> Self {
        Self { request, timeout, output: None, long: false }
    }

    pub(crate) fn check(&self, most: Duration) -> BayResult<()> {
        let timeout = self.timeout;
        let most = if self.long { LONG } else { most };
        if !timeout.is_zero() && timeout <= most {
            return Ok(());
        }
        let (given, most) = (timeout.as_secs_f64(), most.as_secs());
        Err(invalid(format!("`timeout` is {given}; it must be 1 to {most} seconds")))
    }
}

macro_rules! by_its_seconds {
    ($($request:ty),*) => {$(
        impl From<$request> for Timed<$request> {
            fn from(request: $request) -> Self {
                let timeout = Duration::from_secs(request.timeout);
                Self::new(request, timeout)
            }
        }
    )*};
}

by_its_seconds!(PythonExecRequest, ShellExecRequest, BrowserExecRequest, BrowserBatchRequest, BrowserSkillRequest);
