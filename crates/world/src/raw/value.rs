//! Reading values without running guest code, and making the few values that the safe binding cannot make.

use std::ptr::NonNull;

use rquickjs::{Ctx, Object, Value, qjs};

/// The text of a string value, lone surrogates replaced; `None` for anything that is not a string.
pub(crate) fn text(value: &Value<'_>) -> Option<String> {
    // SAFETY: the tag is read from a live value.
    if !unsafe { qjs::JS_IsString(value.as_raw()) } {
        return None;
    }
    let ctx = value.ctx().as_raw().as_ptr();
    let mut length: qjs::size_t = 0;
    // SAFETY: the value is a string, so no conversion runs; null means out of memory. The bytes are copied before they
    // are given back.
    let bytes = unsafe {
        let pointer = qjs::JS_ToCStringLen2(ctx, &mut length, value.as_raw(), false);
        if pointer.is_null() {
            // The engine has an exception pending now; it is not ours to leave behind.
            qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx));
            return None;
        }
        let bytes = std::slice::from_raw_parts(pointer.cast::<u8>(), length as usize).to_vec();
        qjs::JS_FreeCString(ctx, pointer);
        bytes
    };
    Some(String::from_utf8(bytes).unwrap_or_else(|error| without_surrogates(error.as_bytes())))
}

/// The engine writes a lone surrogate as the three bytes `ED A0..BF xx`, which is not UTF-8.
fn without_surrogates(bytes: &[u8]) -> String {
    let mut fixed = bytes.to_vec();
    let mut at = 0;
    while at + 2 < fixed.len() {
        if fixed[at] == 0xED && fixed[at + 1] >= 0xA0 {
            fixed[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
            at += 2;
        }
        at += 1;
    }
    String::from_utf8_lossy(&fixed).into_owned()
}

/// The engine's own name for what kind of object this is (`Map`, `Proxy`, `Error`, …), which no property can forge.
pub(crate) fn brand(value: &Value<'_>) -> Option<String> {
    // The engine itself calls a proxy an `Object`; whoever takes it for one runs its traps.
    if value.is_proxy() {
        return Some("Proxy".to_owned());
    }
    let ctx = value.ctx();
    // SAFETY: the class of a live value; the atom is owned here and freed after its text was taken.
    unsafe {
        let class = qjs::JS_GetClassID(value.as_raw());
        if class == qjs::JS_INVALID_CLASS_ID as qjs::JSClassID {
            return None;
        }
        let raw = ctx.as_raw().as_ptr();
        let atom = qjs::JS_GetClassName(qjs::JS_GetRuntime(raw), class);
        let name = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(raw, atom));
        qjs::JS_FreeAtom(raw, atom);
        text(&name)
    }
}

/// The number of an object's class.
pub(crate) fn class_id(value: &Value<'_>) -> u32 {
    // SAFETY: reads the class of a live value.
    unsafe { qjs::JS_GetClassID(value.as_raw()) }
}

/// An `Error` without a stack: the engine adds one where it is first thrown, which is at the guest's `await`.
pub(crate) fn bare_error<'js>(ctx: &Ctx<'js>, error_class: u32) -> rquickjs::Result<Object<'js>> {
    // SAFETY: the class id comes from a live error of this runtime; the new value is owned by the returned object.
    let value = unsafe { Value::from_raw(ctx.clone(), qjs::JS_NewObjectClass(ctx.as_raw().as_ptr(), error_class)) };
    if value.is_exception() {
        return Err(rquickjs::Error::Exception);
    }
    Object::from_value(value)
}

/// The target of a proxy; `Some(None)` when it was revoked, `None` when the value is no proxy.
pub(crate) fn proxy_target<'js>(value: &Value<'js>) -> Option<Option<Value<'js>>> {
    if !value.is_proxy() {
        return None;
    }
    let ctx = value.ctx();
    // SAFETY: the value is a proxy; the target comes back owned, or an exception is pending, which is cleared.
    let target = unsafe {
        let target = qjs::JS_GetProxyTarget(ctx.as_raw().as_ptr(), value.as_raw());
        Value::from_raw(ctx.clone(), target)
    };
    if target.is_exception() {
        ctx.catch();
        return Some(None);
    }
    Some(Some(target).filter(|target| target.is_object()))
}

/// State and result of a promise (`pending`, `fulfilled`, `rejected`), without asking any of its methods.
pub(crate) fn promise_parts<'js>(value: &Value<'js>) -> Option<(&'static str, Value<'js>)> {
    if !value.is_promise() {
        return None;
    }
    let ctx = value.ctx();
    // SAFETY: the value is a promise; its result comes back owned.
    let (state, result) = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let state = qjs::JS_PromiseState(raw, value.as_raw());
        (state, Value::from_raw(ctx.clone(), qjs::JS_PromiseResult(raw, value.as_raw())))
    };
    let name = match state {
        qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => "fulfilled",
        qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => "rejected",
        _ => "pending",
    };
    Some((name, result))
}

