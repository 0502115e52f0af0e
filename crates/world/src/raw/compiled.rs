//! Code that was compiled when this crate was built.

use rquickjs::{Ctx, Value, qjs};

/// Runs a script from its bytecode and gives its value.
///
/// Only for bytes that the build script has made: the engine believes what it reads there.
pub(crate) fn run_compiled<'js>(ctx: &Ctx<'js>, bytes: &'static [u8]) -> rquickjs::Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the bytes were written by the same engine from our own source, and are only read during the call.
    // `JS_EvalFunction` takes over what was read; an exception passes through it, and its result is ours.
    let value = unsafe {
        let read = qjs::JS_ReadObject(
            raw,
            bytes.as_ptr(),
            bytes.len() as qjs::size_t,
            qjs::JS_READ_OBJ_BYTECODE.cast_signed(),
        );
        if qjs::JS_IsException(read) { read } else { qjs::JS_EvalFunction(raw, read) }
    };
    // SAFETY: reads the tag of a live value.
    if unsafe { qjs::JS_IsException(value) } {
        return Err(rquickjs::Error::Exception);
    }
    // SAFETY: the value belongs to this context, and its one reference is handed over.
    Ok(unsafe { Value::from_raw(ctx.clone(), value) })
}
