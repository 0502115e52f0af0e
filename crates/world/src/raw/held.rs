//! A Rust value inside of a JavaScript object that guest code never sees: it goes when the object does.

use rquickjs::class::{JsClass, Trace, Tracer, Writable};
use rquickjs::function::Constructor;
use rquickjs::{Ctx, JsLifetime, Result};

/// The value.
pub(crate) struct Held<T: 'static>(pub(crate) T);

// SAFETY: the value outlives every lifetime of the engine's, so it holds nothing of the engine's and every one is right.
unsafe impl<'js, T: 'static> JsLifetime<'js> for Held<T> {
    type Changed<'to> = Held<T>;
}

impl<'js, T: 'static> Trace<'js> for Held<T> {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js, T: 'static> JsClass<'js> for Held<T> {
    const NAME: &'static str = "Held";
    type Mutable = Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
