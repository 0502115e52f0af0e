//! Evaluating a text that may have any character in it, the one of number zero too, which the safe binding refuses.

use std::ffi::CString;

use rquickjs::{Ctx, Value, qjs};

/// Evaluates a strict script of this name.
pub(crate) fn evaluate<'js>(ctx: &Ctx<'js>, code: &str, file: &str) -> rquickjs::Result<Value<'js>> {
    let file = CString::new(file)?;
    let mut text = Vec::with_capacity(code.len() + 1);
    text.extend_from_slice(code.as_bytes());
    text.push(0);
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_STRICT;
    // SAFETY: the text is as long as is said and ends with a zero behind it; the value is owned by what is returned.
    let value = unsafe {
        let (context, length) = (ctx.as_raw().as_ptr(), code.len());
        let made = qjs::JS_Eval(context, text.as_ptr().cast(), length as _, file.as_ptr(), flags as _);
        Value::from_raw(ctx.clone(), made)
    };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}
