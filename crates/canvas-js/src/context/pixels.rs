//! Reading and writing pixels; the prelude wraps these in `ImageData`.

use std::rc::Rc;

use cove_canvas::{ColorSpace, ImageDataRef};
use rquickjs::{ArrayBuffer, Class, Ctx, Object, Result, Value};

use crate::SharedCanvas;
use crate::bytes::with_bytes;
use crate::call::{Call, function};
use crate::class::JsContext;
use crate::raise::{lift, type_error};

/// `long` with `[EnforceRange]`.
pub(crate) fn long(c: &Call<'_, '_>, index: usize) -> Result<i32> {
    let value = c.number(index)?.trunc();
    if value.is_finite() && value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX) {
        return Ok(value as i32);
    }
    Err(type_error(c.ctx(), "the value is outside the range of a long"))
}

fn canvas_arg<'js>(c: &Call<'_, 'js>) -> Result<SharedCanvas> {
    let context =
        Class::<JsContext<'js>>::from_value(&c.arg(0)).map_err(|_| type_error(c.ctx(), "Illegal invocation"))?;
    Ok(Rc::clone(&context.borrow().canvas))
}

/// The colour space named at an index, or the canvas's own.
fn space(c: &Call<'_, '_>, index: usize) -> Result<Option<ColorSpace>> {
    if !c.has(index) {
        return Ok(None);
    }
    let name = c.text(index)?;
    match ColorSpace::parse(&name) {
        Some(space) => Ok(Some(space)),
        None => Err(type_error(c.ctx(), "the provided value is not a valid PredefinedColorSpace")),
    }
}

/// `readPixels(context, x, y, w, h, space)`: `[width, height, space, ArrayBuffer]`.
fn read<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = canvas_arg(c)?;
    let (x, y, w, h) = (long(c, 1)?, long(c, 2)?, long(c, 3)?, long(c, 4)?);
    let space = space(c, 5)?;
    let data = lift(c.ctx(), canvas.borrow_mut().context().get_image_data(x, y, w, h, space))?;
    let list = rquickjs::Array::new(c.ctx().clone())?;
    list.set(0, data.width)?;
    list.set(1, data.height)?;
    list.set(2, data.space.name())?;
    list.set(3, ArrayBuffer::new(c.ctx().clone(), data.data)?)?;
    Ok(list.into_value())
}

/// `writePixels(context, data, width, height, space, dx, dy[, x, y, w, h])`.
fn write<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = canvas_arg(c)?;
    let (width, height) = (long(c, 2)?.unsigned_abs(), long(c, 3)?.unsigned_abs());
    let space = space(c, 4)?.unwrap_or_default();
    let (dx, dy) = (long(c, 5)?, long(c, 6)?);
    let dirty = if c.len() > 7 { Some([long(c, 7)?, long(c, 8)?, long(c, 9)?, long(c, 10)?]) } else { None };
    with_bytes(c.ctx(), &c.arg(1), |data| {
        let view = ImageDataRef { width, height, space, data };
        canvas.borrow_mut().context().put_image_data(&view, dx, dy, dirty);
    })?;
    Ok(c.undefined())
}

/// `canvasSpace(context)`: the name of its colour space.
fn canvas_space<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = canvas_arg(c)?;
    let name = canvas.borrow_mut().context().color_space().name();
    c.js(name)
}

/// Defines the natives the prelude builds `ImageData` methods on.
pub(super) fn define<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("readPixels", function(ctx, "readPixels", 5, read)?)?;
    natives.set("writePixels", function(ctx, "writePixels", 7, write)?)?;
    natives.set("canvasSpace", function(ctx, "canvasSpace", 1, canvas_space)?)
}
