//! A connection's stream: the client must read what it writes, and it counts until nothing of it is left.
//!
//! A client that sends a request and never reads the answer would hold a connection, a descriptor and the kernel's
//! memory for ever. So a write without progress for a while ends the connection; and a socket that is closed before the
//! client has read everything stays counted until it has, because the kernel keeps its bytes for just as long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::connections::ConnectionSlot;
use crate::{early_refusal, limits, sys};

/// How soon the send queue of a socket that is to be closed is looked at again, first and at most: the kernel tells
/// nobody that it has become empty.
const LOOK: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(100)];

/// A connection's stream.
#[derive(Debug)]
pub(crate) struct CountedStream {
    /// There until the stream is dropped; the slot is dropped after it, so that a slot is free when its descriptor is.
    line: Option<(TcpStream, ConnectionSlot)>,
    /// While nothing is taken of what is written: how long that may last.
    wait: Option<Wait>,
    stall: Duration,
}

/// The end of a wait for a peer that takes nothing.
#[derive(Debug)]
struct Wait {
    late: Pin<Box<Sleep>>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl CountedStream {
    pub(crate) fn new(stream: TcpStream, slot: ConnectionSlot, stall: Duration) -> Self {
        Self { line: Some((stream, slot)), wait: None, stall }
    }

    fn line(&mut self) -> io::Result<(&mut TcpStream, &ConnectionSlot)> {
        // Taken only by the drop.
        self.line.as_mut().map(|(stream, slot)| (stream, &*slot)).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// One try to write; what the peer does not take in time, or when others need the slot, ends the connection.
    fn attempt(
        &mut self,
        context: &mut Context<'_>,
        once: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let stall = self.stall;
        let Some((stream, slot)) = &mut self.line else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
        if let Poll::Ready(done) = once(Pin::new(stream), context) {
            slot.phase.taken(true);
            self.wait = None;
            return Poll::Ready(done);
        }
        slot.phase.taken(false);
        let close = slot.close.clone();
        let wait = self.wait.get_or_insert_with(|| Wait {
            late: Box::pin(tokio::time::sleep(stall)),
            closed: Box::pin(close.cancelled_owned()),
        });
        if wait.late.as_mut().poll(context).is_ready() || wait.closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")));
        }
        Poll::Pending
    }

    /// Writes our refusal in place of hyper's own. It has a few hundred bytes, which the kernel takes in one piece,
    /// or the peer has long stopped reading.
    fn refuse(&mut self, context: &mut Context<'_>, theirs: &[u8]) -> Poll<io::Result<usize>> {
        let refusal = early_refusal::refusal(theirs);
        let wrote = ready!(self.attempt(context, |stream, context| stream.poll_write(context, &refusal)))?;
        Poll::Ready(if wrote == refusal.len() { Ok(theirs.len()) } else { Err(io::ErrorKind::WriteZero.into()) })
    }

    fn is_idle(&self) -> bool {
        self.line.as_ref().is_some_and(|(_, slot)| slot.phase.is_idle())
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.line()?.0).poll_read(context, into)
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_idle() && !bytes.is_empty() {
            return self.refuse(context, bytes);
        }
        self.attempt(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // hyper's refusal is a head without a body: one piece.
        if self.is_idle()
            && let Some(theirs) = pieces.iter().find(|piece| !piece.is_empty())
        {
            return self.refuse(context, theirs);
        }
        self.attempt(context, |stream, context| stream.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.line.as_ref().is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (stream, slot) = self.line()?;
        slot.phase.flushed();
        Pin::new(stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.line()?.0).poll_shutdown(context)
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        let Some((stream, slot)) = self.line.take() else { return };
        if left(&stream) == 0 && !slot.phase.sending() {
            return;
        }
        // One that took nothing for too long, or gives way, is not waited for again.
        if self.wait.is_some() || slot.close.is_cancelled() {
            return cut(stream);
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(leave(stream, slot, self.stall))),
            Err(_) => cut(stream),
        }
    }
}

/// What the kernel still holds for the peer; nothing where the peer has ended the connection.
fn left(stream: &TcpStream) -> usize {
    if stream.peer_addr().is_err() { 0 } else { sys::unacknowledged(stream) }
}

/// Closes with a reset: the kernel forgets what it still holds for the peer.
fn cut(stream: TcpStream) {
    let _ = stream.set_zero_linger();
    drop(stream);
}

/// Closes when the peer has taken what was written, or after a while; reads on for a little where it still sends: a
/// client that writes would see a broken connection, not the refusal.
async fn leave(mut stream: TcpStream, slot: ConnectionSlot, stall: Duration) {
    slot.phase.taken(false);
    let _ = stream.shutdown().await;
    let end = Instant::now() + stall;
    let drained = Instant::now() + limits::DRAINED.min(stall);
    let (mut sends, mut room) = (slot.phase.sending(), limits::DRAINED_BYTES);
    let (mut block, mut pause) = ([0; 8 << 10], LOOK[0]);
    while Instant::now() < end {
        sends = sends && room > 0 && Instant::now() < drained;
        if !sends && left(&stream) == 0 {
            return;
        }
        tokio::select! {
            read = stream.read(&mut block), if sends => match read {
                Ok(count @ 1..) => room = room.saturating_sub(count),
                Ok(_) | Err(_) => sends = false,
            },
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LOOK[1]),
            () = slot.close.cancelled() => break,
        }
    }
    cut(stream);
}
