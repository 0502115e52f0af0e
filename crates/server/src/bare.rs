//! Heads that never become a request: malformed ones, too long ones.
//!
//! hyper refuses them itself, below every layer, with a bare status. What it writes while no request is being answered
//! can only be such a refusal; here it is replaced by one with the shape of every other error, with a request's id.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;
use bytes::{Buf as _, Bytes};
use cove_api::{BayError, ErrorCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::envelope::new_request_id;
use crate::figures;

/// Nothing is being answered, and nothing of an answer is left to be written.
const IDLE: u8 = 0;
/// A request is being worked on, or its answer is being written.
const ANSWERING: u8 = 1;
/// The whole answer has been handed over; some of it may still have to be written.
const ANSWERED: u8 = 2;

/// What one connection does at the moment; shared by its stream and its service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phase(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: AtomicU8,
    /// How many connections had come to their rest when this one last did: the lowest number rests longest.
    rested: AtomicU64,
}

/// Counts rests.
static RESTS: AtomicU64 = AtomicU64::new(1);

impl Phase {
    /// A connection from which nothing has come yet.
    pub(crate) fn new() -> Self {
        let phase = Self::default();
        phase.0.rested.store(RESTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        phase
    }

    /// A request has come.
    pub(crate) fn begin(&self) {
        self.0.now.store(ANSWERING, Ordering::Release);
    }

    /// While nothing is being answered: since when, as a number that grows.
    pub(crate) fn resting_since(&self) -> Option<u64> {
        (self.0.now.load(Ordering::Acquire) == IDLE).then(|| self.0.rested.load(Ordering::Relaxed))
    }

    /// Watches its answer until the last of it has been handed over.
    pub(crate) fn watch(&self, response: Response) -> Response {
        // What is another protocol from here on is nothing that hyper writes.
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return response;
        }
        let phase = self.clone();
        response.map(|inner| Body::new(Watched { inner, phase }))
    }
}

/// An answer's body; its end is noted when it is dropped.
struct Watched {
    inner: Body,
    phase: Phase,
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
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.inner.size_hint()
    }
}

/// A connection's stream.
#[derive(Debug)]
pub(crate) struct Spoken {
    stream: TcpStream,
    phase: Phase,
    /// Our refusal in the place of a bare one: what is left of it to be written.
    instead: Option<Bytes>,
}

impl Spoken {
    pub(crate) fn new(stream: TcpStream, phase: Phase) -> Self {
        Self { stream, phase, instead: None }
    }

    /// Writes our refusal; done, it says that what hyper wanted to write was written.
    fn refuse(&mut self, context: &mut Context<'_>, bare: &[u8]) -> Poll<io::Result<usize>> {
        let rest = self.instead.get_or_insert_with(|| refusal(bare));
        while rest.has_remaining() {
            let wrote = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            rest.advance(wrote);
        }
        Poll::Ready(Ok(bare.len()))
    }

    fn is_idle(&self) -> bool {
        self.phase.0.now.load(Ordering::Acquire) == IDLE
    }
}

/// The whole answer, by the status of the bare one.
fn refusal(bare: &[u8]) -> Bytes {
    let status = bare.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u16>().ok());
    let (status, reason, message) = match status {
        Some(431) => (431, "Request Header Fields Too Large", "the request's head is too large"),
        Some(414) => (414, "URI Too Long", "the request's address is too long"),
        _ => (400, "Bad Request", "this is no HTTP request that could be read"),
    };
    let id = new_request_id();
    figures::error(ErrorCode::ValidationError);
    tracing::info!(id, status, "refused: {message}");
    // A body of strings always serialises.
    let body = serde_json::to_string(&BayError::new(ErrorCode::ValidationError, message).body(&id)).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {id}\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Bytes::from(head + &body)
}

impl AsyncRead for Spoken {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Spoken {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_idle() && !bytes.is_empty() {
            return self.refuse(context, bytes);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_idle() && pieces.iter().any(|piece| !piece.is_empty()) {
            let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
            return self.refuse(context, &whole);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes when it has written all that it had: an answer that was handed over whole is out now.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let inner = &self.phase.0;
        if inner.now.compare_exchange(ANSWERED, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            inner.rested.store(RESTS.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
