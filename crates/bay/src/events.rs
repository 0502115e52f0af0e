//! Events of a sandbox, as they happen.
//!
//! Each sandbox has a bounded ring of its last events, in the memory of the Bay that its session lives in. A reader
//! keeps a number, not a position in a queue: one that is slow or was disconnected continues from the ring, and gets a
//! `gap` event if the ring has moved past it. So a reader that does not read can neither delay a run nor fill the
//! memory.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::SandboxId;
use cove_api::{Event, EventKind, Moment};
use futures_util::Stream;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::{Bay, BayResult, Owner};

/// Events of one sandbox; ends with the sandbox or with Bay.
pub type EventStream = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// Events that are kept for a reader who comes back.
const KEPT_EVENTS: usize = 1_000;

/// What they may weigh together: a thousand console lines may be long ones.
const KEPT_BYTES: usize = 1 << 20;

/// What the events of all sandboxes may weigh together. Beyond it the rings that hold more than an equal share of half of
/// it give up their older ones, and the others nothing: a sandbox that talks much takes no room from one that talks little,
/// and Bay's memory does not grow with the number of sandboxes that once ran something.
const ALL_BYTES: usize = 16 << 20;

/// What an event weighs beside its text.
const EVENT_BYTES: usize = 96;

impl Bay {
    /// Events after number `after` (`None`: from now on).
    pub async fn events(&self, owner: &Owner, id: &SandboxId, after: Option<u64>) -> BayResult<EventStream> {
        let row = self.alive_row(owner, id).await?;
        self.settle(&row).await?;
        let events = self.inner.events.read(id, after);
        self.watch_ports(id);
        Ok(events)
    }

    /// Something happened.
    pub(crate) fn emit(&self, sandbox_id: &SandboxId, kind: EventKind, data: &Map<String, Value>) {
        self.inner.events.emit(sandbox_id, kind, data);
    }
}

/// The rings of all sandboxes.
#[derive(Debug, Default)]
pub(crate) struct Events {
    rings: Mutex<HashMap<SandboxId, Arc<Ring>>>,
    /// What all of them weigh.
    bytes: Arc<AtomicUsize>,
}

impl Events {
    /// Notes an event and wakes the readers. What merely belongs to a run opens no ring: a run's last words after its
    /// sandbox was deleted would keep it for ever.
    pub(crate) fn emit(&self, sandbox_id: &SandboxId, kind: EventKind, data: &Map<String, Value>) {
        let ring = match kind {
            EventKind::State | EventKind::RunStarted => Some(self.ring(sandbox_id)),
            _ => self.rings().get(sandbox_id).cloned(),
        };
        let Some(ring) = ring else { return };
        ring.push(kind, data);
        if self.bytes.load(Ordering::Relaxed) > ALL_BYTES {
            let rings: Vec<_> = self.rings().values().cloned().collect();
            let share = ALL_BYTES / 2 / rings.len().max(1);
            rings.iter().for_each(|ring| ring.shrink(share));
        }
    }

