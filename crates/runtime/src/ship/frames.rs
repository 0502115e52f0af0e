//! Frames between Ship and a process of its own (the Python interpreter, the JavaScript room): four bytes of length, then
//! JSON.
//!
//! The other end belongs to guest code as soon as that code wants it. So every frame is hostile: its size is checked
//! before its bytes are kept, and what does not parse ends the process, not Ship.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// Twenty pictures of the largest size, as base64, would be more; nobody draws twenty of those.
const MAX_FRAME_BYTES: usize = 64 << 20;

/// Room for a handful of descriptors in one message.
const PASS_BYTES: usize = rustix::cmsg_space!(ScmRights(8));

/// Our end of the socket; its halves can be used apart.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

impl Frames {
    pub(super) fn new(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: Reader { half: reader, buffer: Vec::new() }, writer: Writer(writer) }
    }
}

#[derive(Debug)]
pub(super) struct Writer(OwnedWriteHalf);

impl Writer {
    pub(super) async fn send(&mut self, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len()).map_err(|_| io::Error::other("the code is too long"))?;
        self.0.write_all(&length.to_be_bytes()).await?;
        self.0.write_all(body).await
    }

    /// Sends a few bytes in one piece, and these descriptors with them.
    pub(super) async fn pass<const N: usize>(
        &mut self,
        word: &[u8],
        descriptors: [BorrowedFd<'_>; N],
    ) -> io::Result<()> {
        let stream = self.0.as_ref();
        let sent = stream.async_io(Interest::WRITABLE, || {
            let mut space = [MaybeUninit::uninit(); PASS_BYTES];
            let mut rights = SendAncillaryBuffer::new(&mut space);
            if !rights.push(SendAncillaryMessage::ScmRights(&descriptors)) {
                return Err(io::Error::other("too many descriptors to pass"));
            }
            Ok(sendmsg(stream, &[IoSlice::new(word)], &mut rights, SendFlags::NOSIGNAL)?)
        });
        sent.await.map(drop)
    }
}

#[derive(Debug)]
pub(super) struct Reader {
    half: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Reader {
    /// The next frame. May be dropped and called again: nothing is lost.
    pub(super) async fn receive<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        loop {
            if let Some((head, rest)) = self.buffer.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*head) as usize;
                if length > MAX_FRAME_BYTES {
                    return Err(io::Error::other("an answer is too large"));
                }
                if let Some(body) = rest.get(..length) {
                    let frame = serde_json::from_slice(body)?;
                    self.buffer.drain(..4 + length);
                    if self.buffer.is_empty() {
                        self.buffer.shrink_to(64 << 10);
                    }
                    return Ok(frame);
                }
            }
            self.half.readable().await?;
            match self.half.try_read_buf(&mut self.buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
