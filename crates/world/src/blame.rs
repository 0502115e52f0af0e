//! From an exception to a fault: its kind by marks that only this crate can set, its sentence without running the
//! guest's code, its place in the user's own text.

use cove_core::{Fault, FaultKind, NetworkCause, NoJson, Position, beginning_bytes};
use cove_script::Call;
use rquickjs::{Ctx, IntoJs, Value};

use crate::raw;
use crate::sources::SourcePlace;
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
    let mut fault = with_cause(Fault::new(kind, message), thrown);
    if kind == FaultKind::Tool
        && let Some(code) = thrown.as_object().and_then(|error| raw::own_data(error, "toolCode"))
        && let Some(code) = raw::text(&code).filter(|code| code.len() <= MAX_TOOL_CODE_BYTES)
    {
        fault = fault.with("toolCode", code);
    }
    let mut own_member = None;
    if let Some(stack) = call(ctx, state, "stackOf", thrown)
        && let Some(mut place) = state.sources.borrow().first_place(&stack)
    {
        if kind == FaultKind::Exception
            && let Some(why) = fault.message.strip_prefix("TypeError: ")
            && let Some((clear, position)) = clearer(why, &stack, &place)
        {
            fault.message = format!("TypeError: {clear}");
            place.position = position;
        }
        if kind == FaultKind::Exception
            && let Some(name) = read_only(&fault.message)
            && let Some(position) = place.assignment(name)
        {
            place.position = position;
        }
        if kind == FaultKind::Exception
            && FROZEN.iter().any(|said| fault.message.contains(said))
            && let Some(what) = place.built_in_changed()
        {
            let said = &fault.message;
            fault.message =
                format!("{said}: built-ins are frozen in this engine; to change {what}, use engine \"browser\"");
            fault.needs_browser = true;
        }
        if kind == FaultKind::Exception
            && fault.message == NOT_ITERABLE
            && let Some(position) = place.iterated()
        {
            place.position = position;
        }
        if kind == FaultKind::Exception {
            own_member = place.own_member_hint(&fault.message);
        }
        fault.position = Some(place.position);
        fault.frame = Some(place.frame(&short(&fault.message)));
    }
    if kind == FaultKind::Exception {
        let error_type = call(ctx, state, "errorType", thrown);
        let hint = cove_script::hint(error_type.as_deref(), &fault.message);
        fault.hint = fault.hint.or(own_member).or(hint);
    }
    fault
}

/// How many errors are looked at, each the `cause` of the one before.
const MAX_CAUSES: usize = 4;

/// Adds what an error of Cove's is about. Its own fields say it, and they are found again where guest code has thrown an
/// error of its own because of it. A guest can write such fields itself; all it gets by that is other advice, or a
/// second try in Chrome.
fn with_cause<'js>(mut fault: Fault, thrown: &Value<'js>) -> Fault {
    let mut next = Some(thrown.clone());
    for _ in 0..MAX_CAUSES {
        let Some(value) = next.take() else { break };
        let Some(error) = value.as_object() else { break };
        let field = |name| raw::own_data(error, name).as_ref().and_then(raw::text);
        if let (Some(code), Some(module)) = (field("code"), field("module"))
            && MODULE_CODES.contains(&code.as_str())
        {
            fault = fault.with("module", module);
        }
        if let Some(cause) = field("network").as_deref().and_then(NetworkCause::from_name) {
            fault = fault.by_network(cause);
        }
        fault.needs_browser |= field("engine").as_deref() == Some("browser");
        next = raw::own_data(error, "cause");
    }
    fault
}

/// The codes of errors that name a `module`; the last is Node's, for `require`.
const MODULE_CODES: [&str; 3] = [IMPORT_NOT_ALLOWED, MODULE_NOT_FOUND, "MODULE_NOT_FOUND"];

/// The code of an `import()` that the policy refuses.
pub(crate) const IMPORT_NOT_ALLOWED: &str = "ERR_IMPORT_NOT_ALLOWED";

/// The code of an `import()` of a module that has no text.
pub(crate) const MODULE_NOT_FOUND: &str = "ERR_MODULE_NOT_FOUND";

/// Why a value has no JSON form, by the engine's own words.
pub(crate) fn no_json(said: &str) -> NoJson {
    if said.contains("BigInt are forbidden in JSON") {
        NoJson::BigInt
    } else if said.contains("circular reference") {
        NoJson::Cycle
    } else {
        NoJson::Other
    }
}

/// The engine says only that something is no function; the text says what was called.
fn clearer(why: &str, stack: &str, place: &SourcePlace) -> Option<(String, Position)> {
    // A rejected promise may have got its words already; its place is still to be found.
    if !UNCLEAR.contains(&why) && !UNCLEAR.iter().any(|unclear| why.ends_with(unclear)) {
        return None;
    }
    let Call { callee, position, constructs } = place.call()?;
    // A built-in function was called, and has called what it was given.
    if stack.lines().next().is_some_and(|line| line.ends_with("(native)")) {
        let what = UNCLEAR.iter().find(|unclear| why.ends_with(*unclear))?;
        return Some((format!("an argument of {callee} is {what}"), position));
    }
    let what = if constructs { "constructor" } else { "function" };
    let clear = format!("{callee} is not a {what}");
    (UNCLEAR.contains(&why) || clear == why).then_some((clear, position))
}

/// The name of the `const` that was assigned.
fn read_only(message: &str) -> Option<&str> {
    message.strip_prefix("TypeError: '")?.strip_suffix("' is read-only")
}

/// What the engine says of a value that cannot be iterated.
const NOT_ITERABLE: &str = "TypeError: value is not iterable";

/// A guest may write over the code of a tool's error.
const MAX_TOOL_CODE_BYTES: usize = 64;

/// What the engine says of a change to something that is frozen.
const FROZEN: &[&str] =
    &["object is not extensible", "is read-only", "could not delete property", "property is not configurable"];

/// What the engine says of any call that fails.
const UNCLEAR: &[&str] = &["not a function", "not a constructor"];

/// Gives a caught error the words that an uncaught one would get.
pub(crate) fn clarify<'js>(ctx: &Ctx<'js>, state: &State, thrown: &Value<'js>) {
    let Some(error) = thrown.as_object() else { return };
    let Some(why) = raw::own_data(error, "message").as_ref().and_then(raw::text) else { return };
    if !UNCLEAR.contains(&why.as_str()) || raw::brand(thrown).as_deref() != Some("Error") {
        return;
    }
    let Some(stack) = call(ctx, state, "stackOf", thrown) else { return };
    let Some(place) = state.sources.borrow().first_place(&stack) else { return };
    if let Some((clear, _)) = clearer(&why, &stack, &place)
        && let Ok(message) = clear.into_js(ctx)
    {
        // Where the guest has frozen it, it stays as it was.
        drop(raw::define(error, "message", &message, true, false, true));
    }
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
    let (beginning, is_cut) = beginning_bytes(line, MOST);
    format!("{beginning}{}", if is_cut { "..." } else { "" })
}
