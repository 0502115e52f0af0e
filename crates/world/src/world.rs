//! The world itself: built once, then made one session's own, then run.

use std::rc::Rc;
use std::time::Instant;

use cove_core::{LogLevel, RunReport, RunRequest};
use rquickjs::{Context, Ctx, Function, Object, Persistent, Runtime};
use serde_json::{Map, Value};

use crate::chance::Chance;
use crate::raw::{self, Gauge, Meter};
use crate::state::State;
use crate::timers::Timers;
use crate::{Port, Setup, ToolDecl, WorldError, canvas, harden, late, names, natives, prelude, run};

/// How much the heap may grow before its first cycle collection: a run that stays small never pays for one.
const QUIET_GROWTH_BYTES: usize = 8 << 20;

/// One runtime with one hardened, frozen realm.
///
/// ```no_run
/// # use cove_core::RunRequest;
/// # use cove_world::{Port, World};
/// # fn example(port: &mut dyn Port) -> Result<(), cove_world::WorldError> {
/// let mut world = World::new()?;
/// let report = world.run(&RunRequest::new("return 6 * 7"), port);
/// assert_eq!(report.result.unwrap().value, 42);
/// # Ok(())
/// # }
/// ```
pub struct World {
    state: Rc<State>,
    context: Context,
    runtime: Runtime,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("heap_bytes", &self.state.gauge.used()).finish_non_exhaustive()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The kit is a value of the runtime and must go before it.
        self.state.kit.borrow_mut().take();
        self.runtime.set_host_promise_rejection_tracker(None);
        self.runtime.set_interrupt_handler(None);
    }
}

impl World {
    /// Everything that can be done before a session exists: realm, permits, taming, freezing.
    pub fn new() -> Result<Self, WorldError> {
        let gauge = Gauge::new();
        let runtime = Runtime::new_with_alloc(Meter(Rc::clone(&gauge))).map_err(engine)?;
        let context = Context::full(&runtime).map_err(engine)?;
        let state = State::new(gauge);
        let known = Rc::clone(&state);
        let collector = context.with(|ctx| raw::Collector::of(&ctx));
        runtime.set_interrupt_handler(Some(Box::new(move || {
            if let Some(collector) = &collector {
                collector.collect_in_time(known.gauge.used(), known.gauge.limit());
            }
            known.is_stopped()
        })));
        let known = Rc::clone(&state);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
            if is_handled { known.handled(&promise) } else { known.rejected(&ctx, &promise, &reason) }
        })));
        let world = Self { state, context, runtime };
        world.context.with(|ctx| {
            raw::enter_thread(&ctx);
            // Nothing that is built here is garbage; looking for some would only take time.
            raw::gc_rarely(&ctx, usize::MAX);
            build(&ctx, &world.state)?;
            // The C library reads the time zone when it is first asked; behind walls it no longer could.
            run::evaluate(&ctx, "void new Date(0).getTimezoneOffset()", "cove:zone.js").map_err(engine)?;
            raw::gc_rarely(&ctx, world.state.gauge.used() + QUIET_GROWTH_BYTES);
            Ok(())
        })?;
        Ok(world)
    }

    /// Makes this world one session's own. Once, after the fork.
    pub fn configure(&mut self, setup: &Setup) -> Result<(), WorldError> {
        let state = &self.state;
        let limit = usize::try_from(setup.limits.memory_bytes).unwrap_or(usize::MAX);
        // The world itself is not the guest's doing: its limit counts from here.
        state.gauge.set_limit(state.gauge.used().saturating_add(limit));
        let growth = QUIET_GROWTH_BYTES.min(limit.saturating_sub(state.gauge.used()) / 2);
        self.context.with(|ctx| raw::gc_rarely(&ctx, state.gauge.used() + growth));
        state.limits.set(setup.limits);
        state.clock.set(setup.clock);
        *state.timers.borrow_mut() = Timers::new(setup.clock.runs());
        state.started.set(Instant::now());
        *state.chance.borrow_mut() = Chance::new(setup.random, &setup.seed);
        state.levels.set(setup.log_levels.iter().fold(0, |bits, level: &LogLevel| bits | 1 << *level as u8));
        state.network.set(setup.network);
        *state.imports.borrow_mut() = setup.imports.clone();
        Ok(())
    }

    /// Tidies the heap of a world from which others will be forked, so that each writes to few pages that are shared.
    pub fn close_gaps(&mut self) {
        self.context.with(|ctx| raw::close_gaps(&ctx, &self.state.gauge));
    }

    /// Goes through the motions of a run, so that the first real one finds its memory pages touched and its code warm.
    ///
    /// For a world that was forked and waits: it costs what a trivial run costs and leaves nothing that code could see.
    pub fn rehearse(&mut self) {
        self.context.with(|ctx| run::rehearse(&ctx, &self.state));
    }

    /// Sets global variables, deep-frozen; a name that was sent before is replaced.
    pub fn set_variables(&mut self, variables: &Map<String, Value>) -> Result<(), WorldError> {
        for name in variables.keys() {
            names::check(name)?;
            if self.state.tool_names.borrow().contains(name) {
                return Err(WorldError::Name { name: name.clone(), why: "a tool has it already" });
            }
        }
        self.enter(|ctx, state| {
            let set = state.kit(ctx, "setVariable")?;
            variables.iter().try_for_each(|(name, value)| set.call::<_, ()>((name.as_str(), value.to_string())))
        })
    }

    /// Makes host functions callable, in addition to the earlier ones.
    pub fn set_tools(&mut self, tools: &[ToolDecl]) -> Result<(), WorldError> {
        for tool in tools {
            names::check(&tool.name)?;
        }
        let fresh: Vec<_> = tools.iter().filter(|tool| !self.state.tool_names.borrow().contains(&tool.name)).collect();
        self.enter(|ctx, state| {
            let set = state.kit(ctx, "setTool")?;
            fresh.iter().try_for_each(|tool| set.call::<_, ()>((tool.name.as_str(), tool.sync)))
        })?;
        self.state.tool_names.borrow_mut().extend(fresh.into_iter().map(|tool| tool.name.clone()));
        Ok(())
    }

    /// Prepares the source and runs it to its end. The report has no console lines and no pictures, which go through the
    /// port, and the deadline is the host's to watch.
    pub fn run(&mut self, request: &RunRequest, port: &mut dyn Port) -> RunReport {
        let state = &self.state;
        state.port.lend(port, || self.context.with(|ctx| run::run(&ctx, state, request)))
    }

    /// Bytes that the heap holds now.
    pub fn heap_bytes(&self) -> u64 {
        self.state.gauge.used() as u64
    }

    fn enter(&self, work: impl for<'js> FnOnce(&Ctx<'js>, &State) -> rquickjs::Result<()>) -> Result<(), WorldError> {
        self.context.with(|ctx| {
            raw::enter_thread(&ctx);
            run::tidy(&ctx, &self.state);
            work(&ctx, &self.state).map_err(|error| {
                let thrown = ctx.catch();
                if self.state.gauge.refused() {
                    return WorldError::Memory { limit_bytes: self.state.limits.get().memory_bytes };
                }
                let why = if matches!(error, rquickjs::Error::Exception) {
                    crate::blame::sentence(&ctx, &self.state, &thrown)
                } else {
                    error.to_string()
                };
                WorldError::Engine(why)
            })
        })
    }
}

