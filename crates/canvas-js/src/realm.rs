//! What is kept per realm: the host, and the few intrinsics that natives call, taken before a guest can change them.

use std::cell::Cell;
use std::rc::Rc;

use cove_canvas::MemoryBudget;
use rquickjs::{Ctx, Result, Value};

use crate::CanvasHost;
use crate::class::Realm;

/// Where a realm without `DOMException` gets one from.
const DOM_EXCEPTION: &str = "class DOMException extends Error { \
    #name; constructor(message = '', name = 'Error') { super(message); this.#name = `${name}`; } \
    get name() { return this.#name; } get code() { return { IndexSizeError: 1, NotSupportedError: 9, \
    InvalidStateError: 11, SyntaxError: 12, TypeMismatchError: 17, SecurityError: 18 }[this.#name] ?? 0; } }; DOMException";

/// Stores what natives need.
pub(crate) fn store<'js>(ctx: &Ctx<'js>, host: Rc<dyn CanvasHost>) -> Result<()> {
    let globals = ctx.globals();
    let mut dom_exception: Value<'js> = globals.get("DOMException")?;
    if dom_exception.is_undefined() {
        dom_exception = ctx.eval(format!("(() => {{ {DOM_EXCEPTION_BODY} }})()", DOM_EXCEPTION_BODY = body()))?;
        globals.set("DOMException", dom_exception.clone())?;
    }
    let well_formed = ctx.eval("((f) => (s) => f.call(s))(String.prototype.toWellFormed)")?;
    let realm = Realm { host, dom_exception, well_formed, kept_bytes: Cell::new(0) };
    if ctx.store_userdata(realm).is_err() {
        return Err(rquickjs::Exception::throw_internal(ctx, "the canvas is being installed twice"));
    }
    Ok(())
}

fn body() -> String {
    DOM_EXCEPTION.replace("; DOMException", "; return DOMException")
}

/// Runs `f` with the realm's shared things.
pub(crate) fn with<'js, R>(ctx: &Ctx<'js>, f: impl FnOnce(&Realm<'js>) -> R) -> Result<R> {
    match ctx.userdata::<Realm<'js>>() {
        Some(realm) => Ok(f(&realm)),
        None => Err(rquickjs::Exception::throw_internal(ctx, "the canvas is not installed in this realm")),
    }
}

/// The host of the realm.
pub(crate) fn host(ctx: &Ctx<'_>) -> Result<Rc<dyn CanvasHost>> {
    with(ctx, |realm| Rc::clone(&realm.host))
}

/// Looks for canvases that nothing holds any more, once half of the budget is used and an eighth since the last look:
/// a drawing that needs a layer should not fail for the sake of what was dropped.
pub(crate) fn collect_if_crowded(ctx: &Ctx<'_>, budget: &MemoryBudget) -> Result<()> {
    let (used, limit) = (budget.used_bytes(), budget.limit_bytes());
    let kept = with(ctx, |realm| realm.kept_bytes.get())?;
    if used > limit / 2 && used > kept.saturating_add(limit / 8) {
        ctx.run_gc();
        with(ctx, |realm| realm.kept_bytes.set(budget.used_bytes()))?;
    }
    Ok(())
}
