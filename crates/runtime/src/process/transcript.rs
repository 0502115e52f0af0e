//! What a process writes, kept for whoever follows it: the last part of it, byte for byte and in order.
//!
//! Who follows a process gets all of it: while somebody is behind, the process waits, as it would for a slow pipe. But
//! nobody may stop a process for ever: who takes nothing for a while is overtaken, and told how much was lost. Without
//! followers nothing waits, and the oldest bytes go first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_runtime_api::ProcessStream;
use tokio::sync::Notify;

/// The most that is kept of a running process.
const KEPT_BYTES: usize = 512 << 10;

/// What is kept of one that has ended, for who comes late.
const KEPT_AT_END_BYTES: usize = 64 << 10;

/// A follower that is so far behind makes the process wait. The rest is for what is in its pipes when it ends.
const FAR_BEHIND_BYTES: u64 = 256 << 10;

/// So long a process waits for a follower that takes nothing.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// The most that a follower is told at once.
const PIECE_BYTES: usize = 64 << 10;

/// The transcript of one process.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    tape: Mutex<Tape>,
    /// Something was written, or it is over.
    written: Notify,
    /// Somebody has taken something, or has gone.
    taken: Notify,
}

#[derive(Debug, Default)]
struct Tape {
    parts: VecDeque<Part>,
    kept_bytes: usize,
    /// How much was written in all.
    end: u64,
    is_over: bool,
    followers: HashMap<u64, Reader>,
    next_follower: u64,
}

#[derive(Debug)]
struct Part {
    stream: ProcessStream,
    /// Where it begins.
    begin: u64,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Reader {
    at: u64,
    /// It took nothing for too long: nobody waits for it until it has caught up.
    overtaken: bool,
}

/// A piece of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) stream: ProcessStream,
    pub(crate) bytes: Vec<u8>,
    /// Where it ends.
    pub(crate) end: u64,
    /// How many bytes before it are lost.
    pub(crate) dropped: u64,
}

impl Transcript {
    /// The process has written.
    pub(crate) fn push(&self, stream: ProcessStream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut tape = self.tape();
        let begin = tape.end;
        match tape.parts.back_mut() {
            Some(part) if part.stream == stream && part.bytes.len() < PIECE_BYTES => {
                part.bytes.extend_from_slice(bytes);
            }
            _ => tape.parts.push_back(Part { stream, begin, bytes: bytes.to_vec() }),
        }
        tape.kept_bytes += bytes.len();
        tape.end += bytes.len() as u64;
        tape.keep(KEPT_BYTES);
        drop(tape);
        self.written.notify_waiters();
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        let mut tape = self.tape();
        tape.is_over = true;
        if tape.followers.is_empty() {
            tape.keep(KEPT_AT_END_BYTES);
        }
        drop(tape);
        self.written.notify_waiters();
    }

    /// Whether somebody who is waited for is far behind.
    pub(crate) fn is_full(&self) -> bool {
        self.tape().is_full()
    }

    /// Waits until nobody is far behind, and not for ever: then those that take nothing are overtaken.
    pub(crate) async fn room(&self) {
        let before: u64 = self.tape().followers.values().map(|reader| reader.at).sum();
        let taken = self.taken.notified();
        if !self.is_full() {
            return;
        }
        if tokio::time::timeout(PATIENCE, taken).await.is_ok() {
            return;
        }
        let mut tape = self.tape();
        let now: u64 = tape.followers.values().map(|reader| reader.at).sum();
        if now == before {
            let end = tape.end;
            let far = |reader: &Reader| end.saturating_sub(reader.at) >= FAR_BEHIND_BYTES;
            tape.followers.values_mut().filter(|reader| far(reader)).for_each(|reader| reader.overtaken = true);
        }
    }

