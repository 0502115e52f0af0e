//! Sessions that are kept: a world per (owner, name) whose variables outlive a run.
//!
//! A session is used by one run at a time; a second one waits its turn. It ends when it has not been used for its owner's
//! idle time, when somebody ends it, and when a run had to be killed. In each case nothing of it is left but the name, which
//! the next run fills anew.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cove_core::{EngineName, Session};

use super::HostError;
use super::current::CurrentRun;

/// How long the end of a session is waited for. It is killed; this is the kernel's time to clear it away.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Which session: the owner, and the name that the owner gave it.
type Key = (String, String);

/// How many sessions may be kept.
#[derive(Debug, Clone, Copy)]
pub struct MaxSessions {
    /// Of one owner.
    pub per_owner: usize,
    /// Of all owners in the embedded engine: each is a process with the memory of a session.
    pub embedded: usize,
    /// Of all owners in the browser: each holds one of its pages, which runs without a session need too.
    pub browser: usize,
}

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    max: MaxSessions,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    slots: HashMap<Key, Arc<Slot>>,
    sweeping: bool,
}

/// A name with a session behind it; empty before its first run and after its end.
pub(super) struct Slot {
    /// Which engine it runs in.
    pub(super) engine: EngineName,
    idle_timeout: Option<Duration>,
    used: Mutex<Instant>,
    /// The session. Taken out for a run: one that is given up half-way leaves nothing behind.
    pub(super) open: tokio::sync::Mutex<Option<OpenSession>>,
}

/// An open session.
pub(super) struct OpenSession {
    /// The world.
    pub(super) session: Box<dyn Session>,
    /// Whom its console and its tools speak to.
    pub(super) current: Arc<CurrentRun>,
    /// Tools that it has been given for a caller to answer.
    pub(super) caller_tools: HashSet<String>,
}

impl OpenSession {
    pub(super) fn new(session: Box<dyn Session>, current: Arc<CurrentRun>) -> Self {
        Self { session, current, caller_tools: HashSet::new() }
    }
}

impl Sessions {
    pub(super) fn new(max: MaxSessions) -> Self {
        Self { max, kept: Mutex::default() }
    }

    /// The slot of this name, with the engine that was asked for (`None`: the one it has, or the embedded one).
    pub(super) fn slot(
        self: &Arc<Self>,
        owner: &str,
        name: &str,
        engine: Option<EngineName>,
        idle_timeout: Option<Duration>,
    ) -> Result<Arc<Slot>, HostError> {
        let mut kept = self.kept();
        let key = (owner.to_owned(), name.to_owned());
        if let Some(slot) = kept.slots.get(&key) {
            if engine.is_some_and(|engine| engine != slot.engine) {
                return Err(HostError::OtherEngine { name: name.to_owned(), engine: slot.engine });
            }
            slot.touch();
            return Ok(Arc::clone(slot));
        }
        let engine = engine.unwrap_or(EngineName::Embedded);
        kept.check_limits(&self.max, owner, engine)?;
        let used = Mutex::new(Instant::now());
        let slot = Arc::new(Slot { engine, idle_timeout, used, open: Default::default() });
        kept.slots.insert(key, Arc::clone(&slot));
        if idle_timeout.is_some() && !kept.sweeping {
            kept.sweeping = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        Ok(slot)
    }

    /// Ends a session of an owner (`None`: all of them), and waits until they are gone. How many that were.
    pub(super) async fn end(&self, owner: &str, name: Option<&str>) -> usize {
        let ours = |key: &Key| key.0 == owner && name.is_none_or(|name| key.1 == name);
        let gone: Vec<Arc<Slot>> = self.kept().slots.extract_if(|key, _| ours(key)).map(|(_, slot)| slot).collect();
        for slot in &gone {
            slot.end().await;
        }
        gone.len()
    }

    /// Whether an owner has one.
    pub(super) fn has(&self, owner: &str) -> bool {
        self.kept().slots.keys().any(|key| key.0 == owner)
    }

    /// Ends all sessions.
    pub(super) async fn end_all(&self) {
        let gone: Vec<Arc<Slot>> = self.kept().slots.drain().map(|(_, slot)| slot).collect();
        for slot in gone {
            slot.end().await;
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kept().slots.len()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Whether one more session of this owner fits.
    fn check_limits(&mut self, max: &MaxSessions, owner: &str, engine: EngineName) -> Result<(), HostError> {
        let max_of_engine = match engine {
            EngineName::Embedded => max.embedded,
            EngineName::Browser => max.browser,
        };
        let full = |slots: &HashMap<Key, Arc<Slot>>| {
            let own = slots.keys().filter(|key| key.0 == owner).count();
            let all = slots.values().filter(|slot| slot.engine == engine).count();
            (own >= max.per_owner).then_some(max.per_owner).or((all >= max_of_engine).then_some(max_of_engine))
        };
        if full(&self.slots).is_some() {
            // Names whose session is over hold nothing.
            self.slots.retain(|_, slot| !slot.is_over());
        }
        full(&self.slots).map_or(Ok(()), |max| Err(HostError::TooManySessions { max }))
    }
}

impl Slot {
    /// It was used just now.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether it was unused for too long, and nobody uses it now.
    fn is_idle(&self) -> bool {
        let unused = self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        self.idle_timeout.is_some_and(|limit| unused >= limit) && self.open.try_lock().is_ok()
    }

    /// Nothing is in it, and nobody is about to change that.
    fn is_over(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && self.open.try_lock().is_ok_and(|open| open.is_none())
    }

    async fn end(&self) {
        let ending = async {
            if let Some(open) = self.open.lock().await.take() {
                let _ = open.session.close().await;
            }
        };
        let _ = tokio::time::timeout(END_LIMIT, ending).await;
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// Ends what has not been used for too long, until there is nothing to end.
async fn sweep(sessions: Weak<Sessions>) {
    /// Often enough for an idle time of seconds, seldom enough to cost nothing.
    const LONGEST: Duration = Duration::from_secs(5);
    loop {
        let shortest = {
            let Some(sessions) = sessions.upgrade() else { return };
            let mut kept = sessions.kept();
            let Some(shortest) = kept.slots.values().filter_map(|slot| slot.idle_timeout).min() else {
                kept.sweeping = false;
                return;
            };
            shortest
        };
        tokio::time::sleep((shortest / 4).clamp(Duration::from_millis(20), LONGEST)).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let idle: Vec<Arc<Slot>> = {
            let mut kept = sessions.kept();
            kept.slots.extract_if(|_, slot| slot.is_idle()).map(|(_, slot)| slot).collect()
        };
        for slot in idle {
            slot.end().await;
        }
    }
}
