//! Frames between Ship and a process of its own (the Python interpreter, the JavaScript host): four bytes of length, then
//! JSON. Also how such a process is started, and its first frame.
//!
//! The other end belongs to guest code as soon as that code wants it. So every frame is hostile: its size is checked
//! before its bytes are kept, and what does not parse ends the process, not Ship.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use cove_walls::spawn::{StandardStreams, Start, no_input};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::fs::workspace::GuestFiles;
use crate::process::{Capture, Program};

/// For a start, and again for the first frame: a cold disk and a loaded machine. Usually 40 ms.
const START_LIMIT: Duration = Duration::from_secs(20);

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
    /// A socket: our end, and the one that a process gets.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        Ok((Self::new(ours), OwnedFd::from(theirs)))
    }

    /// The other end, in the process that was started.
    pub(super) fn new(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: Reader { half: reader, buffer: Vec::new() }, writer: Writer(writer) }
    }
}

/// How a process that speaks in frames is started.
pub(super) struct FramedStart<'a> {
    pub(super) program: String,
    /// The arguments before the number of its end of the socket, and those after it.
    pub(super) args: [Vec<String>; 2],
    pub(super) env: Vec<(String, String)>,
    pub(super) workspace: &'a GuestFiles,
    pub(super) processes: Option<u64>,
    /// Kept of each of its two outputs.
    pub(super) output_bytes: [usize; 2],
}

/// A process that speaks in frames.
pub(super) struct FramedProcess {
    pub(super) program: Program,
    pub(super) frames: Frames,
    pub(super) out: Capture,
    pub(super) err: Capture,
}

impl FramedProcess {
    /// Starts it in the workspace, by a method of the family.
    pub(super) async fn start<F: Future<Output = io::Result<Program>>>(
        wanted: FramedStart<'_>,
        start: impl FnOnce(Start) -> F,
    ) -> io::Result<Self> {
        let (frames, theirs) = Frames::pair()?;
        let (out, output) = Capture::open(wanted.output_bytes[0])?;
        let (err, error) = Capture::open(wanted.output_bytes[1])?;
        let root = wanted.workspace.root();
        let [mut args, after] = wanted.args;
        args.push(theirs.as_fd().as_raw_fd().to_string());
        args.extend(after);
        let starting = start(Start {
            program: wanted.program,
            args,
            env: wanted.env,
            cwd: root.map_err(|error| io::Error::other(error.to_string()))?,
            streams: StandardStreams { input: no_input()?, output, error },
            terminal: false,
            inherit: Some(theirs),
            processes: wanted.processes,
        });
        let program = tokio::time::timeout(START_LIMIT, starting).await.map_err(|_| late())??;
        Ok(Self { program, frames, out, err })
    }

    /// Its first frame, after it was sent what it waits for.
    pub(super) async fn first<T: DeserializeOwned>(&mut self, sent: Option<&[u8]>) -> io::Result<T> {
        let greeting = async {
            if let Some(body) = sent {
                self.frames.writer.send(body).await?;
            }
            self.frames.reader.receive().await
        };
        match tokio::time::timeout(START_LIMIT, greeting).await {
            Ok(Ok(first)) => Ok(first),
            Ok(Err(error)) => Err(self.failure(&error.to_string())),
            Err(_) => Err(late()),
        }
    }

    /// Why it did not begin: what kept it from its program, or a reason and what it wrote.
    pub(super) fn failure(&mut self, reason: &str) -> io::Error {
        self.err.drain();
        match self.program.trouble() {
            Some(trouble) => trouble,
            None => io::Error::other(format!("{reason}; it said: {}", self.err.kept.text().trim())),
        }
    }
}

fn late() -> io::Error {
    io::Error::other(format!("no response within {START_LIMIT:?}"))
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
