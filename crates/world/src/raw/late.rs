//! Globals that are loaded when they are first read: a pair of native functions in the place of a value.

use std::ffi::c_int;

use rquickjs::{Function, Object, Value, qjs};

use super::freeze;

/// Defines a global whose value `touch(index)` gives. To code it is like any other global: it can be read, shadowed by
/// an assignment, defined anew and deleted.
pub(crate) fn define_late<'js>(
    globals: &Object<'js>,
    name: &str,
    index: usize,
    touch: &Function<'js>,
) -> rquickjs::Result<()> {
    let ctx = globals.ctx();
    let raw = ctx.as_raw().as_ptr();
    let index = c_int::try_from(index).map_err(|_| rquickjs::Error::Unknown)?;
    // SAFETY: the two functions hold their own references to what is in the arrays; each value made here is owned by a
    // `Value`, and `JS_DefinePropertyGetSet` takes over references that are made for it; the atom is freed.
    let (done, pair) = unsafe {
        let atom = qjs::JS_NewAtomLen(raw, name.as_ptr().cast(), name.len() as qjs::size_t);
        let mut kept = [touch.as_raw()];
        let getter = qjs::JS_NewCFunctionData2(raw, Some(get), c"".as_ptr(), 0, index, 1, kept.as_mut_ptr());
        let key = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(raw, atom));
        let mut known = [key.as_raw()];
        let setter = qjs::JS_NewCFunctionData2(raw, Some(set), c"".as_ptr(), 1, 0, 1, known.as_mut_ptr());
        let pair = [getter, setter].map(|made| Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw, made)));
        let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_THROW) as c_int;
        let done = qjs::JS_DefinePropertyGetSet(raw, globals.as_raw(), atom, getter, setter, flags);
        qjs::JS_FreeAtom(raw, atom);
        (done, pair)
    };
    if done < 0 {
        return Err(rquickjs::Error::Exception);
    }
    pair.into_iter().filter_map(Value::into_object).try_for_each(|function| freeze(&function))
}

unsafe extern "C" fn get(
    ctx: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _argc: c_int,
    _argv: *mut qjs::JSValue,
    index: c_int,
    kept: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes the one function that was stored; a number needs no freeing.
    unsafe {
        let mut args = [qjs::JS_MKVAL(qjs::JS_TAG_INT, index)];
        qjs::JS_Call(ctx, *kept, qjs::JS_UNDEFINED, 1, args.as_mut_ptr())
    }
}

unsafe extern "C" fn set(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    _magic: c_int,
    known: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes the key that was stored and `argc` arguments; the value that is handed on is duplicated
    // first, the atom and the global object are freed.
    unsafe {
        let value = if argc > 0 { *argv } else { qjs::JS_UNDEFINED };
        let globals = qjs::JS_GetGlobalObject(ctx);
        // Of the global object itself it stays hidden, as it was; whoever inherits from it gets an ordinary property.
        let is_global = !qjs::JS_IsObject(this) || qjs::JS_IsStrictEqual(ctx, this, globals);
        let (home, enumerable) = if is_global { (globals, 0) } else { (this, qjs::JS_PROP_ENUMERABLE) };
        let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE | enumerable | qjs::JS_PROP_THROW;
        let atom = qjs::JS_ValueToAtom(ctx, *known);
        let done = qjs::JS_DefinePropertyValue(ctx, home, atom, qjs::JS_DupValue(ctx, value), flags as c_int);
        qjs::JS_FreeAtom(ctx, atom);
        qjs::JS_FreeValue(ctx, globals);
        if done < 0 { qjs::JS_EXCEPTION } else { qjs::JS_UNDEFINED }
    }
}
