//! Frames: JSON texts, each ended by a zero byte.
//!
//! A frame that is too large is not kept: its first and last bytes are, which is enough to see whom it belongs to.
//! So a page that sends gigabytes costs the host one buffer, and the page its life.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The largest frame that is read. The largest honest one is a result of `max_result_chars` at its upper bound.
pub const MAX_FRAME_BYTES: usize = 160 << 20;

/// What is kept of either end of a frame that is too large.
const EDGE_BYTES: usize = 4096;

const CHUNK_BYTES: usize = 256 << 10;

/// One frame, or what is left of one.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// All of it, without the zero byte.
    Whole(Vec<u8>),
    /// Its first and last bytes; the middle was thrown away.
    TooLarge {
        /// The first bytes.
        head: Vec<u8>,
        /// The last bytes.
        tail: Vec<u8>,
    },
}

/// Reads frames from the browser.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: R,
    chunk: Vec<u8>,
    /// What of `chunk` is still to be taken.
    rest: std::ops::Range<usize>,
    max_bytes: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `source`; a frame longer than `max_bytes` is not kept.
    pub fn new(source: R, max_bytes: usize) -> Self {
        Self { source, chunk: vec![0; CHUNK_BYTES], rest: 0..0, max_bytes }
    }

    /// The next frame; `None` when the other side has closed the pipe.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        let mut frame = Vec::new();
        let mut cut: Option<Vec<u8>> = None;
        loop {
            if self.rest.is_empty() {
                let read = self.source.read(&mut self.chunk).await?;
                if read == 0 {
                    return Ok(None);
                }
                self.rest = 0..read;
            }
            let fresh = self.chunk.get(self.rest.clone()).unwrap_or_default();
            let (part, ended) = match fresh.iter().position(|byte| *byte == 0) {
                Some(at) => (fresh.get(..at).unwrap_or_default(), true),
                None => (fresh, false),
            };
            frame.extend_from_slice(part);
            self.rest.start += part.len() + usize::from(ended);
            if cut.is_none() && frame.len() > self.max_bytes {
                cut = Some(frame.iter().take(EDGE_BYTES).copied().collect());
                frame.shrink_to(CHUNK_BYTES);
            }
            if cut.is_some() && frame.len() > EDGE_BYTES {
                frame.drain(..frame.len() - EDGE_BYTES);
            }
            if ended {
                return Ok(Some(match cut {
                    None => Frame::Whole(frame),
                    Some(head) => Frame::TooLarge { head, tail: frame },
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_come_whole_and_giants_by_their_edges() {
        let giant: Vec<u8> = (0..300_000u32).map(|i| b'a' + u8::try_from(i % 26).unwrap()).collect();
        let mut bytes = b"{\"id\":1}\0\0".to_vec();
        bytes.extend_from_slice(&giant);
        bytes.extend_from_slice(b"\0last\0unfinished");
        let mut reader = FrameReader::new(bytes.as_slice(), 100_000);
        assert_eq!(reader.next().await.unwrap(), Some(Frame::Whole(b"{\"id\":1}".to_vec())));
        assert_eq!(reader.next().await.unwrap(), Some(Frame::Whole(Vec::new())));
        let Some(Frame::TooLarge { head, tail }) = reader.next().await.unwrap() else { panic!("the giant was kept") };
        assert_eq!((head.as_slice(), tail.as_slice()), (&giant[..EDGE_BYTES], &giant[giant.len() - EDGE_BYTES..]));
        assert_eq!(reader.next().await.unwrap(), Some(Frame::Whole(b"last".to_vec())));
        assert_eq!(reader.next().await.unwrap(), None);
    }
}