    /// Somebody who is told everything from a place on; `None`: from now on.
    pub(crate) fn follow(self: &Arc<Self>, from: Option<u64>) -> Follower {
        let mut tape = self.tape();
        let number = tape.next_follower;
        tape.next_follower += 1;
        let at = from.unwrap_or(tape.end).min(tape.end);
        tape.followers.insert(number, Reader { at, overtaken: false });
        drop(tape);
        Follower { transcript: Arc::clone(self), number }
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tape {
    fn keep(&mut self, most: usize) {
        while self.kept_bytes > most
            && let Some(oldest) = self.parts.pop_front()
        {
            self.kept_bytes -= oldest.bytes.len();
        }
    }

    fn is_full(&self) -> bool {
        let far = |reader: &Reader| !reader.overtaken && self.end.saturating_sub(reader.at) >= FAR_BEHIND_BYTES;
        self.followers.values().any(far)
    }

    /// What follows a place.
    fn after(&self, at: u64) -> Option<Piece> {
        let part = self.parts.iter().find(|part| part.begin + part.bytes.len() as u64 > at)?;
        let skipped = usize::try_from(at.saturating_sub(part.begin)).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = part.bytes.iter().skip(skipped).take(PIECE_BYTES).copied().collect();
        let begin = part.begin.max(at);
        Some(Piece { stream: part.stream, end: begin + bytes.len() as u64, dropped: begin - at, bytes })
    }
}

/// One who follows. Dropping it lets go of the process.
#[derive(Debug)]
pub(crate) struct Follower {
    transcript: Arc<Transcript>,
    number: u64,
}

impl Follower {
    /// The next piece; none: it is over. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Piece> {
        loop {
            let written = self.transcript.written.notified();
            tokio::pin!(written);
            // From here on no news is missed.
            written.as_mut().enable();
            {
                let mut tape = self.transcript.tape();
                let at = tape.followers.get(&self.number).map(|reader| reader.at)?;
                if let Some(piece) = tape.after(at) {
                    let caught_up = tape.end - piece.end < FAR_BEHIND_BYTES;
                    if let Some(reader) = tape.followers.get_mut(&self.number) {
                        reader.at = piece.end;
                        reader.overtaken &= !caught_up;
                    }
                    drop(tape);
                    self.transcript.taken.notify_one();
                    return Some(piece);
                }
                if tape.is_over {
                    return None;
                }
            }
            written.await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut tape = self.transcript.tape();
        tape.followers.remove(&self.number);
        if tape.is_over && tape.followers.is_empty() {
            tape.keep(KEPT_AT_END_BYTES);
        }
        drop(tape);
        self.transcript.taken.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_follows_gets_every_byte_in_order() {
        let transcript = Arc::new(Transcript::default());
        transcript.push(ProcessStream::Stdout, b"before");
        let (mut all, mut now) = (transcript.follow(Some(0)), transcript.follow(None));
        transcript.push(ProcessStream::Stderr, b"after");
        transcript.close();
        let piece = |stream, bytes: &[u8], end| Piece { stream, bytes: bytes.to_vec(), end, dropped: 0 };
        assert_eq!(all.next().await, Some(piece(ProcessStream::Stdout, b"before", 6)));
        assert_eq!(all.next().await, Some(piece(ProcessStream::Stderr, b"after", 11)));
        assert_eq!(all.next().await, None);
        assert_eq!(now.next().await, Some(piece(ProcessStream::Stderr, b"after", 11)));
    }

    #[tokio::test]
    async fn who_takes_nothing_is_waited_for_and_then_overtaken() {
        let transcript = Arc::new(Transcript::default());
        let mut slow = transcript.follow(None);
        let block = vec![b'x'; PIECE_BYTES];
        let mut written = 0;
        while !transcript.is_full() {
            transcript.push(ProcessStream::Stdout, &block);
            written += PIECE_BYTES as u64;
        }
        assert_eq!(written, FAR_BEHIND_BYTES);
        transcript.room().await;
        assert!(!transcript.is_full(), "it is not waited for any more");
        for _ in 0..16 {
            transcript.push(ProcessStream::Stdout, &block);
            written += PIECE_BYTES as u64;
        }
        let piece = slow.next().await.unwrap();
        assert_eq!(piece.dropped, written - KEPT_BYTES as u64);
        transcript.close();
        let mut told = piece.dropped + piece.bytes.len() as u64;
        while let Some(piece) = slow.next().await {
            assert_eq!(piece.dropped, 0);
            told += piece.bytes.len() as u64;
        }
        assert_eq!(told, written);
    }
}
