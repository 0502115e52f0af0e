//! `OffscreenCanvas`: size, context, export.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use cove_canvas::{Canvas, CanvasError, ColorSpace, ContextSettings, ImageFormat};
use rquickjs::{Class, Ctx, Object, Result, TypedArray, Value};

use crate::call::{Call, attributes, function, methods};
use crate::class::{JsBitmap, JsCanvas, JsContext};
use crate::raise::{lift, lift_pixels, type_error};
use crate::{SharedCanvas, realm};

/// A new canvas object, as `getCanvas` gives it.
pub fn new_canvas<'js>(ctx: &Ctx<'js>, width: u32, height: u32) -> Result<Object<'js>> {
    let host = realm::host(ctx)?;
    let (limits, fonts) = (host.limits(), host.fonts());
    realm::collect_if_crowded(ctx, &limits.budget)?;
    let canvas = lift_pixels(ctx, || Canvas::with_fonts(width, height, &limits, &fonts))?;
    let data = JsCanvas { canvas: Rc::new(RefCell::new(canvas)), context: None };
    Ok(Class::instance(ctx.clone(), data)?.into_inner())
}

/// The canvas behind a JavaScript value, if it is one: for export by the host.
pub fn canvas_of(value: &Value<'_>) -> Option<SharedCanvas> {
    let object = value.as_object()?;
    let class = object.as_class::<JsCanvas<'_>>()?;
    Some(Rc::clone(&class.borrow().canvas))
}

/// A size as WebIDL's `unsigned long long` with `[EnforceRange]`.
fn side(c: &Call<'_, '_>, index: usize) -> Result<u32> {
    let value = c.number(index)?;
    if !value.is_finite() || value.trunc() < 0.0 || value > 9_007_199_254_740_991.0 {
        return Err(type_error(c.ctx(), "the value is outside the range of a canvas size"));
    }
    Ok(value.trunc().min(f64::from(u32::MAX)) as u32)
}

fn construct<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(2)?;
    let (width, height) = (side(c, 0)?, side(c, 1)?);
    Ok(new_canvas(c.ctx(), width, height)?.into_value())
}

fn shared<'js>(c: &Call<'_, 'js>) -> Result<SharedCanvas> {
    Ok(Rc::clone(&c.this::<JsCanvas<'js>>()?.borrow().canvas))
}

fn width<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.js(shared(c)?.borrow().width())
}

fn height<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.js(shared(c)?.borrow().height())
}

/// A size as WebIDL's `unsigned long`: any number, wrapped.
fn wrapped_side(c: &Call<'_, '_>) -> Result<u32> {
    let value = c.number(0)?.trunc();
    Ok(if value.is_finite() { value.rem_euclid(4_294_967_296.0) as u32 } else { 0 })
}

fn set_width<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let width = wrapped_side(c)?;
    let height = canvas.borrow().height();
    lift_pixels(c.ctx(), || canvas.borrow_mut().resize(width, height))?;
    Ok(c.undefined())
}

fn set_height<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let height = wrapped_side(c)?;
    let width = canvas.borrow().width();
    lift_pixels(c.ctx(), || canvas.borrow_mut().resize(width, height))?;
    Ok(c.undefined())
}

/// `getContext(kind, settings)`: the 2D context, always the same one; `null` for other kinds.
fn get_context<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(1)?;
    let this = c.this::<JsCanvas<'js>>()?;
    if c.text(0)? != "2d" {
        return Ok(Value::new_null(c.ctx().clone()));
    }
    if let Some(context) = &this.borrow().context {
        return Ok(context.clone().into_value());
    }
    let settings = settings(c)?;
    let canvas = Rc::clone(&this.borrow().canvas);
    lift(c.ctx(), canvas.borrow_mut().configure(settings))?;
    let owner = this.as_value().clone().into_object().ok_or_else(|| type_error(c.ctx(), "Illegal invocation"))?;
    let context = Class::instance(c.ctx().clone(), JsContext { canvas, owner, styles: Vec::new() })?.into_inner();
    this.borrow_mut().context = Some(context.clone());
    Ok(context.into_value())
}

