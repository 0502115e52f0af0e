//! Who is connected, and who gives way when the house is full.
//!
//! A connection costs a place and a descriptor whether it says something or not. When there is no place left, the one on
//! which nothing has gone on for longest gives way to the one that comes: so a thousand silent connections keep nobody
//! out. One whose request is being answered never gives way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bare::Phase;
use crate::limits;

/// The part of all places that is cleared when none is left: one of so many.
const AT_ONCE: usize = 64;

/// All connections.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    guests: Mutex<Guests>,
    left: Notify,
}

#[derive(Debug, Default)]
struct Guests {
    next: u64,
    here: HashMap<u64, Guest>,
}

#[derive(Debug)]
struct Guest {
    phase: Phase,
    go: CancellationToken,
}

/// One connection's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    number: u64,
    pub(crate) phase: Phase,
    /// Cancelled when it is to give way.
    pub(crate) go: CancellationToken,
}

impl Crowd {
    /// For as many as the limit says, and no more than half of the descriptors that this process may have: the other half
    /// is for what they ask for.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let descriptors = std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
            line.split_whitespace().next()?.parse::<usize>().ok()
        });
        let most = most.min(descriptors.unwrap_or(limits::MAX_CONNECTIONS * 2) / 2).max(1);
        Arc::new(Self { most, guests: Mutex::default(), left: Notify::new() })
    }

    /// A place for one that has come. Waits only where all are being answered.
    pub(crate) async fn enter(self: &Arc<Self>) -> Place {
        loop {
            let left = self.left.notified();
            if let Some(place) = self.try_enter() {
                return place;
            }
            left.await;
        }
    }

    fn try_enter(self: &Arc<Self>) -> Option<Place> {
        let mut guests = self.guests();
        if guests.here.len() >= self.most {
            let resting =
                guests.here.iter().filter_map(|(number, guest)| Some((guest.phase.resting_since()?, *number)));
            let mut resting: Vec<(u64, u64)> = resting.collect();
            // A few at once: a look at all of them for each that comes would be work that strangers can order.
            let some = (self.most / AT_ONCE).clamp(1, resting.len().max(1));
            if resting.len() > some {
                resting.select_nth_unstable(some);
            }
            resting.truncate(some);
            for (_, number) in &resting {
                // Its place is free at once; the connection is closed a moment later.
                if let Some(guest) = guests.here.remove(number) {
                    guest.go.cancel();
                }
            }
            if resting.is_empty() {
                return None;
            }
        }
        let (phase, go) = (Phase::new(), CancellationToken::new());
        let number = guests.next;
        guests.next += 1;
        guests.here.insert(number, Guest { phase: phase.clone(), go: go.clone() });
        Some(Place { crowd: Arc::clone(self), number, phase, go })
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.guests().here.remove(&self.number);
        self.crowd.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_rests_longest_gives_way_and_who_is_answered_does_not() {
        let crowd = Crowd::new(2);
        let (first, second) = (crowd.enter().await, crowd.enter().await);
        first.phase.begin();
        let third = crowd.enter().await;
        assert!(!first.go.is_cancelled() && second.go.is_cancelled() && !third.go.is_cancelled());
        drop(second);
        third.phase.begin();
        assert!(crowd.try_enter().is_none(), "all are being answered");
        let waiting = tokio::spawn({
            let crowd = Arc::clone(&crowd);
            async move { crowd.enter().await }
        });
        drop(first);
        let fourth = waiting.await.unwrap();
        assert!(!third.go.is_cancelled() && !fourth.go.is_cancelled());
    }
}
