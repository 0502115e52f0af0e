//! Looking at the bytes of a script's buffer.
#![allow(unsafe_code)]

use rquickjs::{ArrayBuffer, Ctx, Result, Value};

use crate::raise::type_error;

/// Runs `f` on the bytes of a buffer or a view of one. `f` must not call into the engine.
pub(crate) fn with_bytes<'js, R>(ctx: &Ctx<'js>, value: &Value<'js>, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let refuse = || type_error(ctx, "the provided value is not an ArrayBuffer or a view of one");
    let object = value.as_object().ok_or_else(refuse)?;
    let (buffer, window) = match ArrayBuffer::from_object(object.clone()) {
        Some(buffer) => (buffer, None),
        None => {
            let buffer: Value<'js> = object.get("buffer")?;
            let buffer = buffer.into_object().and_then(ArrayBuffer::from_object).ok_or_else(refuse)?;
            (buffer, Some((object.get::<_, usize>("byteOffset")?, object.get::<_, usize>("byteLength")?)))
        }
    };
    let raw = buffer.as_raw().ok_or_else(refuse)?;
    // SAFETY: the pointer is valid until JavaScript runs again. Everything that could run a script was asked before
    // this line, and `f` is native code of this crate that does not enter the engine.
    let all: &[u8] = unsafe { raw.as_ref() };
    let part = match window {
        Some((offset, length)) => all.get(offset..offset.saturating_add(length)).ok_or_else(refuse)?,
        None => all,
    };
    Ok(f(part))
}

/// A copy of the bytes of a buffer or a view of one.
pub(crate) fn copy<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    with_bytes(ctx, value, <[u8]>::to_vec)
}
