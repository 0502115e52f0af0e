//! What the native functions of one world share: limits, flags, clocks and queues. No JavaScript value lives here but
//! the kit, so that dropping a world is never a question of who holds what.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Instant;

use cove_core::{Clock, Fault, ImportPolicy, Limits, LogLevel, Random};
use rquickjs::{Ctx, Function, Object, Persistent};
use serde_json::Value;

use crate::chance::Chance;
use crate::port::ToolFailure;
use crate::raw::{Gauge, PortSlot};
use crate::sources::Sources;
use crate::timers::Timers;

/// Whether the run still goes on, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// It goes on (or none is going on).
    No,
    /// `final_answer` was called: `finally` blocks may still run, nothing else counts.
    Answered,
    /// The step counter ran out.
    Steps,
    /// The host is gone.
    Closed,
}

/// An answer of the host to a tool call.
pub(crate) type ToolOutcome = (u64, Result<String, ToolFailure>);

/// The shared state of one world.
pub(crate) struct State {
    pub(crate) gauge: Rc<Gauge>,
    pub(crate) port: PortSlot,
    pub(crate) over: Cell<Over>,
    /// The last run has left something that the next one must not find.
    pub(crate) untidy: Cell<bool>,
    pub(crate) answer: RefCell<Option<Result<Value, Fault>>>,
    /// What the value of the run lost on its way to JSON.
    pub(crate) warnings: RefCell<Vec<String>>,
    pub(crate) limits: Cell<Limits>,
    pub(crate) clock: Cell<Clock>,
    pub(crate) started: Cell<Instant>,
    pub(crate) chance: RefCell<Chance>,
    pub(crate) levels: Cell<u8>,
    pub(crate) network: Cell<bool>,
    pub(crate) imports: RefCell<ImportPolicy>,
    pub(crate) tool_names: RefCell<Vec<String>>,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) last_call: Cell<u64>,
    /// Calls without an answer yet, the earliest first.
    pub(crate) waiting_calls: RefCell<BTreeSet<u64>>,
    /// Answers that came while the guest stood still for another one.
    pub(crate) early: RefCell<VecDeque<ToolOutcome>>,
    /// In virtual time: answers that came before those of earlier calls, which are heard first.
    pub(crate) held: RefCell<BTreeMap<u64, Result<String, ToolFailure>>>,
    pub(crate) steps: Steps,
    pub(crate) guards: Cell<bool>,
    pub(crate) compartments: Cell<bool>,
    pub(crate) sources: RefCell<Sources>,
    pub(crate) rejections: RefCell<Vec<(usize, String)>>,
    pub(crate) intrinsics: RefCell<Vec<usize>>,
    pub(crate) kit: RefCell<Option<Persistent<Object<'static>>>>,
}

/// The step counter. The guest's own variable counts down in laps, because the engine counts fast only in 32 bits.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// What the run may still use beyond the lap in progress; `None`: as much as it likes.
    pub(crate) left: Cell<Option<u64>>,
    /// Used in earlier laps.
    pub(crate) used: Cell<u64>,
    /// Length of the lap in progress.
    pub(crate) lap: Cell<u64>,
    /// What the run may use in all, for the fault.
    pub(crate) limit: Cell<u64>,
}

impl State {
    pub(crate) fn new(gauge: Rc<Gauge>) -> Rc<Self> {
        Rc::new(Self {
            gauge,
            port: PortSlot::empty(),
            over: Cell::new(Over::No),
            untidy: Cell::new(false),
            answer: RefCell::new(None),
            warnings: RefCell::new(Vec::new()),
            limits: Cell::new(Limits::EXECUTOR),
            clock: Cell::new(Clock::None),
            started: Cell::new(Instant::now()),
            chance: RefCell::new(Chance::new(Random::None, &[0; 32])),
            levels: Cell::new(u8::MAX),
            network: Cell::new(false),
            imports: RefCell::new(ImportPolicy::default()),
            tool_names: RefCell::new(Vec::new()),
            timers: RefCell::new(Timers::new(false)),
            last_call: Cell::new(0),
            waiting_calls: RefCell::new(BTreeSet::new()),
            early: RefCell::new(VecDeque::new()),
            held: RefCell::new(BTreeMap::new()),
            steps: Steps::default(),
            guards: Cell::new(true),
            compartments: Cell::new(false),
            sources: RefCell::new(Sources::default()),
            rejections: RefCell::new(Vec::new()),
            intrinsics: RefCell::new(Vec::new()),
            kit: RefCell::new(None),
        })
    }

    /// A function of the kit, by name.
    pub(crate) fn kit<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
        let kit = self.kit.borrow().clone().ok_or(rquickjs::Error::Unknown)?;
        kit.restore(ctx)?.get(name)
    }

    /// Whether guest code may still have effects.
    pub(crate) fn is_over(&self) -> bool {
        self.over.get() != Over::No || self.gauge.refused()
    }

    /// Whether not even `finally` blocks may run any more.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.over.get(), Over::Steps | Over::Closed) || self.gauge.refused()
    }

    /// Whether a console level is kept.
    pub(crate) fn hears(&self, level: LogLevel) -> bool {
        self.levels.get() & (1 << level as u8) != 0
    }
}