/// The bytes of a `Uint8Array`, copied; `None` for anything else.
pub(crate) fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    let ctx = value.ctx();
    let mut length: qjs::size_t = 0;
    // SAFETY: null when the value is no `Uint8Array` or is detached; otherwise the bytes live as long as the value and
    // nothing runs before they are copied.
    unsafe {
        let pointer = qjs::JS_GetUint8Array(ctx.as_raw().as_ptr(), &mut length, value.as_raw());
        if pointer.is_null() {
            ctx.catch();
            return None;
        }
        Some(std::slice::from_raw_parts(pointer, length as usize).to_vec())
    }
}

/// A new `Uint8Array` with these bytes.
pub(crate) fn uint8_array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the engine copies the bytes; the new value is owned by what is returned.
    let value = unsafe {
        let raw = qjs::JS_NewUint8ArrayCopy(ctx.as_raw().as_ptr(), bytes.as_ptr(), bytes.len() as qjs::size_t);
        Value::from_raw(ctx.clone(), raw)
    };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}

/// `JSON.stringify` as the engine has it inside: no global is asked. `Ok(None)` where there is no JSON form
/// (`undefined`, a function, a symbol); `Err` when something threw.
pub(crate) fn json_text(value: &Value<'_>) -> rquickjs::Result<Option<String>> {
    let ctx = value.ctx();
    // SAFETY: the value is live; the new value is owned here. Guest code may run (`toJSON`, getters), as it may in any
    // call.
    let written = unsafe {
        let raw = qjs::JS_JSONStringify(ctx.as_raw().as_ptr(), value.as_raw(), qjs::JS_UNDEFINED, qjs::JS_UNDEFINED);
        Value::from_raw(ctx.clone(), raw)
    };
    if written.is_exception() {
        return Err(rquickjs::Error::Exception);
    }
    if written.is_undefined() {
        return Ok(None);
    }
    text(&written).map(Some).ok_or(rquickjs::Error::Allocation)
}

/// The file name of the guest's nearest function on the stack.
pub(crate) fn caller_file(ctx: &Ctx<'_>) -> Option<String> {
    let raw = ctx.as_raw().as_ptr();
    for level in 0..16 {
        // SAFETY: walks at most `level` frames and stops at the last; the atom is owned here.
        let name = unsafe {
            let atom = qjs::JS_GetScriptOrModuleName(raw, level);
            if atom == qjs::JS_ATOM_NULL as qjs::JSAtom {
                continue;
            }
            let name = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(raw, atom));
            qjs::JS_FreeAtom(raw, atom);
            name
        };
        // Functions of our own between the guest's and this one do not count.
        match text(&name) {
            Some(name) if name.starts_with("cove:") => {}
            name => return name,
        }
    }
    None
}

/// Puts the next cycle collection off until the heap has grown by `bytes`: a collection touches every object, and in
/// a forked child every touched page is a copied page.
pub(crate) fn gc_rarely(ctx: &Ctx<'_>, bytes: usize) {
    // SAFETY: sets one number of the runtime.
    unsafe { qjs::JS_SetGCThreshold(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), bytes as qjs::size_t) }
}

/// Collects cycles now.
pub(crate) fn collect(ctx: &Ctx<'_>) {
    // SAFETY: native functions may ask for a collection at any time; what they hold is counted.
    unsafe { qjs::JS_RunGC(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

/// Sees to it that cycles are collected before memory runs out: the engine waits until its heap has grown by half,
/// which may lie beyond the limit.
pub(crate) struct Collector(NonNull<qjs::JSRuntime>);

impl Collector {
    pub(crate) fn of(ctx: &Ctx<'_>) -> Option<Self> {
        // SAFETY: a live context has a runtime.
        NonNull::new(unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) }).map(Self)
    }

    /// Called now and then while code runs, by the interrupt handler that this very runtime owns.
    pub(crate) fn collect_in_time(&self, used: usize, limit: usize) {
        let latest = (limit / 8 * 7).max(used.saturating_add(limit / 32));
        // SAFETY: the handler is dropped with the runtime, so the runtime is alive; one number of it is read and set.
        unsafe {
            let runtime = self.0.as_ptr();
            if qjs::JS_GetGCThreshold(runtime) as usize > latest {
                qjs::JS_SetGCThreshold(runtime, latest as qjs::size_t);
            }
        }
    }
}
