//! The moment by which something must be done, made once where a call comes in and handed down.
//!
//! A wait below takes what is left of it and adds nothing: adding up time-outs on the way is how a run of thirty
//! seconds comes to take ninety. Whoever waits above, for the answer, adds only a [`Deadline::backstop`].

use std::time::{Duration, Instant};

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

impl From<Duration> for Deadline {
    fn from(budget: Duration) -> Self {
        Self::after(budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
