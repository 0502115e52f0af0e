//! What a program writes, told while it runs, for whoever asked for that.
//!
//! Whole lines where there are any, a few times a second, and only so much: the answer at the end has the rest. Whoever
//! writes never waits for whoever reads; what is not fetched in time is counted and left out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_runtime_api::{OutputChunk, OutputStream};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Lines of this time are told together.
const REST: Duration = Duration::from_millis(30);

/// The begin of a line is told without its end after this time: a prompt, a bar that moves.
const PART_OF_A_LINE: Duration = Duration::from_millis(200);

/// The most that waits to be told. What is written beyond it is left out.
const MAX_WAITING_BYTES: usize = 64 << 10;

/// The most that is told of one run.
const MAX_TOLD_BYTES: usize = 4 << 20;

/// Where the pipes put what they read, and the stream takes it from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    written: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which it was read; neighbours are of different streams.
    waiting: Vec<Part>,
    told_bytes: usize,
    dropped: u64,
}

#[derive(Debug)]
struct Part {
    stream: OutputStream,
    bytes: Vec<u8>,
    since: Instant,
}

impl Live {
    /// A program has written.
    pub(super) fn push(&self, stream: OutputStream, bytes: &[u8]) {
        let mut state = self.state();
        let waiting: usize = state.waiting.iter().map(|part| part.bytes.len()).sum();
        let room = MAX_WAITING_BYTES.min(MAX_TOLD_BYTES - state.told_bytes).saturating_sub(waiting);
        let (taken, left) = bytes.split_at(room.min(bytes.len()));
        state.dropped += left.len() as u64;
        match state.waiting.last_mut() {
            Some(part) if part.stream == stream => part.bytes.extend_from_slice(taken),
            _ if taken.is_empty() => {}
            _ => state.waiting.push(Part { stream, bytes: taken.to_vec(), since: Instant::now() }),
        }
        drop(state);
        self.0.written.notify_one();
    }

    /// Waits for something to tell. May be dropped and called again.
    pub(crate) async fn next(&self) -> Vec<OutputChunk> {
        loop {
            let last_look = self.state().waiting.first().map(|part| part.since + PART_OF_A_LINE);
            match last_look {
                None => self.0.written.notified().await,
                Some(at) => {
                    let _ = tokio::time::timeout_at(at, self.0.written.notified()).await;
                }
            }
            tokio::time::sleep(REST).await;
            let chunks = self.take(false);
            if !chunks.is_empty() {
                return chunks;
            }
        }
    }

    /// Takes what can be told; at the end everything.
    pub(crate) fn take(&self, is_end: bool) -> Vec<OutputChunk> {
        let mut state = self.state();
        let now = Instant::now();
        let (mut chunks, mut kept) = (Vec::new(), Vec::new());
        for mut part in std::mem::take(&mut state.waiting) {
            let whole = is_end || now >= part.since + PART_OF_A_LINE;
            let end = match whole {
                true => part.bytes.len() - if is_end { 0 } else { half_character(&part.bytes) },
                false => part.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
            };
            let rest = part.bytes.split_off(end);
            if !part.bytes.is_empty() {
                state.told_bytes += part.bytes.len();
                let text = String::from_utf8_lossy(&part.bytes).into_owned();
                chunks.push(OutputChunk { stream: part.stream, text, dropped: 0 });
            }
            if !rest.is_empty() {
                kept.push(Part { bytes: rest, ..part });
            }
        }
        state.waiting = kept;
        // Told with the next text, or with none at the end.
        if state.dropped > 0 && (is_end || !chunks.is_empty()) {
            let dropped = std::mem::take(&mut state.dropped);
            match chunks.last_mut() {
                Some(chunk) => chunk.dropped = dropped,
                None => chunks.push(OutputChunk { stream: OutputStream::Stdout, text: String::new(), dropped }),
            }
        }
        chunks
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many bytes at the end are the begin of a character whose rest has not come yet.
fn half_character(bytes: &[u8]) -> usize {
    match std::str::from_utf8(&bytes[bytes.len().saturating_sub(4)..]) {
        Err(error) if error.error_len().is_none() => bytes.len().min(4) - error.valid_up_to(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(chunks: &[OutputChunk]) -> Vec<(OutputStream, &str)> {
        chunks.iter().map(|chunk| (chunk.stream, chunk.text.as_str())).collect()
    }

    #[tokio::test]
    async fn whole_lines_first_and_the_rest_when_it_has_waited() {
        use OutputStream::{Stderr, Stdout};
        let live = Live::default();
        live.push(Stdout, b"one\ntw");
        live.push(Stderr, b"no\n");
        assert_eq!(texts(&live.next().await), [(Stdout, "one\n"), (Stderr, "no\n")]);
        live.push(Stdout, "o: ä".as_bytes().split_last().unwrap().1);
        assert_eq!(texts(&live.next().await), [(Stdout, "two: ")], "half a character waits for its other half");
        live.push(Stdout, &"ä".as_bytes()[1..]);
        assert_eq!(texts(&live.take(true)), [(Stdout, "ä")]);
        assert!(live.take(true).is_empty());
    }

    #[tokio::test]
    async fn nobody_is_waited_for_and_what_is_left_out_is_counted() {
        let live = Live::default();
        let block = vec![b'x'; MAX_WAITING_BYTES];
        live.push(OutputStream::Stdout, &block);
        live.push(OutputStream::Stdout, b"12345");
        live.push(OutputStream::Stderr, b"6");
        let chunks = live.take(true);
        assert_eq!((chunks.len(), chunks[0].text.len(), chunks[0].dropped), (1, MAX_WAITING_BYTES, 6));
        for _ in 1..MAX_TOLD_BYTES / MAX_WAITING_BYTES {
            live.push(OutputStream::Stdout, &block);
            assert_eq!(live.take(true)[0].dropped, 0);
        }
        live.push(OutputStream::Stdout, b"too much");
        let last = live.take(true);
        assert_eq!((last.len(), last[0].text.as_str(), last[0].dropped), (1, "", 8));
    }
}
