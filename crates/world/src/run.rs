//! One run, from text to report: prepare, evaluate, wait for what the code waits for, take the value, clear away.

use cove_core::{Fault, FaultKind, Finished, LAST_VALUE, LogLevel, RunReport, RunRequest, RunShape, SessionFate};
use cove_script::{Mode, PrepareOptions, prepare};
use rquickjs::{Array, Ctx, Function, Value};

use crate::blame;
use crate::canvas;
use crate::natives::{count_step, start_steps, steps_used};
use crate::outcome;
use crate::port::{Event, ToolFailure};
use crate::raw;
use crate::sources::Sources;
use crate::state::{Over, State};

/// Jobs that may still run after the code has its value, so that promises which are settled already are heard.
const JOBS_AFTER_END: usize = 1000;

/// How many rejections that nobody handled are told.
const MAX_REJECTIONS: usize = 20;

/// Evaluates a script of our own making, or prepared code.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, code: &str, file: &str) -> rquickjs::Result<Value<'js>> {
    raw::evaluate(ctx, code, file)
}

/// Runs what was asked for; the port has been lent already.
pub(crate) fn run(ctx: &Ctx<'_>, state: &State, request: &RunRequest) -> RunReport {
    raw::enter_thread(ctx);
    tidy(ctx, state);
    begin(ctx, state, request);
    let mut result = attempt(ctx, state, request);
    if state.is_stopped() && !answered(state) {
        result = Err(blame::stopped(state));
    }
    // Calls may have been forbidden; our own are needed now, and no job of the guest's runs before they are thrown away.
    raw::allow_calls(ctx);
    let operations = steps_used(ctx, state);
    canvas::export(ctx, state, &mut result);
    finish(ctx, state, &mut result);
    // Once memory ran out, no state in this world can be trusted.
    let usable = !state.gauge.refused() && state.over.get() != Over::Closed;
    let mut report = RunReport::new(result, if usable { SessionFate::Usable } else { SessionFate::Lost });
    (report.usage.operations, report.usage.memory_bytes) = (operations, state.gauge.most() as u64);
    report.warnings = state.warnings.take();
    report
}

/// Does what a run does, for its own sake: every page that a small run writes to has been written to then.
pub(crate) fn rehearse(ctx: &Ctx<'_>, state: &State) {
    raw::enter_thread(ctx);
    let request = RunRequest::new("for (const n of [1, 2]) await n; return { n: [1] }");
    begin(ctx, state, &request);
    let mut result = attempt(ctx, state, &request);
    canvas::export(ctx, state, &mut result);
    // As if nothing had been run.
    *state.sources.borrow_mut() = Sources::default();
}

fn answered(state: &State) -> bool {
    state.over.get() == Over::Answered && !state.gauge.refused()
}

fn begin(ctx: &Ctx<'_>, state: &State, request: &RunRequest) {
    state.gauge.watch();
    state.warnings.take();
    state.over.set(Over::No);
    state.answer.borrow_mut().take();
    state.rejections.borrow_mut().clear();
    state.guards.set(request.shape == RunShape::Cell || request.max_operations.is_some());
    let flag = (|| {
        let kit = state.kit.borrow().clone().ok_or(rquickjs::Error::Unknown)?.restore(ctx)?;
        kit.get::<_, Array<'_>>("over")?.set(0, false)?;
        start_steps(ctx, state, request.max_operations)
    })();
    if flag.is_err() {
        ctx.catch();
    }
}

