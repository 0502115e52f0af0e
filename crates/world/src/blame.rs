//! From an exception to a fault: its kind by marks that only this crate can set, its sentence without running the
//! guest's code, its place in the user's own text.

use cove_core::{Fault, FaultKind};
use rquickjs::{Ctx, Value};

use crate::raw;
use crate::state::{Over, State};

/// The fault of a run that was stopped, whatever exception carried the news.
pub(crate) fn stopped(state: &State) -> Fault {
    if state.gauge.refused() {
        return Fault::memory(state.limits.get().memory_bytes);
    }
    match state.over.get() {
        Over::Closed => Fault::new(FaultKind::EngineLost, "The host is gone"),
        _ => Fault::max_operations(state.steps.limit.get()),
    }
}

/// The fault of an uncaught exception.
pub(crate) fn fault_of<'js>(ctx: &Ctx<'js>, state: &State, thrown: &Value<'js>) -> Fault {
    if state.is_stopped() {
        return stopped(state);
    }
    let kind = match call(ctx, state, "kindOf", thrown).as_deref() {
        Some("tool") => FaultKind::Tool,
        Some("import") => FaultKind::ImportNotAllowed,
        Some("canvas") => FaultKind::CanvasNotAvailable,
        _ => FaultKind::Exception,
    };
    let mut message = sentence(ctx, state, thrown);
    if kind != FaultKind::Exception {
        // These kinds have sentences of their own; the name of the error class says nothing more.
        message = message.strip_prefix("Error: ").map_or(message.clone(), str::to_owned);
    }
    let mut fault = Fault::new(kind, message);
    if let Some(stack) = call(ctx, state, "stackOf", thrown)
        && let Some(place) = state.sources.borrow().first_place(&stack)
    {
        // The engine says only that it is none; the text says what was called.
        if kind == FaultKind::Exception
            && fault.message == "TypeError: not a function"
            && let Some(called) = place.expression()
        {
            fault.message = format!("TypeError: {called} is not a function");
        }
        fault.position = Some(place.position);
        fault.frame = Some(place.frame(&short(&fault.message)));
    }
    if kind == FaultKind::Exception {
        let error_type = call(ctx, state, "errorType", thrown);
        fault.hint = cove_script::hint(error_type.as_deref(), &fault.message, state.network.get());
    }
    fault
}

/// `{Type}: {message}`, or `Uncaught …` for what is no error.
pub(crate) fn sentence<'js>(ctx: &Ctx<'js>, state: &State, thrown: &Value<'js>) -> String {
    call(ctx, state, "sentence", thrown).unwrap_or_else(|| "Uncaught exception".to_owned())
}

/// Asks the kit about a value; an exception on the way is an answer that could not be given.
fn call<'js>(ctx: &Ctx<'js>, state: &State, name: &str, value: &Value<'js>) -> Option<String> {
    let answer = state.kit(ctx, name).and_then(|function| function.call::<_, Value<'js>>((value.clone(),)));
    match answer {
        Ok(text) => raw::text(&text),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// The label of a code frame: one line of it.
fn short(message: &str) -> String {
    const MOST: usize = 100;
    let line = message.lines().next().unwrap_or_default();
    if line.len() <= MOST { line.to_owned() } else { format!("{}...", &line[..line.floor_char_boundary(MOST)]) }
}