fn settings(c: &Call<'_, '_>) -> Result<ContextSettings> {
    let mut settings = ContextSettings::default();
    let Some(object) = c.arg(1).into_object() else { return Ok(settings) };
    let alpha: Value<'_> = object.get("alpha")?;
    settings.alpha = alpha.as_bool().unwrap_or(true);
    let space: Value<'_> = object.get("colorSpace")?;
    if !space.is_undefined() {
        let name = crate::call::coerced_text(c.ctx(), space)?;
        settings.color_space = ColorSpace::parse(&name)
            .ok_or_else(|| type_error(c.ctx(), "the provided value is not a valid PredefinedColorSpace"))?;
    }
    let kind: Value<'_> = object.get("colorType")?;
    if !kind.is_undefined() && crate::call::coerced_text(c.ctx(), kind)? == "float16" {
        // Colours beyond sRGB survive in eight bits of the wider space.
        settings.color_space = ColorSpace::DisplayP3;
    }
    Ok(settings)
}

fn format(c: &Call<'_, '_>, at: usize) -> Result<ImageFormat> {
    let mime = if c.has(at) { c.text(at)? } else { String::new() };
    let quality = c.arg(at + 1).as_number();
    Ok(ImageFormat::from_mime(&mime, quality))
}

fn to_data_url<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let format = format(c, 0)?;
    let canvas = canvas.borrow();
    if canvas.width() == 0 || canvas.height() == 0 {
        return c.js("data:,");
    }
    let bytes = lift(c.ctx(), canvas.encode(format))?;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    c.js(format!("data:{};base64,{text}", format.mime()))
}

/// The encoded picture as `[mime, Uint8Array]`, or `null` when there are no pixels.
fn to_bytes<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = canvas_of(&c.arg(0)).ok_or_else(|| type_error(c.ctx(), "Illegal invocation"))?;
    let format = format(c, 1)?;
    let canvas = canvas.borrow();
    if canvas.width() == 0 || canvas.height() == 0 {
        return Ok(Value::new_null(c.ctx().clone()));
    }
    let bytes = lift(c.ctx(), canvas.encode(format))?;
    let list = rquickjs::Array::new(c.ctx().clone())?;
    list.set(0, format.mime())?;
    list.set(1, TypedArray::new(c.ctx().clone(), bytes)?)?;
    Ok(list.into_value())
}

/// Takes the picture out of the canvas, which is left blank.
fn transfer<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let image = {
        let mut canvas = canvas.borrow_mut();
        if canvas.width() == 0 || canvas.height() == 0 {
            let fault = CanvasError::InvalidState("a canvas without pixels cannot be transferred".into());
            return lift(c.ctx(), Err(fault));
        }
        let image = lift_pixels(c.ctx(), || canvas.snapshot())?;
        lift(c.ctx(), canvas.clear_pixels())?;
        image
    };
    Ok(Class::instance(c.ctx().clone(), JsBitmap(Some(image)))?.into_value())
}

/// Puts the constructor's native and the prototype where the prelude finds them.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("newCanvas", function(ctx, "newCanvas", 2, construct)?)?;
    natives.set("canvasBytes", function(ctx, "canvasBytes", 1, to_bytes)?)?;
    if let Some(proto) = Class::<JsCanvas<'js>>::prototype(ctx)? {
        attributes(&proto, &[("width", width, Some(set_width)), ("height", height, Some(set_height))])?;
        methods(
            &proto,
            &[("getContext", 1, get_context), ("toDataURL", 0, to_data_url), ("transferToImageBitmap", 0, transfer)],
        )?;
        natives.set("canvasPrototype", proto)?;
    }
    Ok(())
}