/// Fills the realm, then closes it.
fn build<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> Result<(), WorldError> {
    let made = (|| {
        let natives = natives::object(ctx, state)?;
        let kit = Object::new(ctx.clone())?;
        let error_class = raw::class_id(&run::evaluate(ctx, "new Error()", "cove:sample.js")?);
        let bare = Function::new(ctx.clone(), move |ctx: Ctx<'js>| raw::bare_error(&ctx, error_class))?;
        natives.set("bareError", bare)?;
        for name in prelude::FILES {
            prelude::run(ctx, name, &natives, &kit)?;
        }
        canvas::install(ctx, state, &natives, &kit)?;
        natives::guard_promises(ctx, &kit)?;
        natives::install_end(ctx, state, &kit)?;
        kit.get::<_, Function<'js>>("captureShared")?.call::<_, ()>(())?;
        late::install(ctx, state, &natives, &kit)?;
        raw::define(&ctx.globals(), "self", &ctx.globals().into_value(), true, false, true)?;
        Ok(kit)
    })()
    .map_err(|error: rquickjs::Error| {
        let thrown = ctx.catch();
        let (message, stack) = thrown.as_exception().map_or((None, None), |e| (e.message(), e.stack()));
        WorldError::Hardening(format!("{error} {} {}", message.unwrap_or_default(), stack.unwrap_or_default()))
    })?;
    let intrinsics = harden::harden(ctx, &made)?;
    *state.intrinsics.borrow_mut() = intrinsics;
    late::define_globals(ctx, &made).map_err(engine)?;
    prelude::close(&made).map_err(engine)?;
    *state.kit.borrow_mut() = Some(Persistent::save(ctx, made));
    Ok(())
}

fn engine(error: impl std::fmt::Display) -> WorldError {
    WorldError::Engine(error.to_string())
}
