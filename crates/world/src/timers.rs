//! The order of timers: which one is next, and when. The functions themselves stay on the guest's side.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// More than any program needs; fewer than would make the list itself a memory bomb.
const MAX_TIMERS: usize = 100_000;

/// Timers of the run in progress.
#[derive(Default)]
pub(crate) struct Timers {
    queue: BTreeMap<(Instant, u64), f64>,
    known: HashMap<u64, (Instant, u64, Option<Duration>)>,
    sequence: u64,
}

impl Timers {
    /// Adds a timer; `false` when there are too many.
    pub(crate) fn set(&mut self, id: f64, wait_ms: f64, repeat: bool) -> bool {
        if self.queue.len() >= MAX_TIMERS {
            return false;
        }
        let wait = Duration::from_secs_f64(wait_ms.max(1.0) / 1000.0);
        self.add(id, wait, repeat.then_some(wait));
        true
    }

    fn add(&mut self, id: f64, wait: Duration, repeat: Option<Duration>) {
        self.sequence += 1;
        let at = Instant::now() + wait;
        self.queue.insert((at, self.sequence), id);
        self.known.insert(id.to_bits(), (at, self.sequence, repeat));
    }

    /// Removes a timer, if it is there.
    pub(crate) fn clear(&mut self, id: f64) {
        if let Some((at, sequence, _)) = self.known.remove(&id.to_bits()) {
            self.queue.remove(&(at, sequence));
        }
    }

    /// Removes all of them.
    pub(crate) fn clear_all(&mut self) {
        self.queue.clear();
        self.known.clear();
    }

    /// How long until the next one; `None` when there is none.
    pub(crate) fn next_in(&self) -> Option<Duration> {
        let ((at, _), _) = self.queue.first_key_value()?;
        Some(at.saturating_duration_since(Instant::now()))
    }

    /// Takes the next timer that is due; one that repeats is put back.
    pub(crate) fn take_due(&mut self) -> Option<f64> {
        if self.next_in()? > Duration::ZERO {
            return None;
        }
        let (_, id) = self.queue.pop_first()?;
        if let Some((_, _, Some(repeat))) = self.known.remove(&id.to_bits()) {
            self.add(id, repeat, Some(repeat));
        }
        Some(id)
    }
}
