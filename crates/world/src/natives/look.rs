//! Looking at values without touching them: what printing and blaming need.

use std::rc::Rc;

use rquickjs::{Ctx, IntoJs, Object, Value};

use super::{put, string};
use crate::raw;
use crate::state::State;

pub(super) fn install<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    put(natives, "brand", |value: Value<'js>| raw::brand(&value))?;
    put(natives, "functionKind", |value: Value<'js>| -> String {
        let brand = raw::brand(&value).unwrap_or_default();
        if brand.ends_with("Function") && brand != "RustFunction" { brand } else { "Function".to_owned() }
    })?;
    put(natives, "proxyTarget", |ctx: Ctx<'js>, value: Value<'js>| -> Value<'js> {
        raw::proxy_target(&value).flatten().unwrap_or_else(|| Value::new_null(ctx))
    })?;
    put(natives, "promiseParts", |ctx: Ctx<'js>, value: Value<'js>| -> rquickjs::Result<Value<'js>> {
        match raw::promise_parts(&value) {
            Some((state, result)) => vec![state.into_js(&ctx)?, result].into_js(&ctx),
            None => Ok(Value::new_undefined(ctx)),
        }
    })?;
    let known = Rc::clone(state);
    put(natives, "isIntrinsic", move |value: Value<'js>| -> bool {
        value.as_object().is_some_and(|object| known.intrinsics.borrow().binary_search(&raw::address(object)).is_ok())
    })?;
    let known = Rc::clone(state);
    put(natives, "userFrames", move |stack: Value<'js>| -> rquickjs::Result<String> {
        Ok(known.sources.borrow().user_frames(&string(&stack)?))
    })?;
    Ok(())
}