fn attempt(ctx: &Ctx<'_>, state: &State, request: &RunRequest) -> Result<Finished, Fault> {
    let cell = request.shape == RunShape::Cell;
    let file = state.sources.borrow_mut().next_name(cell);
    let prepared = {
        let tool_names = state.tool_names.borrow();
        let imports = state.imports.borrow();
        let options = PrepareOptions {
            mode: if cell { Mode::Cell } else { Mode::FunctionBody },
            guards: state.guards.get(),
            tool_names: tool_names.as_slice(),
            imports: Some(&imports),
            mark_calls: true,
            last_value: request.last_value,
            file_name: &file,
        };
        prepare(&request.code, &options).map_err(Fault::from)?
    };
    let takes_last = prepared.takes_last;
    // `RegExp.$1` and its kin: nothing of an earlier match is kept.
    let last_match = prepared.free_names.iter().find(|free| free.needed && free.name.starts_with("RegExp."));
    let last_match = last_match
        .map(|free| format!("`{}` is undefined in this engine; use what `match` or `exec` returned.", free.name));
    let draws = prepared.free_names.iter().any(|free| free.name == "getCanvas");
    let function = evaluate(ctx, &prepared.code, &file);
    state.sources.borrow_mut().keep(file, prepared);
    let promise = function.and_then(|function| {
        let function = Function::from_value(function)?;
        if cell {
            return function.call::<_, Value<'_>>(());
        }
        let input = set_input(ctx, state, request)?;
        if !draws {
            return function.call::<_, Value<'_>>((input,));
        }
        function.call::<_, Value<'_>>((input, state.kit(ctx, "getCanvas")?))
    });
    let promise = match promise {
        Ok(promise) => promise,
        Err(_) if answered(state) => {
            ctx.catch();
            return take_answer(state);
        }
        Err(error) => return Err(thrown(ctx, state, &error)),
    };
    settle(ctx, state, &promise)?;
    if answered(state) {
        return take_answer(state);
    }
    let Some((settled, value)) = raw::promise_parts(&promise) else {
        return Err(Fault::new(FaultKind::EngineLost, "The prepared code gave no promise"));
    };
    state.handled(&promise);
    if settled == "rejected" {
        return Err(blame::fault_of(ctx, state, &value));
    }
    if request.inspect {
        let shown = outcome::shown(ctx, state, &value)?;
        return Ok(Finished { shown: Some(shown), ..Finished::default() });
    }
    let json = outcome::value_of(ctx, state, &value)?;
    if answered(state) {
        return take_answer(state);
    }
    let mut warnings = outcome::lost(ctx, state, &value, cell);
    warnings.extend(last_match);
    if takes_last && !value.is_undefined() {
        warnings.push(LAST_VALUE.to_owned());
    }
    state.warnings.replace(warnings);
    Ok(Finished { value: json, ..Finished::default() })
}

fn take_answer(state: &State) -> Result<Finished, Fault> {
    let answer = state.answer.borrow_mut().take().unwrap_or(Ok(serde_json::Value::Null));
    answer.map(|value| Finished { value, is_final_answer: true, ..Finished::default() })
}

/// What a failed call into the engine means.
fn thrown(ctx: &Ctx<'_>, state: &State, error: &rquickjs::Error) -> Fault {
    if matches!(error, rquickjs::Error::Exception) {
        let value = ctx.catch();
        return blame::fault_of(ctx, state, &value);
    }
    if state.is_stopped() {
        return blame::stopped(state);
    }
    Fault::new(FaultKind::Syntax, format!("The code cannot be read: {error}"))
}

fn set_input<'js>(ctx: &Ctx<'js>, state: &State, request: &RunRequest) -> rquickjs::Result<Value<'js>> {
    let text = request.input.as_ref().map(ToString::to_string);
    let Some(text) = text else {
        return state.kit(ctx, "setInput")?.call((Value::new_undefined(ctx.clone()),));
    };
    state.kit(ctx, "setInput")?.call((text,))
}

/// Runs jobs, timers and tool answers until the promise is settled or the run is over.
fn settle<'js>(ctx: &Ctx<'js>, state: &State, promise: &Value<'js>) -> Result<(), Fault> {
    loop {
        let pending = || raw::promise_parts(promise).is_some_and(|(settled, _)| settled == "pending");
        while !state.is_stopped() && pending() && ctx.execute_pending_job() {}
        if state.is_stopped() {
            return Err(blame::stopped(state));
        }
        if !pending() || answered(state) {
            return Ok(());
        }
        let early = state.early.borrow_mut().pop_front();
        if let Some((id, answer)) = early {
            hear(ctx, state, id, answer);
            continue;
        }
        let (is_virtual, next) = {
            let timers = state.timers.borrow();
            (timers.are_virtual(), timers.next_in())
        };
        if is_virtual && let Some((id, answer)) = take_held(state) {
            settle_call(ctx, state, id, answer);
            continue;
        }
        let is_waiting = !state.waiting_calls.borrow().is_empty();
        // Virtual time stands still while the host is asked something: ticks that could be counted meanwhile would tell
        // how long the answer took.
        let due = if is_virtual && is_waiting { None } else { state.timers.borrow_mut().take_due() };
        if let Some(id) = due {
            // Where timers wait, the deadline ends an endless row of them. Here they cost nothing but steps.
            if is_virtual && !count_step(ctx, state) {
                return Err(blame::stopped(state));
            }
            call_kit(ctx, state, "fireTimer", (id,));
            continue;
        }
        if next.is_none() && !is_waiting {
            let message = "The code waits for something that never happens (a promise that nothing can settle)";
            let mut fault = Fault::new(FaultKind::Exception, message);
            fault.hint = Some("Look for a Promise whose resolve is never called, or an await on it.".to_owned());
            return Err(fault);
        }
        match state.port.with(|port| port.wait(next.filter(|_| !is_virtual))) {
            Some(Event::ToolAnswer { id, result }) => hear(ctx, state, id, result),
            Some(Event::Elapsed) => {}
            Some(Event::Closed) | None => {
                state.over.set(Over::Closed);
                return Err(blame::stopped(state));
            }
        }
    }
}

