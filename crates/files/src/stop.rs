//! When a tool gives up: its time is over, or nobody waits for the answer any more.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Enough for a search through a million files, little enough that a hostile tree does not keep a thread.
pub(crate) const DEFAULT_BUDGET: Duration = Duration::from_secs(30);

/// Asked between files and between blocks of a file.
#[derive(Debug, Clone)]
pub struct Stop {
    at: Instant,
    cancelled: Arc<AtomicBool>,
}

impl Stop {
    /// Starts the clock.
    pub fn after(budget: Duration) -> Self {
        Self { at: Instant::now() + budget, cancelled: Arc::default() }
    }

    /// Ends the work when this is dropped: a call that nobody waits for any more does not keep a thread busy.
    pub fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(Arc::clone(&self.cancelled))
    }

    /// Whether to give up now.
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.at
    }
}

/// See [`Stop::cancel_on_drop`].
#[derive(Debug)]
pub struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::after(DEFAULT_BUDGET)
    }
}

/// A reader that ends with an error once the time is over.
pub(crate) struct Guarded<'a, R> {
    pub(crate) inner: R,
    pub(crate) stop: &'a Stop,
}

impl<R: Read> Read for Guarded<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.inner.read(buf)
    }
}
