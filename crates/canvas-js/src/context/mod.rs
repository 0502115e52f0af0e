//! `CanvasRenderingContext2D`: the natives that draw.

mod attributes;
mod draw;
mod paths;
mod pixels;
mod styles;

use std::rc::Rc;

use cove_canvas::{CanvasError, Context2d};
use rquickjs::{Class, Ctx, Object, Result, Value};

use crate::SharedCanvas;
use crate::call::Call;
use crate::class::JsContext;
use crate::raise::lift;

/// The canvas behind `this`.
fn shared<'js>(c: &Call<'_, 'js>) -> Result<SharedCanvas> {
    Ok(Rc::clone(&c.this::<JsContext<'js>>()?.borrow().canvas))
}

/// Runs a drawing call that cannot fail. Arguments are converted before, because that may run the script's code.
fn draw<'js>(c: &Call<'_, 'js>, f: impl FnOnce(&mut Context2d)) -> Result<Value<'js>> {
    let this = c.this::<JsContext<'js>>()?;
    f(this.borrow().canvas.borrow_mut().context());
    Ok(c.undefined())
}

/// Runs a drawing call that may throw.
fn attempt<'js, T>(
    c: &Call<'_, 'js>,
    f: impl FnOnce(&mut Context2d) -> std::result::Result<T, CanvasError>,
) -> Result<T> {
    let this = c.this::<JsContext<'js>>()?;
    let result = f(this.borrow().canvas.borrow_mut().context());
    lift(c.ctx(), result)
}

/// Defines everything on the prototype.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    if let Some(proto) = Class::<JsContext<'js>>::prototype(ctx)? {
        attributes::define(&proto)?;
        styles::define(&proto)?;
        paths::define(&proto)?;
        draw::define(&proto)?;
        pixels::define(ctx, natives)?;
        natives.set("contextPrototype", proto)?;
    }
    Ok(())
}
