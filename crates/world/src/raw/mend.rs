//! The override mistake, mended: an inherited property that is frozen must not forbid an own one of the same name.
//!
//! `Object.freeze(Error.prototype)` alone would make `error.message = "…"` throw. So a data property of a shared
//! prototype becomes a pair of native functions: the getter returns the value, the setter defines an own property on
//! whoever is assigned to. Native, because a getter in JavaScript costs half as much again on every method call.

use std::ffi::c_int;

use rquickjs::{Object, Value, qjs};

use super::Slot;

/// Turns one data property of `home` into the pair; returns getter and setter.
pub(crate) fn mend<'js>(home: &Object<'js>, slot: &Slot<'js>) -> rquickjs::Result<Option<(Value<'js>, Value<'js>)>> {
    let Some(value) = &slot.value else { return Ok(None) };
    let ctx = home.ctx();
    let raw = ctx.as_raw().as_ptr();
    let name = c"";
    let enumerable = if slot.enumerable { qjs::JS_PROP_ENUMERABLE } else { 0 };
    // SAFETY: the two functions hold their own references to what is in the arrays; `JS_DefinePropertyGetSet` takes
    // ownership of both functions; the atom is freed here.
    let (done, pair) = unsafe {
        let mut kept = [value.as_raw()];
        let getter = qjs::JS_NewCFunctionData2(raw, Some(get), name.as_ptr(), 0, 0, 1, kept.as_mut_ptr());
        let mut known = [home.as_raw(), slot.key.as_raw()];
        let setter = qjs::JS_NewCFunctionData2(raw, Some(set), name.as_ptr(), 1, 0, 2, known.as_mut_ptr());
        let pair = [getter, setter].map(|made| Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw, made)));
        let atom = qjs::JS_ValueToAtom(raw, slot.key.as_raw());
        let flags = (enumerable | qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_THROW) as i32;
        let done = qjs::JS_DefinePropertyGetSet(raw, home.as_raw(), atom, getter, setter, flags);
        qjs::JS_FreeAtom(raw, atom);
        (done, pair)
    };
    let [getter, setter] = pair;
    if done < 0 { Err(rquickjs::Error::Exception) } else { Ok(Some((getter, setter))) }
}

unsafe extern "C" fn get(
    ctx: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _argc: c_int,
    _argv: *mut qjs::JSValue,
    _magic: c_int,
    kept: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes the one value that `mend` stored.
    unsafe { qjs::JS_DupValue(ctx, *kept) }
}

unsafe extern "C" fn set(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    _magic: c_int,
    known: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes the two values that `mend` stored and `argc` arguments; every value that is handed on
    // to a function that takes ownership is duplicated first, and the atom is freed.
    unsafe {
        let home = *known;
        let key = *known.add(1);
        let value = if argc > 0 { *argv } else { qjs::JS_UNDEFINED };
        if !qjs::JS_IsObject(this) || qjs::JS_IsStrictEqual(ctx, this, home) {
            // A symbol is named by what it describes.
            let named = if qjs::JS_IsSymbol(key) {
                qjs::JS_GetPropertyStr(ctx, key, c"description".as_ptr())
            } else {
                qjs::JS_DupValue(ctx, key)
            };
            let shown = qjs::JS_ToCString(ctx, named);
            qjs::JS_FreeValue(ctx, named);
            if shown.is_null() {
                return qjs::JS_EXCEPTION;
            }
            let thrown = qjs::JS_ThrowTypeError(ctx, c"'%s' is read-only".as_ptr(), shown);
            qjs::JS_FreeCString(ctx, shown);
            return thrown;
        }
        let atom = qjs::JS_ValueToAtom(ctx, key);
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        let own = qjs::JS_GetOwnProperty(ctx, &mut found, this, atom);
        let done = if own < 0 {
            -1
        } else if own > 0 {
            for value in [found.value, found.getter, found.setter] {
                qjs::JS_FreeValue(ctx, value);
            }
            // Reached through `Reflect.set`, `super.x = …` or a proxy that forwards: only the value changes, and not by
            // another assignment, which would come back here.
            let undefined = qjs::JS_UNDEFINED;
            let flags = (qjs::JS_PROP_HAS_VALUE | qjs::JS_PROP_THROW) as i32;
            qjs::JS_DefineProperty(ctx, this, atom, value, undefined, undefined, flags)
        } else {
            let flags = (qjs::JS_PROP_C_W_E | qjs::JS_PROP_THROW) as i32;
            qjs::JS_DefinePropertyValue(ctx, this, atom, qjs::JS_DupValue(ctx, value), flags)
        };
        qjs::JS_FreeAtom(ctx, atom);
        if done < 0 { qjs::JS_EXCEPTION } else { qjs::JS_UNDEFINED }
    }
}
