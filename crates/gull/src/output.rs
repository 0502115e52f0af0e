//! What a process writes, kept within bounds: the beginning and the end, with a note about what lies between.

use std::sync::{Arc, Mutex, PoisonError};

use cove_core::Excerpt;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Kept of the beginning. A whole accessibility tree of a large page has a few hundred kilobytes.
const HEAD_BYTES: usize = 1 << 20;

/// Kept of the end, where errors are.
const TAIL_BYTES: usize = 64 << 10;

/// One pipe that is being read.
pub(crate) struct Capture {
    kept: Arc<Mutex<Excerpt>>,
    reading: Option<JoinHandle<()>>,
}

impl Capture {
    pub(crate) fn start(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Excerpt::new(HEAD_BYTES, TAIL_BYTES)));
        let reading = pipe.map(|mut pipe| {
            let kept = kept.clone();
            tokio::spawn(async move {
                let mut chunk = vec![0; 32 << 10];
                while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
                    let fresh = chunk.get(..read).unwrap_or_default();
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(fresh);
                }
            })
        });
        Self { kept, reading }
    }

    /// Waits for the pipe's end, at most until `until`, and takes what was kept.
    pub(crate) async fn end(mut self, until: Instant) -> String {
        if let Some(mut reading) = self.reading.take()
            && tokio::time::timeout_at(until, &mut reading).await.is_err()
        {
            reading.abort();
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}
