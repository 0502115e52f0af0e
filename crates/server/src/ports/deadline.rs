//! How long a program in a sandbox may take to begin its answer.
//!
//! While the request's body still comes its own limits count: the caller's (a body may not stand still) and the connection's
//! (a program that does not read). The program's time begins when it has everything.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// From the end of the request to the end of the answer's head.
pub(super) const HEAD: Duration = Duration::from_secs(120);

/// A request's body on its way to a program.
pub(super) struct SentBody {
    inner: Body,
    /// How long it may stand still.
    pause: Duration,
    still: Pin<Box<Sleep>>,
    /// Told when all of it is sent.
    sent: Arc<Notify>,
}

impl SentBody {
    /// The body, and what is told when it has been sent.
    pub(super) fn new(inner: Body, pause: Duration) -> (Self, Arc<Notify>) {
        let sent = Arc::new(Notify::new());
        if inner.is_end_stream() {
            sent.notify_one();
        }
        (Self { inner, pause, still: Box::pin(tokio::time::sleep(pause)), sent: Arc::clone(&sent) }, sent)
    }
}

impl Drop for SentBody {
    fn drop(&mut self) {
        self.sent.notify_one();
    }
}

impl HttpBody for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        let until = Instant::now() + self.pause;
        match frame {
            Poll::Ready(frame) => {
                self.still.as_mut().reset(until);
                // Trailers would be headers that nobody has looked at.
                Poll::Ready(frame.filter(|frame| !frame.as_ref().is_ok_and(Frame::is_trailers)))
            }
            Poll::Pending if self.still.as_mut().poll(context).is_ready() => {
                Poll::Ready(Some(Err(axum::Error::new(std::io::Error::from(std::io::ErrorKind::TimedOut)))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
