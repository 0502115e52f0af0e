//! What happens in a sandbox, as it happens.
//!
//! Each sandbox has a bounded ring of its last events, in the memory of the Bay that its session lives in. A reader keeps
//! a number, not a place in a queue: one that is slow or was away reads on from the ring, and is told with a `gap` when
//! the ring has moved past it. So nobody who does not read can hold up a run or fill the memory.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::{Event, EventKind, Moment};
use futures_util::Stream;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::{Answer, Bay, Owner};

/// Events of one sandbox; ends with the sandbox or with Bay.
pub type EventStream = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// Events that are kept for a reader who comes back.
const KEPT_EVENTS: usize = 1_000;

/// What they may weigh together: a thousand console lines may be long ones.
const KEPT_BYTES: usize = 1 << 20;

/// What an event weighs beside its strings.
const EVENT_BYTES: usize = 64;

impl Bay {
    /// Events after number `after` (`None`: from now on).
    pub async fn events(&self, owner: &Owner, id: &str, after: Option<u64>) -> Answer<EventStream> {
        let row = self.alive_row(owner, id).await?;
        self.settle(&row).await?;
        Ok(self.inner.events.read(id, after))
    }

    /// Something happened.
    pub(crate) fn emit(&self, sandbox_id: &str, kind: EventKind, data: Map<String, Value>) {
        self.inner.events.emit(sandbox_id, kind, data);
    }
}

/// The rings of all sandboxes.
#[derive(Debug, Default)]
pub(crate) struct Events {
    rings: Mutex<HashMap<String, Arc<Ring>>>,
}

impl Events {
    /// Notes an event and wakes the readers. What merely belongs to a run opens no ring: a run's last words after its
    /// sandbox was deleted would keep it for ever.
    pub(crate) fn emit(&self, sandbox_id: &str, kind: EventKind, data: Map<String, Value>) {
        let ring = match kind {
            EventKind::State | EventKind::RunStarted => Some(self.ring(sandbox_id)),
            _ => self.rings().get(sandbox_id).cloned(),
        };
        if let Some(ring) = ring {
            ring.push(kind, data);
        }
    }

    /// A reader.
    pub(crate) fn read(&self, sandbox_id: &str, after: Option<u64>) -> EventStream {
        let ring = self.ring(sandbox_id);
        let bell = ring.bell.subscribe();
        let at = match after {
            Some(after) => after,
            None => ring.kept().next.saturating_sub(1),
        };
        let reader = Reader { ring, bell, at, batch: VecDeque::new() };
        Box::pin(futures_util::stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        }))
    }

    /// The sandbox is gone: its readers get what is left, and then the end.
    pub(crate) fn end(&self, sandbox_id: &str) {
        let ring = self.rings().remove(sandbox_id);
        if let Some(ring) = ring {
            ring.end();
        }
    }

    /// Bay closes: all readers come to their end.
    pub(crate) fn end_all(&self) {
        let rings: Vec<_> = self.rings().drain().map(|(_, ring)| ring).collect();
        rings.iter().for_each(|ring| ring.end());
    }

    fn ring(&self, sandbox_id: &str) -> Arc<Ring> {
        Arc::clone(self.rings().entry(sandbox_id.to_owned()).or_default())
    }

    fn rings(&self) -> MutexGuard<'_, HashMap<String, Arc<Ring>>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last events of one sandbox.
#[derive(Debug)]
struct Ring {
    kept: Mutex<Kept>,
    /// Rung with every event; carries nothing.
    bell: watch::Sender<()>,
}

#[derive(Debug)]
struct Kept {
    events: VecDeque<(usize, Event)>,
    bytes: usize,
    next: u64,
    dropped: bool,
    ended: bool,
}

impl Default for Ring {
    /// Numbers begin at the clock's microseconds: after a restart of Bay they go on above all that were given out before,
    /// so that a reader who resumes never takes a new event for one that it has seen.
    fn default() -> Self {
        let next = u64::try_from(Moment::now().micros()).unwrap_or(1);
        let kept = Kept { events: VecDeque::new(), bytes: 0, next, dropped: false, ended: false };
        Self { kept: Mutex::new(kept), bell: watch::Sender::new(()) }
    }
}

impl Ring {
    fn push(&self, kind: EventKind, data: Map<String, Value>) {
        let bytes = EVENT_BYTES + data.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>();
        {
            let mut kept = self.kept();
            let seq = kept.next;
            kept.next += 1;
            kept.bytes += bytes;
            kept.events.push_back((bytes, Event { seq, kind, at: Moment::now(), data }));
            // The newest stays, whatever it weighs: somebody may be waiting for it.
            while kept.events.len() > 1 && (kept.events.len() > KEPT_EVENTS || kept.bytes > KEPT_BYTES) {
                let gone = kept.events.pop_front().map_or(0, |(bytes, _)| bytes);
                kept.bytes = kept.bytes.saturating_sub(gone);
                kept.dropped = true;
            }
        }
        self.bell.send_replace(());
    }

