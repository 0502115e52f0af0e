//! The end of a run: `final_answer`, the step counter, and what keeps code from going on after either.

use std::rc::Rc;

use rquickjs::{Array, Ctx, Function, Object, Value};

use crate::blame;
use crate::outcome;
use crate::raw;
use crate::state::{Over, State};

/// The engine counts fast within 32 bits; longer budgets are counted in laps of this length.
const LAP: u64 = 1 << 30;

/// What `finally` blocks may still loop after an answer.
const GRACE_STEPS: u64 = 1000;

/// Defines the names that prepared code uses, as global lexical bindings: no property of any object leads to them.
pub(crate) fn install_end<'js>(ctx: &Ctx<'js>, state: &Rc<State>, kit: &Object<'js>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    let stop = Function::new(ctx.clone(), move |ctx: Ctx<'js>| stop(&ctx, &known))?;
    let known = Rc::clone(state);
    let rethrow = Function::new(ctx.clone(), move |ctx: Ctx<'js>, error: Value<'js>| -> rquickjs::Result<()> {
        if known.is_over() {
            return Err(ctx.throw(error));
        }
        blame::clarify(&ctx, &known, &error);
        Ok(())
    })?;
    kit.set("stop", stop)?;
    let over: Array<'js> = kit.get("over")?;
    over.set(2, rethrow.clone())?;
    kit.set("rethrow", rethrow)?;
    over.set(1, crate::run::evaluate(ctx, "new Error('final_answer was given: the run is over')", "cove:end.js")?)?;

    let globals = ctx.globals();
    globals.set("__cove_boot", kit.clone())?;
    crate::run::evaluate(
        ctx,
        "let __cove_n = 0;
         const { stop: __cove_stop, rethrow: __cove_catch, importModule: __cove_import, declare: __cove_decl,
           lock: __cove_lock, nameFunction: __cove_fn } = __cove_boot;
         __cove_boot.setSteps = (count) => { __cove_n = count; };
         __cove_boot.steps = () => __cove_n;",
        "cove:boot.js",
    )?;
    globals.remove("__cove_boot")?;

    let known = Rc::clone(state);
    let answer = Function::new(ctx.clone(), move |ctx: Ctx<'js>, value: rquickjs::function::Opt<Value<'js>>| {
        final_answer(&ctx, &known, value.0)
    })?
    .with_name("final_answer")?;
    raw::freeze(&answer)?;
    raw::define(&globals, "final_answer", &answer.into_value(), false, false, false)
}

/// Replaces `Promise.prototype.then` and `queueMicrotask` by versions whose callbacks rest once the run is over.
pub(crate) fn guard_promises<'js>(ctx: &Ctx<'js>, kit: &Object<'js>) -> rquickjs::Result<()> {
    let promise: Object<'js> = ctx.globals().get("Promise")?;
    let prototype: Object<'js> = promise.get("prototype")?;
    let over: Array<'js> = kit.get("over")?;
    let then: Function<'js> = prototype.get("then")?;
    raw::define(&prototype, "then", &raw::guarded_then(ctx, &then, &over)?, true, false, true)?;
    let queue: Function<'js> = ctx.globals().get("queueMicrotask")?;
    raw::define(&ctx.globals(), "queueMicrotask", &raw::guarded_queue(ctx, &queue, &over)?, true, false, true)
}

/// The first answer wins; nothing after it counts.
fn final_answer<'js>(ctx: &Ctx<'js>, state: &State, value: Option<Value<'js>>) -> rquickjs::Result<()> {
    if !state.is_over() {
        state.over.set(Over::Answered);
        let value = value.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let answer = outcome::value_of(ctx, state, &value);
        *state.answer.borrow_mut() = Some(answer);
    }
    let kit = state.kit.borrow().clone().ok_or(rquickjs::Error::Unknown)?.restore(ctx)?;
    let over: Array<'js> = kit.get("over")?;
    over.set(0, true)?;
    let used = steps_used(ctx, state);
    state.steps.used.set(used);
    state.steps.lap.set(GRACE_STEPS);
    kit.get::<_, Function<'js>>("setSteps")?.call::<_, ()>((GRACE_STEPS,))?;
    Err(ctx.throw(over.get(1)?))
}

/// Called by a loop's guard when the lap is used up.
fn stop(ctx: &Ctx<'_>, state: &State) -> rquickjs::Result<()> {
    if state.over.get() == Over::No {
        let steps = &state.steps;
        steps.used.set(steps.used.get() + steps.lap.get());
        let next = steps.left.get().map_or(LAP, |left| left.min(LAP));
        if next > 0 {
            steps.lap.set(next);
            steps.left.set(steps.left.get().map(|left| left - next));
            // This very step is the first of the new lap.
            return state.kit(ctx, "setSteps")?.call((next - 1,));
        }
        steps.lap.set(0);
    }
    // A loop after `final_answer` is over, too: it ends the run, whose answer is known already.
    if state.over.get() == Over::No {
        state.over.set(Over::Steps);
    }
    raw::forbid_calls(ctx);
    Err(raw::throw_uncatchable(ctx, "the run is over"))
}

/// Counts one step for what is no loop of the guest's and could still go on for ever. `false`: it was the last one.
pub(crate) fn count_step(ctx: &Ctx<'_>, state: &State) -> bool {
    if !state.guards.get() {
        return true;
    }
    let counted = (|| {
        let left: f64 = state.kit(ctx, "steps")?.call(())?;
        if left >= 1.0 { state.kit(ctx, "setSteps")?.call((left - 1.0,)) } else { stop(ctx, state) }
    })();
    if counted.is_err() {
        ctx.catch();
    }
    !state.is_stopped()
}

/// Fills the counter for a new run.
pub(crate) fn start_steps(ctx: &Ctx<'_>, state: &State, limit: Option<u64>) -> rquickjs::Result<()> {
    let first = limit.map_or(LAP, |limit| limit.min(LAP));
    state.steps.limit.set(limit.unwrap_or(u64::MAX));
    state.steps.left.set(limit.map(|limit| limit - first));
    state.steps.used.set(0);
    state.steps.lap.set(first);
    state.kit(ctx, "setSteps")?.call((first,))
}

/// Loop iterations made so far.
pub(crate) fn steps_used(ctx: &Ctx<'_>, state: &State) -> u64 {
    let steps = &state.steps;
    if !state.guards.get() || state.over.get() == Over::Steps {
        return if state.guards.get() { steps.limit.get().min(steps.used.get()) } else { 0 };
    }
    let left = state.kit(ctx, "steps").and_then(|steps| steps.call::<_, f64>(())).unwrap_or(0.0).max(0.0);
    steps.used.get() + steps.lap.get().saturating_sub(left as u64)
}
