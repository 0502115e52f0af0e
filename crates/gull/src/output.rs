//! What a process writes, kept within bounds: the beginning and the end, with a word about what lies between.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Kept of the beginning. A whole accessibility tree of a large page has a few hundred kilobytes.
const HEAD_BYTES: usize = 1 << 20;

/// Kept of the end, where errors are.
const TAIL_BYTES: usize = 64 << 10;

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    lost: usize,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
        self.lost += over;
    }

    fn text(&mut self) -> String {
        let mut bytes = std::mem::take(&mut self.head);
        if self.lost > 0 {
            bytes.extend_from_slice(format!("\n… {} bytes left out …\n", self.lost).as_bytes());
        }
        bytes.extend(self.tail.drain(..));
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// One pipe that is being read.
pub(crate) struct Capture {
    kept: Arc<Mutex<Kept>>,
    reading: Option<JoinHandle<()>>,
}

impl Capture {
    pub(crate) fn start(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let reading = pipe.map(|mut pipe| {
            let kept = kept.clone();
            tokio::spawn(async move {
                let mut chunk = vec![0; 32 << 10];
                while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
                    let fresh = chunk.get(..read).unwrap_or_default();
                    kept.lock().unwrap_or_else(PoisonError::into_inner).add(fresh);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        let mut kept = Kept::default();
        kept.add(b"begin");
        for _ in 0..40 {
            kept.add(&[b'x'; 64 << 10]);
        }
        kept.add(b"end");
        let text = kept.text();
        assert!(
            text.starts_with("beginx") && text.ends_with("xend") && text.contains("bytes left out"),
            "{}",
            text.len()
        );
        assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 100);
        let mut short = Kept::default();
        short.add("kürz".as_bytes());
        assert_eq!(short.text(), "kürz");
    }
}
