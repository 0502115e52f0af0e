//! Tabs that wait for a guest. None has ever had one: a tab is used once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::tab::Tab;

/// How long a refill waits for the run that made it necessary. Most runs are over by then.
const COURTESY: Duration = Duration::from_millis(15);

/// The warm tabs of one browser.
pub(crate) struct Pool {
    ready: Mutex<VecDeque<Tab>>,
    size: usize,
    age: Duration,
    wanted: Notify,
}

impl Pool {
    pub(crate) fn new(size: usize, age: Duration) -> Self {
        Self { ready: Mutex::default(), size, age, wanted: Notify::new() }
    }

    /// A warm tab, if there is one; either way the pool is filled again.
    pub(crate) fn take(&self) -> Option<Tab> {
        self.wanted.notify_one();
        loop {
            let tab = self.lock().pop_front()?;
            if tab.is_alive() {
                return Some(tab);
            }
        }
    }

    /// Adds a tab that no guest has seen.
    pub(crate) fn put(&self, tab: Tab) {
        self.lock().push_back(tab);
    }

    /// How many are ready.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Throws all of them away.
    pub(crate) fn clear(&self) {
        let tabs = std::mem::take(&mut *self.lock());
        drop(tabs);
    }

    /// Keeps the pool full after each demand, and throws away what nobody wanted for too long.
    ///
    /// Nothing is made again merely because it has aged: an engine that nobody uses ends up holding no tab.
    pub(crate) async fn keep<F, R>(&self, make: F)
    where
        F: Fn() -> R,
        R: Future<Output = Option<Tab>>,
    {
        loop {
            while self.len() < self.size {
                let Some(tab) = make().await else {
                    // Whoever asks next makes a tab of its own and hears what is wrong; the pool tries again then.
                    break;
                };
                self.put(tab);
            }
            let aged = tokio::time::timeout(self.age / 2, self.wanted.notified()).await.is_err();
            if !aged && self.len() > 0 {
                // A new tab costs both cores for a moment; while there are others, whoever took the last one goes first.
                tokio::time::sleep(COURTESY).await;
            }
            if aged {
                self.throw_away_old();
                if self.len() < self.size {
                    self.wanted.notified().await;
                }
            }
        }
    }

    fn throw_away_old(&self) {
        let mut ready = self.lock();
        let (old, young) = ready.drain(..).partition::<VecDeque<Tab>, _>(|tab| tab.born.elapsed() > self.age);
        *ready = young;
        drop(ready);
        drop(old);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Tab>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
