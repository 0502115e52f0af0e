//! The order of timers: which one is next, and when. The functions themselves stay on the guest's side.
//!
//! A session whose clock runs waits for its timers. One whose clock does not (`Clock::None`, `Clock::Fixed`) has virtual
//! time: it jumps to the next timer when nothing else can run, so a timer takes no time and cannot measure any. With real
//! waiting, the order of two timers would tell how long the work between them took.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// More than any program needs; fewer than would make the list itself a memory bomb.
const MAX_TIMERS: usize = 100_000;

/// What the due times are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    /// The machine's clock, from here on.
    Real(Instant),
    /// What has passed so far: as far as the timer that fired last.
    Virtual(Duration),
}

/// Timers of the run in progress.
pub(crate) struct Timers {
    time: Time,
    /// By due time, counted from the beginning of `time`.
    queue: BTreeMap<(Duration, u64), f64>,
    known: HashMap<u64, (Duration, u64, Option<Duration>)>,
    sequence: u64,
}

impl Timers {
    /// No timers yet. `real`: they wait; else they fire in virtual time.
    pub(crate) fn new(real: bool) -> Self {
        let time = if real { Time::Real(Instant::now()) } else { Time::Virtual(Duration::ZERO) };
        Self { time, queue: BTreeMap::new(), known: HashMap::new(), sequence: 0 }
    }

    /// Whether the clock of these timers is virtual.
    pub(crate) fn are_virtual(&self) -> bool {
        matches!(self.time, Time::Virtual(_))
    }

    fn now(&self) -> Duration {
        match self.time {
            Time::Real(begin) => begin.elapsed(),
            Time::Virtual(now) => now,
        }
    }

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
        let at = self.now().saturating_add(wait);
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

    /// How long until the next one; `None` when there is none. In virtual time nothing has to be waited for.
    pub(crate) fn next_in(&self) -> Option<Duration> {
        let ((at, _), _) = self.queue.first_key_value()?;
        Some(match self.time {
            Time::Real(_) => at.saturating_sub(self.now()),
            Time::Virtual(_) => Duration::ZERO,
        })
    }

    /// Takes the next timer that is due; one that repeats is put back. Virtual time moves on to it.
    pub(crate) fn take_due(&mut self) -> Option<f64> {
        if self.next_in()? > Duration::ZERO {
            return None;
        }
        let ((at, _), id) = self.queue.pop_first()?;
        if let Time::Virtual(now) = &mut self.time {
            *now = at;
        }
        if let Some((_, _, Some(repeat))) = self.known.remove(&id.to_bits()) {
            self.add(id, repeat, Some(repeat));
        }
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Timers as `(id, wait, repeats)`, and the order in which the first few fire.
    fn check(timers: &[(f64, f64, bool)], expected: &[f64]) {
        let mut order = Timers::new(false);
        for (id, wait, repeats) in timers {
            assert!(order.set(*id, *wait, *repeats));
        }
        let fired: Vec<f64> = std::iter::from_fn(|| order.take_due()).take(expected.len()).collect();
        assert_eq!(fired, expected, "{timers:?}");
    }

    #[test]
    fn virtual_time_is_the_order_of_due_times() {
        check(&[(1.0, 30.0, false), (2.0, 10.0, false), (3.0, 20.0, false)], &[2.0, 3.0, 1.0]);
        check(&[(1.0, 5.0, false), (2.0, 5.0, false), (3.0, 0.0, false)], &[3.0, 1.0, 2.0]);
        check(&[(1.0, 2_147_483_647.0, false), (2.0, 2_147_483_646.0, false)], &[2.0, 1.0]);
        check(&[(1.0, 10.0, true), (2.0, 25.0, false)], &[1.0, 1.0, 2.0, 1.0]);
    }

    /// A timer that is set later counts from the moment that the last one stood for.
    #[test]
    fn virtual_time_moves_on_with_each_timer() {
        let mut order = Timers::new(false);
        order.set(1.0, 10.0, false);
        order.set(2.0, 25.0, false);
        assert_eq!(order.take_due(), Some(1.0));
        order.set(3.0, 10.0, false);
        order.set(4.0, 20.0, false);
        let rest: Vec<f64> = std::iter::from_fn(|| order.take_due()).collect();
        assert_eq!(rest, [3.0, 2.0, 4.0]);
    }

    #[test]
    fn real_time_is_waited_for() {
        let mut order = Timers::new(true);
        order.set(1.0, 3_600_000.0, false);
        assert_eq!(order.take_due(), None);
        assert!(order.next_in().unwrap() > Duration::from_secs(3_000));
    }
}