    /// A reader.
    pub(crate) fn read(&self, sandbox_id: &SandboxId, after: Option<u64>) -> EventStream {
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

    /// Whether somebody follows this sandbox.
    pub(crate) fn are_read(&self, sandbox_id: &SandboxId) -> bool {
        self.rings().get(sandbox_id).is_some_and(|ring| ring.bell.receiver_count() > 0)
    }

    /// The sandbox is gone: its readers get what is left, and then the end.
    pub(crate) fn end(&self, sandbox_id: &SandboxId) {
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

    fn ring(&self, sandbox_id: &SandboxId) -> Arc<Ring> {
        let new = || Arc::new(Ring::new(Arc::clone(&self.bytes)));
        Arc::clone(self.rings().entry(sandbox_id.clone()).or_insert_with(new))
    }

    fn rings(&self) -> MutexGuard<'_, HashMap<SandboxId, Arc<Ring>>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last events of one sandbox.
#[derive(Debug)]
struct Ring {
    kept: Mutex<Kept>,
    /// Rung with every event; carries nothing.
    bell: watch::Sender<()>,
    /// What all rings weigh.
    all: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Kept {
    events: VecDeque<StoredEvent>,
    bytes: usize,
    next: u64,
    dropped: bool,
    ended: bool,
}

/// An event as it is kept: its data as text, a quarter of what a tree of them weighs.
#[derive(Debug)]
struct StoredEvent {
    seq: u64,
    kind: EventKind,
    at: Moment,
    data: Box<str>,
}

impl StoredEvent {
    fn bytes(&self) -> usize {
        EVENT_BYTES + self.data.len()
    }

    fn event(&self) -> Event {
        // It was written from such a map.
        let data = serde_json::from_str(&self.data).unwrap_or_default();
        Event { seq: self.seq, kind: self.kind, at: self.at, data }
    }
}

impl Ring {
    /// Numbers begin at the clock's microseconds: after a restart of Bay they go on above all that were given out before,
    /// so that a reader who resumes never takes a new event for one that it has seen.
    fn new(all: Arc<AtomicUsize>) -> Self {
        let next = u64::try_from(Moment::now().micros()).unwrap_or(1);
        let kept = Kept { events: VecDeque::new(), bytes: 0, next, dropped: false, ended: false };
        Self { kept: Mutex::new(kept), bell: watch::Sender::new(()), all }
    }

    fn push(&self, kind: EventKind, data: &Map<String, Value>) {
        // Strings and JSON values always serialise.
        let data = serde_json::to_string(data).unwrap_or_default().into_boxed_str();
        {
            let mut kept = self.kept();
            let told = StoredEvent { seq: kept.next, kind, at: Moment::now(), data };
            kept.next += 1;
            kept.bytes += told.bytes();
            self.all.fetch_add(told.bytes(), Ordering::Relaxed);
            kept.events.push_back(told);
            self.trim(&mut kept, KEPT_EVENTS, KEPT_BYTES);
        }
        self.bell.send_replace(());
    }

    /// Gives up the older events beyond a share.
    fn shrink(&self, share: usize) {
        let mut kept = self.kept();
        if kept.bytes > share {
            self.trim(&mut kept, KEPT_EVENTS, share);
            kept.events.shrink_to_fit();
        }
    }

    /// Drops the oldest until no more are there; the newest stays, whatever it weighs: somebody may be waiting for it.
    fn trim(&self, kept: &mut Kept, events: usize, bytes: usize) {
        while kept.events.len() > 1 && (kept.events.len() > events || kept.bytes > bytes) {
            let gone = kept.events.pop_front().map_or(0, |told| told.bytes());
            kept.bytes -= gone;
            self.all.fetch_sub(gone, Ordering::Relaxed);
            kept.dropped = true;
        }
    }

    fn end(&self) {
        self.kept().ended = true;
        self.bell.send_replace(());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let bytes = self.kept().bytes;
        self.all.fetch_sub(bytes, Ordering::Relaxed);
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
        let oldest = kept.events.front().map_or(kept.next, |told| told.seq);
        // Nought is no event's number: it asks for all that there is.
        if self.at == 0 && !kept.dropped {
            self.at = oldest - 1;
        }
        // A number from the future is one of another Bay's: what this reader has missed, nobody knows.
        if self.at + 1 < oldest || self.at >= kept.next {
            let missed = (self.at > 0 && self.at + 1 < oldest).then(|| oldest - 1 - self.at);
            let data = [("after".to_owned(), self.at.into()), ("missed".to_owned(), missed.into())];
            let data = data.into_iter().collect();
            self.batch.push_back(Event { seq: oldest - 1, kind: EventKind::Gap, at: Moment::now(), data });
            return false;
        }
        let skip = usize::try_from(self.at + 1 - oldest).unwrap_or(usize::MAX);
        self.batch.extend(kept.events.iter().skip(skip).take(Self::BATCH).map(StoredEvent::event));
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

    fn id(number: u32) -> SandboxId {
        format!("sandbox-{number:012x}").parse().unwrap()
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
        events.emit(&id(0), EventKind::RunStarted, &line("a"));
        let mut first = events.read(&id(0), Some(0));
        let a = first.next().await.unwrap();
        events.emit(&id(0), EventKind::Console, &line("b"));
        events.emit(&id(0), EventKind::Console, &line("c"));
        let (b, again) = (first.next().await.unwrap(), events.read(&id(0), Some(a.seq)));
        assert_eq!(b.seq, a.seq + 1);
        let from_now = events.read(&id(0), None);
        events.emit(&id(0), EventKind::RunFinished, &line("d"));
        let from_the_future = events.read(&id(0), Some(b.seq + 100));
        events.end(&id(0));
        assert_eq!(texts(first).await, ["c", "d"]);
        assert_eq!(texts(again).await, ["b", "c", "d"]);
        assert_eq!(texts(from_now).await, ["d"]);
        assert_eq!(texts(from_the_future).await, ["gap", "a", "b", "c", "d"]);
    }

    #[tokio::test]
    async fn who_was_away_too_long_is_told() {
        let events = Events::default();
        events.emit(&id(0), EventKind::RunStarted, &line("first"));
        let slow = events.read(&id(0), None);
        for n in 0..KEPT_EVENTS + 5 {
            events.emit(&id(0), EventKind::Console, &line(&n.to_string()));
        }
        events.end(&id(0));
        let heard = texts(slow).await;
        assert_eq!((heard[0].as_str(), heard[1].as_str(), heard.len()), ("gap", "5", KEPT_EVENTS + 1));
    }

    #[tokio::test]
    async fn weight_counts_too_and_late_words_open_nothing() {
        let events = Events::default();
        events.emit(&id(0), EventKind::Console, &line("nobody"));
        assert!(events.rings().is_empty());
        events.emit(&id(0), EventKind::State, &line(""));
        for _ in 0..3 {
            events.emit(&id(0), EventKind::Console, &line(&"x".repeat(KEPT_BYTES)));
        }
        let ring = events.ring(&id(0));
        assert_eq!(ring.kept().events.len(), 1);
        events.end_all();
        assert!(ring.kept().ended && events.rings().is_empty());
        drop(ring);
        assert_eq!(events.bytes.load(Ordering::Relaxed), 0);
    }

    /// One who talks for all takes nothing from one who says little.
    #[tokio::test]
    async fn who_says_little_keeps_it() {
        let events = Events::default();
        for n in 0..10 {
            events.emit(&id(0), EventKind::RunStarted, &line(&n.to_string()));
        }
        let text = "x".repeat(50_000);
        for n in 0..2_000 {
            events.emit(&id(1 + n % 50), EventKind::RunStarted, &line(&text));
        }
        assert!(events.bytes.load(Ordering::Relaxed) <= ALL_BYTES);
        let reader = events.read(&id(0), Some(0));
        events.end_all();
        assert_eq!(texts(reader).await.len(), 10);
    }

    /// However many sandboxes say something, all of it weighs so much and no more; each keeps its newest.
    #[tokio::test]
    async fn many_sandboxes_weigh_no_more_than_all_may() {
        let events = Events::default();
        let text = "x".repeat(10_000);
        for round in 0..3 {
            for n in 0..1_000 {
                events.emit(&id(n), EventKind::RunStarted, &line(&text));
                events.emit(&id(n), EventKind::Console, &line(&round.to_string()));
            }
            assert!(events.bytes.load(Ordering::Relaxed) <= ALL_BYTES);
        }
        let kept: usize = events.rings().values().map(|ring| ring.kept().bytes).sum();
        assert_eq!(events.bytes.load(Ordering::Relaxed), kept);
        let reader = events.read(&id(7), Some(0));
        events.end_all();
        assert_eq!(texts(reader).await.last().map(String::as_str), Some("2"));
    }
}