/// A tool has answered. In virtual time answers are heard in the order of the calls: which of two came first would tell
/// how long the guest's own work between them took.
fn hear(ctx: &Ctx<'_>, state: &State, id: u64, answer: Result<String, ToolFailure>) {
    if state.timers.borrow().are_virtual() {
        if state.waiting_calls.borrow().contains(&id) {
            state.held.borrow_mut().insert(id, answer);
        }
        return;
    }
    settle_call(ctx, state, id, answer);
}

/// The answer of the earliest call that has none yet, if it has come.
fn take_held(state: &State) -> Option<(u64, Result<String, ToolFailure>)> {
    let id = *state.waiting_calls.borrow().first()?;
    let answer = state.held.borrow_mut().remove(&id)?;
    Some((id, answer))
}

/// Settles the promise of a call, unless nobody waits for it any more.
fn settle_call(ctx: &Ctx<'_>, state: &State, id: u64, answer: Result<String, ToolFailure>) {
    if !state.waiting_calls.borrow_mut().remove(&id) {
        return;
    }
    /// What a parsed answer takes of the heap, compared with its text, in the worst case that is worth a try.
    const GROWTH: u64 = 3;
    let most = state.limits.get().memory_bytes / GROWTH;
    match answer {
        Ok(text) if text.len() as u64 > most => {
            let message = format!("the answer has {} bytes; this session's memory holds {most}", text.len());
            call_kit(ctx, state, "settleCall", (id as f64, None::<String>, message, None::<String>));
        }
        Ok(text) => call_kit(ctx, state, "settleCall", (id as f64, Some(text))),
        Err(ToolFailure { message, code }) => {
            call_kit(ctx, state, "settleCall", (id as f64, None::<String>, message, code));
        }
    }
}

/// Calls into the kit from the loop; what a guest's callback throws there is told on the console.
fn call_kit<'js>(ctx: &Ctx<'js>, state: &State, name: &str, args: impl rquickjs::function::IntoArgs<'js>) {
    let done = state.kit(ctx, name).and_then(|function| function.call::<_, Value<'js>>(args));
    if done.is_err() {
        let thrown = ctx.catch();
        if !state.is_over() {
            let sentence = blame::sentence(ctx, state, &thrown);
            state.say(LogLevel::Error, format!("Uncaught error in a callback: {sentence}"));
        }
    }
}

/// Ends the run: nothing that it has left may have an effect any more.
fn finish(ctx: &Ctx<'_>, state: &State, result: &mut Result<Finished, Fault>) {
    if !state.is_over() {
        let mut jobs = 0;
        while jobs < JOBS_AFTER_END && !state.is_over() && ctx.execute_pending_job() {
            jobs += 1;
        }
        if state.gauge.refused() {
            *result = Err(blame::stopped(state));
        }
        if result.is_ok() {
            tell_rejections(state);
        }
    }
    if state.over.get() == Over::No {
        // Late jobs may have no effects either.
        state.over.set(Over::Answered);
    }
    state.untidy.set(true);
}

/// Throws away what the last run has left: jobs, timers, calls. Before the next one, because most have no next one, and
/// its host waits for the report.
pub(crate) fn tidy(ctx: &Ctx<'_>, state: &State) {
    if !state.untidy.replace(false) {
        return;
    }
    raw::drain_jobs(ctx);
    state.timers.borrow_mut().clear_all();
    state.waiting_calls.borrow_mut().clear();
    state.early.borrow_mut().clear();
    state.held.borrow_mut().clear();
    if !state.gauge.refused() {
        for name in ["clearTimers", "forgetCalls", "forgetImports", "resetConsole"] {
            call_kit(ctx, state, name, ());
        }
    }
}

fn tell_rejections(state: &State) {
    let rejections = std::mem::take(&mut *state.rejections.borrow_mut());
    if !state.hears(LogLevel::Warn) {
        return;
    }
    for (_, sentence) in rejections.into_iter().take(MAX_REJECTIONS) {
        state.say(LogLevel::Warn, format!("Unhandled promise rejection: {sentence}"));
    }
}

impl State {
    /// A promise was rejected and nobody has taken notice yet.
    pub(crate) fn rejected<'js>(&self, ctx: &Ctx<'js>, promise: &Value<'js>, reason: &Value<'js>) {
        if self.is_over() || self.rejections.borrow().len() >= 1000 {
            return;
        }
        if let Some(object) = promise.as_object() {
            blame::clarify(ctx, self, reason);
            let sentence = blame::sentence(ctx, self, reason);
            self.rejections.borrow_mut().push((raw::address(object), sentence));
        }
    }

    /// Somebody has.
    pub(crate) fn handled(&self, promise: &Value<'_>) {
        if let Some(object) = promise.as_object() {
            let address = raw::address(object);
            self.rejections.borrow_mut().retain(|(known, _)| *known != address);
        }
    }
}