    fn end(&self) {
        self.kept().ended = true;
        self.bell.send_replace(());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a value's strings; the rest is small.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| 8 + weight(item)).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
        _ => 8,
    }
}

/// One reader: the number of the last event that it has.
struct Reader {
    ring: Arc<Ring>,
    bell: watch::Receiver<()>,
    at: u64,
    batch: VecDeque<Event>,
}

impl Reader {
    /// At most so many are copied out at once.
    const BATCH: usize = 64;

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.batch.pop_front() {
                self.at = event.seq;
                return Some(event);
            }
            // Seen before the look, so that what comes after the look rings again.
            self.bell.borrow_and_update();
            if self.look() {
                return None;
            }
            if self.batch.is_empty() {
                self.bell.changed().await.ok()?;
            }
        }
    }

    /// Takes what is new; `true` when nothing is and nothing will be.
    fn look(&mut self) -> bool {
        let kept = self.ring.kept();
        let oldest = kept.events.front().map_or(kept.next, |(_, event)| event.seq);
        // Nought is no event's number: it asks for all that there is.
        if self.at == 0 && !kept.dropped {
            self.at = oldest - 1;
        }
        // A number from the future is one of another Bay's: what this reader has missed, nobody knows.
        if self.at + 1 < oldest || self.at >= kept.next {
            let data = [("after".to_owned(), self.at.into())].into_iter().collect();
            self.batch.push_back(Event { seq: oldest - 1, kind: EventKind::Gap, at: Moment::now(), data });
            return false;
        }
        let skip = usize::try_from(self.at + 1 - oldest).unwrap_or(usize::MAX);
        self.batch.extend(kept.events.iter().skip(skip).take(Self::BATCH).map(|(_, event)| event.clone()));
        self.batch.is_empty() && kept.ended
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;

    fn line(text: &str) -> Map<String, Value> {
        [("text".to_owned(), text.into())].into_iter().collect()
    }

    async fn texts(stream: EventStream) -> Vec<String> {
        stream
            .map(|event| match event.kind {
                EventKind::Gap => "gap".to_owned(),
                _ => event.data["text"].as_str().unwrap_or_default().to_owned(),
            })
            .collect()
            .await
    }

    #[tokio::test]
    async fn a_reader_resumes_where_it_was() {
        let events = Events::default();
        events.emit("s", EventKind::RunStarted, line("a"));
        let mut first = events.read("s", Some(0));
        let a = first.next().await.unwrap();
        events.emit("s", EventKind::Console, line("b"));
        events.emit("s", EventKind::Console, line("c"));
        let (b, again) = (first.next().await.unwrap(), events.read("s", Some(a.seq)));
        assert_eq!(b.seq, a.seq + 1);
        let from_now = events.read("s", None);
        events.emit("s", EventKind::RunFinished, line("d"));
        let from_the_future = events.read("s", Some(b.seq + 100));
        events.end("s");
        assert_eq!(texts(first).await, ["c", "d"]);
        assert_eq!(texts(again).await, ["b", "c", "d"]);
        assert_eq!(texts(from_now).await, ["d"]);
        assert_eq!(texts(from_the_future).await, ["gap", "a", "b", "c", "d"]);
    }

    #[tokio::test]
    async fn who_was_away_too_long_is_told() {
        let events = Events::default();
        events.emit("s", EventKind::RunStarted, line("first"));
        let slow = events.read("s", None);
        for n in 0..KEPT_EVENTS + 5 {
            events.emit("s", EventKind::Console, line(&n.to_string()));
        }
        events.end("s");
        let heard = texts(slow).await;
        assert_eq!((heard[0].as_str(), heard[1].as_str(), heard.len()), ("gap", "5", KEPT_EVENTS + 1));
    }

    #[tokio::test]
    async fn weight_counts_too_and_late_words_open_nothing() {
        let events = Events::default();
        events.emit("s", EventKind::Console, line("nobody"));
        assert!(events.rings().is_empty());
        events.emit("s", EventKind::State, line(""));
        for _ in 0..3 {
            events.emit("s", EventKind::Console, line(&"x".repeat(KEPT_BYTES)));
        }
        let ring = events.ring("s");
        assert_eq!(ring.kept().events.len(), 1);
        events.end_all();
        assert!(ring.kept().ended && events.rings().is_empty());
    }
}
