//! Which attempt is the run: two engines may have begun the same code, and only one of them may be seen.
//!
//! The first attempt that reaches outside (a tool, the network) or whose console line is shown has taken the run: from
//! then on it alone counts, and the other one is ended. Until then, lines are held.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cove_core::{CpuClock, EffectGate, Engine, EngineName, LogLine, LogSink};
use tokio::sync::watch;

/// Who has taken the run.
#[derive(Debug)]
pub(super) struct Claim(watch::Sender<Option<EngineName>>);

impl Claim {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(None)))
    }

    /// Takes the run, if nobody has; whether it is this engine's now.
    fn take(&self, engine: EngineName) -> bool {
        let taken = self.0.send_if_modified(|owner| match owner {
            None => {
                *owner = Some(engine);
                true
            }
            Some(_) => false,
        });
        taken || self.owner() == Some(engine)
    }

    /// Who has it, if anybody.
    pub(super) fn owner(&self) -> Option<EngineName> {
        *self.0.borrow()
    }

    /// Waits until somebody has it.
    pub(super) async fn taken(&self) -> EngineName {
        let mut changes = self.0.subscribe();
        loop {
            if let Some(owner) = *changes.borrow_and_update() {
                return owner;
            }
            // The sender is ours: it does not go away meanwhile.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// One engine's try at a run: its console, its way outside, and how long it has computed.
pub(crate) struct Attempt {
    engine: EngineName,
    claim: Arc<Claim>,
    sink: Option<LogSink>,
    lines: Mutex<Lines>,
    clock: OnceLock<CpuClock>,
    /// The engine that could take over; asked for when the first line comes.
    other: Option<Arc<dyn Engine>>,
}

/// What becomes of a console line.
enum Lines {
    /// It waits until it is known which attempt counts.
    Held(Vec<LogLine>),
    /// It is shown, which takes the run.
    Shown,
}

impl Attempt {
    /// An attempt whose lines are held, as long as `other` could take over (`None`: until they are shown).
    pub(super) fn new(
        engine: EngineName,
        claim: &Arc<Claim>,
        sink: Option<LogSink>,
        other: Option<Arc<dyn Engine>>,
    ) -> Arc<Self> {
        let (claim, lines) = (Arc::clone(claim), Mutex::new(Lines::Held(Vec::new())));
        Arc::new(Self { engine, claim, sink, lines, clock: OnceLock::new(), other })
    }

    /// Where its engine sends console lines; nowhere, if nobody listens.
    pub(crate) fn sink(self: &Arc<Self>) -> Option<LogSink> {
        let (attempt, sink) = (Arc::clone(self), self.sink.clone()?);
        Some(Arc::new(move |line| attempt.hear(line, &sink)))
    }

    /// What its engine asks before it lets guest code out.
    pub(crate) fn gate(self: &Arc<Self>) -> EffectGate {
        let attempt = Arc::clone(self);
        Arc::new(move || {
            let is_ours = attempt.claim.take(attempt.engine);
            if is_ours {
                attempt.show();
            }
            is_ours
        })
    }

    /// Tells it how long its guest computes.
    pub(crate) fn set_clock(&self, clock: Option<CpuClock>) {
        if let Some(clock) = clock {
            let _ = self.clock.set(clock);
        }
    }

    /// How long its guest has computed, where that is known.
    pub(super) fn computed(&self) -> Option<Duration> {
        self.clock.get().and_then(|clock| clock())
    }

    /// Shows the lines that were held, unless another attempt has taken the run, and every later one at once.
    pub(super) fn show(&self) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Lines::Held(held) = std::mem::replace(&mut *lines, Lines::Shown) else { return };
        if let Some(sink) = self.sink.as_ref().filter(|_| !held.is_empty() && self.claim.take(self.engine)) {
            held.iter().for_each(|line| sink(line));
        }
    }

    fn hear(&self, line: &LogLine, sink: &LogSink) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Lines::Held(held) = &mut *lines {
            // With nobody to take over there is nothing to wait for.
            let waits = !held.is_empty() || self.other.as_ref().is_none_or(|other| other.is_here());
            if waits {
                held.push(line.clone());
                return;
            }
            *lines = Lines::Shown;
        }
        if self.claim.take(self.engine) {
            sink(line);
        }
    }
}
