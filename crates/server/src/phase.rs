//! What one connection does at the moment: shared by its stream, its service and `connections.rs`.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::shares::Kept;

/// Nothing is being answered, and nothing of an answer is left to be written.
const IDLE: u8 = 0;
/// A request is being worked on, or its answer is being written.
const ANSWERING: u8 = 1;
/// The whole answer has been handed over; some of it may still have to be written.
const ANSWERED: u8 = 2;

/// What one connection does at the moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phase(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: AtomicU8,
    /// How many connections had come to their rest when this one last did: the lowest number rests longest.
    rested: AtomicU64,
    /// When the peer stopped taking what is written, in milliseconds of [`now_ms`]; 0: it takes what comes.
    stuck: AtomicU64,
    /// Whether the peer has not sent all of its request's body.
    sending: AtomicBool,
    /// What a connection that has become another protocol holds until it is closed.
    kept: Mutex<Option<Kept>>,
}

/// Counts rests.
static RESTS: AtomicU64 = AtomicU64::new(1);

/// Milliseconds since the first call, and one.
fn now_ms() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

impl Phase {
    /// A connection from which nothing has come yet.
    pub(crate) fn new() -> Self {
        let phase = Self::default();
        phase.rest();
        phase
    }

    fn rest(&self) {
        self.0.rested.store(RESTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// A request has come; its body, watched until its end.
    pub(crate) fn begin(&self, body: hyper::body::Incoming) -> Body {
        self.busy();
        let ended = body.is_end_stream();
        self.0.sending.store(!ended, Ordering::Relaxed);
        if ended {
            return Body::empty();
        }
        Body::new(Coming { inner: body, phase: self.clone() })
    }

    /// Something is being answered.
    pub(crate) fn busy(&self) {
        self.0.now.store(ANSWERING, Ordering::Release);
    }

    /// Whether nothing is being answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.now.load(Ordering::Acquire) == IDLE
    }

    /// While nothing is being answered: since when, as a number that grows.
    pub(crate) fn resting_since(&self) -> Option<u64> {
        self.is_idle().then(|| self.0.rested.load(Ordering::Relaxed))
    }

    /// Notes whether the peer takes what is written.
    pub(crate) fn taken(&self, taken: bool) {
        let stuck = &self.0.stuck;
        if taken {
            stuck.store(0, Ordering::Relaxed);
        } else {
            // Only the first of several tries says since when.
            let _ = stuck.compare_exchange(0, now_ms(), Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// How long the peer has taken nothing of what is written.
    pub(crate) fn stuck_for(&self) -> Option<Duration> {
        match self.0.stuck.load(Ordering::Relaxed) {
            0 => None,
            since => Some(Duration::from_millis(now_ms().saturating_sub(since))),
        }
    }

    /// Whether the peer may still be sending a request's body that nobody reads any more.
    pub(crate) fn sending(&self) -> bool {
        self.0.sending.load(Ordering::Relaxed)
    }

    /// All that was handed over is out: hyper flushes when it has written all that it had.
    pub(crate) fn flushed(&self) {
        if self.0.now.compare_exchange(ANSWERED, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.rest();
        }
    }

    /// Watches its answer until the last of it has been handed over. What the request holds, it holds until then.
    pub(crate) fn watch(&self, mut response: Response) -> Response {
        let kept = response.extensions_mut().remove::<Kept>();
        // What is another protocol from here on is nothing that hyper writes.
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            *self.0.kept.lock().unwrap_or_else(PoisonError::into_inner) = kept;
            return response;
        }
        // The rest of a request that nobody reads ends the connection: whoever asks again must not do it here.
        if self.sending() {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let phase = self.clone();
        response.map(|inner| Body::new(Watched { inner, phase, _kept: kept }))
    }
}

/// A request's body; its end is noted.
struct Coming {
    inner: hyper::body::Incoming,
    phase: Phase,
}

impl HttpBody for Coming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.inner.is_end_stream() {
            self.phase.0.sending.store(false, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// An answer's body; its end is noted when it is dropped.
struct Watched {
    inner: Body,
    phase: Phase,
    _kept: Option<Kept>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.phase.0.now.store(ANSWERED, Ordering::Release);
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
