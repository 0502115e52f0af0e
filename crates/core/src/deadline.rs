//! The moment by which something must be done, made once where a call comes in and handed down.
//!
//! A wait below takes what is left of it and adds nothing: adding up time-outs on the way is how a run of thirty
//! seconds comes to take ninety. Whoever waits above, for the answer, adds only a [`Deadline::backstop`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::CpuClock;

/// Longer than anything waits, and short enough to be added to any clock.
const MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// A moment by which something must be over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    budget: Duration,
}

impl Deadline {
    /// Starts the clock.
    pub fn after(budget: Duration) -> Self {
        let budget = budget.min(MAX);
        Self { at: Instant::now() + budget, budget }
    }

    /// The moment.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// What is left; zero once it is over.
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// How long it was when it was made: the number that a user can change, and is told.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// When somebody gives up who waits for a callee with this deadline: later, by what the callee's last answer may take.
    /// It says why the work was ended, so whoever waits must not end at the same moment. Not time to work: nobody hands it down.
    #[must_use]
    pub fn backstop(&self, answer: Duration) -> Self {
        let answer = answer.min(MAX);
        Self { at: self.at + answer, budget: self.budget + answer }
    }

    /// The earlier of this and `limit` from now on: for a step that may take only a part of what is left.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let step = Self::after(limit);
        if step.at < self.at { step } else { *self }
    }
}

/// Time in which a run's deadline stands still, because a person is asked something.
///
/// Only time that the guest does not compute is given back to it: a run has used up its time when either the time that
/// was not held, or the time that it has computed, is over.
#[derive(Debug, Default)]
pub struct Holds(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    open: usize,
    since: Option<Instant>,
    total: Duration,
}

impl Holds {
    /// The clock stands still until the guard is dropped.
    pub fn hold(self: &Arc<Self>) -> Hold {
        let mut held = self.held();
        held.open += 1;
        held.since.get_or_insert_with(Instant::now);
        Hold(Arc::clone(self))
    }

    /// How long it has stood still so far.
    pub fn total(&self) -> Duration {
        let held = self.held();
        held.total + held.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// What is left of a budget for a run that began then, when this much was held already; `None`: nothing.
    pub fn left(&self, budget: Duration, begun: Instant, held: Duration, computed: Duration) -> Option<Duration> {
        let waited = begun.elapsed().saturating_sub(self.total().saturating_sub(held));
        budget.checked_sub(waited.max(computed)).filter(|left| !left.is_zero())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock of one run: its budget, less the time that a person was asked for.
#[derive(Clone)]
pub struct RunClock {
    holds: Option<Arc<Holds>>,
    held_before: Duration,
    budget: Duration,
    begun: Instant,
    computed: Option<CpuClock>,
    computed_before: Option<Duration>,
}

impl RunClock {
    /// For a run that began then. `computed` tells how long the guest has computed, where that is known.
    pub fn begin(holds: Option<Arc<Holds>>, budget: Duration, begun: Instant, computed: Option<CpuClock>) -> Self {
        let held_before = holds.as_ref().map(|holds| holds.total()).unwrap_or_default();
        Self { holds, held_before, budget, begun, computed, computed_before: None }
    }

    /// Asked when the budget is over: how much longer the run may take after all; `None`: no longer.
    ///
    /// What the guest computes is counted from the first time that this is asked, so that a clock is read only for runs that
    /// were held: a guest that computes while a person is asked has its budget twice, and no more.
    pub fn left(&mut self) -> Option<Duration> {
        let holds = self.holds.as_ref()?;
        let computed = self.computed.as_ref().and_then(|clock| clock()).unwrap_or_default();
        let before = *self.computed_before.get_or_insert(computed);
        holds.left(self.budget, self.begun, self.held_before, computed.saturating_sub(before))
    }
}

impl std::fmt::Debug for RunClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunClock").field("budget", &self.budget).finish_non_exhaustive()
    }
}

/// While it lives, a run's clock stands still.
#[derive(Debug)]
pub struct Hold(Arc<Holds>);

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.0.held();
        held.open -= 1;
        if held.open == 0
            && let Some(since) = held.since.take()
        {
            held.total += since.elapsed();
        }
    }
}

impl From<Duration> for Deadline {
    fn from(budget: Duration) -> Self {
        Self::after(budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_clock_stands_still_and_computing_counts() {
        let holds = Arc::new(Holds::default());
        let begun = Instant::now() - Duration::from_secs(10);
        let second = Duration::from_secs(1);
        assert_eq!(holds.left(5 * second, begun, Duration::ZERO, Duration::ZERO), None);
        // As if a person had been asked for all of that time.
        holds.held().total = 9 * second;
        let left = holds.left(5 * second, begun, Duration::ZERO, Duration::ZERO).unwrap();
        assert!(left > 3 * second && left <= 4 * second);
        assert_eq!(holds.left(5 * second, begun, Duration::ZERO, 6 * second), None);
        assert_eq!(holds.left(5 * second, begun, 9 * second, Duration::ZERO), None, "held before this run");
        let (one, other) = (holds.hold(), holds.hold());
        drop(one);
        assert!(holds.held().since.is_some());
        drop(other);
        assert!(holds.held().since.is_none() && holds.total() >= 9 * second);
    }

    #[test]
    fn a_step_never_gets_more_than_is_left() {
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let whole = Deadline::after(hour);
        assert_eq!(whole.within(Duration::MAX), whole);
        let step = whole.within(second);
        assert!(step.at() < whole.at() && step.budget() == second && step.left() <= second);
        assert!(!whole.is_over() && Deadline::after(Duration::ZERO).is_over());
        assert!(Deadline::after(Duration::MAX).left() > hour);
        let outer = whole.backstop(second);
        assert!(outer.at() == whole.at() + second && outer.budget() == hour + second);
        assert!(Deadline::after(Duration::MAX).backstop(Duration::MAX).left() > hour);
    }
}
