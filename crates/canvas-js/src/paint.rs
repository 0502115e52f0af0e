//! `CanvasGradient` and `CanvasPattern`.

use rquickjs::{Class, Ctx, Object, Result, Value};

use crate::call::{Call, coerced_text, methods};
use crate::class::{JsGradient, JsPattern};
use crate::matrix::matrix_arg;
use crate::raise::lift;

fn add_color_stop<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(2)?;
    let this = c.this::<JsGradient>()?;
    let offset = c.finite(0)?;
    let color = coerced_text(c.ctx(), c.arg(1))?;
    lift(c.ctx(), this.borrow().0.add_color_stop(offset, &color))?;
    Ok(c.undefined())
}

fn set_transform<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let this = c.this::<JsPattern>()?;
    let matrix = matrix_arg(c.ctx(), &c.arg(0))?;
    this.borrow().0.set_transform(&matrix);
    Ok(c.undefined())
}

/// Defines the prototypes.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    if let Some(proto) = Class::<JsGradient>::prototype(ctx)? {
        methods(&proto, &[("addColorStop", 2, add_color_stop)])?;
        natives.set("gradientPrototype", proto)?;
    }
    if let Some(proto) = Class::<JsPattern>::prototype(ctx)? {
        methods(&proto, &[("setTransform", 0, set_transform)])?;
        natives.set("patternPrototype", proto)?;
    }
    Ok(())
}
