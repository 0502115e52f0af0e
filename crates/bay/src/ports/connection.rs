//! A connection to a port of a sandbox.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// However much moves.
const TOTAL: Duration = Duration::from_secs(12 * 3600);

/// A connection to a program in a sandbox. It breaks off when nothing has moved for as long as a session may be idle, and
/// after half a day. Dropping it closes it.
pub struct PortConnection {
    inner: TokioIo<Upgraded>,
    idle: Duration,
    moved: Instant,
    began: Instant,
    /// Looks at both limits when it is over.
    alarm: Pin<Box<Sleep>>,
    /// Its place among the session's connections, and what says that the session is in use.
    _kept: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for PortConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortConnection").field("idle", &self.idle).finish_non_exhaustive()
    }
}

impl PortConnection {
    pub(super) fn new(inner: TokioIo<Upgraded>, idle: Duration, kept: impl Send + Sync + 'static) -> Self {
        let now = Instant::now();
        let alarm = Box::pin(tokio::time::sleep(idle.min(TOTAL)));
        Self { inner, idle, moved: now, began: now, alarm, _kept: Box::new(kept) }
    }

    /// What became of a try. While nothing moves, the limits count.
    fn after<T>(&mut self, tried: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.moved = Instant::now();
            return tried;
        }
        while self.alarm.as_mut().poll(context).is_ready() {
            let next = (self.moved + self.idle).min(self.began + TOTAL);
            if next <= Instant::now() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "nothing moved for too long")));
            }
            self.alarm.as_mut().reset(next);
        }
        Poll::Pending
    }
}

impl AsyncRead for PortConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.inner).poll_read(context, into);
        self.after(tried, context)
    }
}

impl AsyncWrite for PortConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.after(tried, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
