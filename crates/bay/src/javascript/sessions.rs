//! Sessions that are kept: a world per (sandbox, name) whose variables outlive a call.
//!
//! A session is used by one call at a time; a second one waits its turn. It ends when it has not been used for the
//! profile's idle time, when somebody resets it, when its sandbox is stopped or deleted, and when a run had to be killed.
//! In each case nothing of it is left but the name, which the next call fills anew.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cove_api::{BayError, ErrorCode};
use cove_core::{EngineName, Session};

use super::place::Current;

/// Sessions of one sandbox.
const MAX_OF_SANDBOX: usize = 16;

/// Sessions of all sandboxes: each is a process with up to 64 MiB.
const MAX_EMBEDDED: usize = 512;

/// Sessions of all sandboxes that are pages: a page holds one of the browser's seats, which one-shot runs need too.
const MAX_BROWSER: usize = 32;

/// How long the end of a session is waited for. It is killed; this is the kernel's time to clear it away.
const BURIAL: Duration = Duration::from_secs(5);

/// Which session: the sandbox, and the name in it.
type Key = (String, String);

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    slots: HashMap<Key, Arc<Slot>>,
    sweeping: bool,
}

/// A place for one session; empty before its first run and after its end.
pub(crate) struct Slot {
    /// Which engine it runs in.
    pub(crate) engine: EngineName,
    idle: Duration,
    used: Mutex<Instant>,
    /// The session. Taken out for a run: one that is given up half-way leaves nothing behind.
    pub(crate) open: tokio::sync::Mutex<Option<Open>>,
}

/// An open session.
pub(crate) struct Open {
    /// The world.
    pub(crate) session: Box<dyn Session>,
    /// Whom its console and its tools speak to.
    pub(crate) current: Arc<Current>,
    /// Tools that it has been given besides the file tools.
    pub(crate) remote: HashSet<String>,
}

impl Sessions {
    /// The place of this name, with the engine that was asked for (`None`: the one it has, or the embedded one).
    pub(crate) fn slot(
        self: &Arc<Self>,
        sandbox_id: &str,
        name: &str,
        engine: Option<EngineName>,
        idle: Duration,
    ) -> Result<Arc<Slot>, BayError> {
        let mut kept = self.kept();
        let key = (sandbox_id.to_owned(), name.to_owned());
        if let Some(slot) = kept.slots.get(&key) {
            if engine.is_some_and(|engine| engine != slot.engine) {
                let message = format!("the session {name:?} runs in the {} engine; reset it first", slot.engine);
                return Err(BayError::new(ErrorCode::Conflict, message));
            }
            slot.touch();
            return Ok(Arc::clone(slot));
        }
        let engine = engine.unwrap_or(EngineName::Embedded);
        kept.room_for(sandbox_id, engine)?;
        let slot = Arc::new(Slot { engine, idle, used: Mutex::new(Instant::now()), open: Default::default() });
        kept.slots.insert(key, Arc::clone(&slot));
        if !kept.sweeping {
            kept.sweeping = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        Ok(slot)
    }

    /// Ends a session of a sandbox (`None`: all of them), and waits until they are gone.
    pub(crate) async fn end(&self, sandbox_id: &str, name: Option<&str>) {
        let ours = |key: &Key| key.0 == sandbox_id && name.is_none_or(|name| key.1 == name);
        let gone: Vec<Arc<Slot>> = self.kept().slots.extract_if(|key, _| ours(key)).map(|(_, slot)| slot).collect();
        for slot in gone {
            slot.end().await;
        }
    }

    /// Whether a sandbox has one.
    pub(crate) fn has(&self, sandbox_id: &str) -> bool {
        self.kept().slots.keys().any(|key| key.0 == sandbox_id)
    }

    /// Ends all sessions.
    pub(crate) async fn end_all(&self) {
        let gone: Vec<Arc<Slot>> = self.kept().slots.drain().map(|(_, slot)| slot).collect();
        for slot in gone {
            slot.end().await;
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.kept().slots.len()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn room_for(&mut self, sandbox_id: &str, engine: EngineName) -> Result<(), BayError> {
        let max = match engine {
            EngineName::Embedded => MAX_EMBEDDED,
            EngineName::Browser => MAX_BROWSER,
        };
        let full = |slots: &HashMap<Key, Arc<Slot>>| {
            let own = slots.keys().filter(|key| key.0 == sandbox_id).count();
            let all = slots.values().filter(|slot| slot.engine == engine).count();
            (own >= MAX_OF_SANDBOX).then_some(MAX_OF_SANDBOX).or((all >= max).then_some(max))
        };
        if full(&self.slots).is_some() {
            // Names whose session is over need no place.
            self.slots.retain(|_, slot| !slot.is_over());
        }
        let Some(max) = full(&self.slots) else { return Ok(()) };
        let message = format!("too many JavaScript sessions: the limit is {max}; reset one, or run without a session");
        Err(BayError::new(ErrorCode::QuotaExceeded, message).with("max_sessions", max))
    }
}

impl Slot {
    /// It was used just now.
    pub(crate) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn unused_for(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Nothing is in it, and nobody is about to change that.
    fn is_over(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && self.open.try_lock().is_ok_and(|open| open.is_none())
    }

    async fn end(&self) {
        let burial = async {
            if let Some(open) = self.open.lock().await.take() {
                let _ = open.session.close().await;
            }
        };
        let _ = tokio::time::timeout(BURIAL, burial).await;
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
            let Some(shortest) = kept.slots.values().map(|slot| slot.idle).min() else {
                kept.sweeping = false;
                return;
            };
            shortest
        };
        tokio::time::sleep((shortest / 4).clamp(Duration::from_millis(20), LONGEST)).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let idle: Vec<Arc<Slot>> = {
            let mut kept = sessions.kept();
            let over = |slot: &Arc<Slot>| slot.unused_for() >= slot.idle && slot.open.try_lock().is_ok();
            kept.slots.extract_if(|_, slot| over(slot)).map(|(_, slot)| slot).collect()
        };
        for slot in idle {
            slot.end().await;
        }
    }
}
