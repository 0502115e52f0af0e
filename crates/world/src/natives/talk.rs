//! Talking to the host: console lines, tool calls, timers.

use std::rc::Rc;

use cove_core::{LogLevel, LogLine, beginning_bytes};
use rquickjs::{Ctx, Exception, IntoJs, Object, Value};

use super::{put, string};
use crate::port::{Event, ToolFailure};
use crate::raw;
use crate::state::{Over, State};

/// Tool calls that may be under way at once: ten times what is promised, and not enough to drown the host.
const MAX_CALLS: usize = 10_000;

/// Console levels by the number the prelude uses.
const LEVELS: [LogLevel; 5] = [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error];

pub(super) fn install<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    console(natives, state)?;
    timers(natives, state)?;
    tools(natives, state)
}

fn console<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    put(natives, "hears", move |level: usize| -> bool {
        !known.is_over() && LEVELS.get(level).is_some_and(|level| known.hears(*level))
    })?;
    let known = Rc::clone(state);
    put(natives, "log", move |level: usize, text: Value<'js>| -> rquickjs::Result<()> {
        let Some(level) = LEVELS.get(level).copied().filter(|level| !known.is_over() && known.hears(*level)) else {
            return Ok(());
        };
        known.say(level, string(&text)?);
        Ok(())
    })
}

impl State {
    /// Hands a line to the host, cut where the session's whole log would end anyway.
    pub(crate) fn say(&self, level: LogLevel, mut text: String) {
        let most = usize::try_from(self.limits.get().max_log_bytes).unwrap_or(usize::MAX);
        if let (beginning, true) = beginning_bytes(&text, most) {
            text = format!("{beginning}...");
        }
        self.port.with(|port| port.log(&LogLine { level, text }));
    }
}

fn timers<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    put(natives, "timerSet", move |ctx: Ctx<'js>, id: f64, wait_ms: f64, repeat: bool| -> rquickjs::Result<()> {
        if known.timers.borrow_mut().set(id, wait_ms, repeat) {
            return Ok(());
        }
        Err(Exception::throw_range(&ctx, "there are too many timers"))
    })?;
    let known = Rc::clone(state);
    put(natives, "timerClear", move |id: f64| known.timers.borrow_mut().clear(id))
}

fn tools<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    put(natives, "callTool", move |ctx: Ctx<'js>, name: String, args: Value<'js>| -> rquickjs::Result<f64> {
        let id = known.call_tool(&ctx, &name, &args)?;
        known.waiting_calls.borrow_mut().insert(id);
        Ok(id as f64)
    })?;
    let known = Rc::clone(state);
    put(
        natives,
        "callToolAndWait",
        move |ctx: Ctx<'js>, name: String, args: Value<'js>| -> rquickjs::Result<Value<'js>> {
            let id = known.call_tool(&ctx, &name, &args)?;
            match known.wait_for(&ctx, id)? {
                Ok(text) => vec![text].into_js(&ctx),
                Err(ToolFailure { message, code }) => {
                    let undefined = Value::new_undefined(ctx.clone());
                    vec![undefined, message.into_js(&ctx)?, code.into_js(&ctx)?].into_js(&ctx)
                }
            }
        },
    )?;
    let known = Rc::clone(state);
    put(natives, "mayFetch", move || known.network.get())
}

impl State {
    fn call_tool(&self, ctx: &Ctx<'_>, name: &str, args: &Value<'_>) -> rquickjs::Result<u64> {
        if self.is_over() {
            return Err(Exception::throw_message(ctx, &format!("the run is over: {name} cannot be called any more")));
        }
        if self.waiting_calls.borrow().len() >= MAX_CALLS {
            let message = format!("{MAX_CALLS} tool calls are under way; await some of them first");
            return Err(Exception::throw_range(ctx, &message));
        }
        let args = string(args)?;
        let id = self.last_call.get() + 1;
        self.last_call.set(id);
        match self.port.with(|port| port.call_tool(id, name, &args)) {
            Some(()) => Ok(id),
            None => Err(Exception::throw_message(ctx, &format!("{name} can only be called while code runs"))),
        }
    }

    /// Stands still until this one call is answered; what comes for others is kept.
    fn wait_for(&self, ctx: &Ctx<'_>, wanted: u64) -> rquickjs::Result<Result<String, ToolFailure>> {
        loop {
            match self.port.with(|port| port.wait(None)) {
                Some(Event::ToolAnswer { id, result }) if id == wanted => return Ok(result),
                Some(Event::ToolAnswer { id, result }) => self.early.borrow_mut().push_back((id, result)),
                Some(Event::Elapsed) => {}
                Some(Event::Closed) | None => {
                    self.over.set(Over::Closed);
                    raw::forbid_calls(ctx);
                    return Err(raw::throw_uncatchable(ctx, "the host is gone"));
                }
            }
        }
    }
}
