//! Pictures: `ImageBitmap`, `Image`, decoding, fonts from bytes, and what `drawImage` accepts.

use std::sync::Arc;

use cove_canvas::{ColorSpace, FontBytes, ImageBitmap, ImageDataRef};
use rquickjs::{Class, Ctx, Object, Result, Value};

use crate::call::{Body, Call, attributes, coerced_text, function, methods};
use crate::class::{JsBitmap, JsCanvas, JsImage};
use crate::raise::{dom, lift, lift_pixels, type_error};
use crate::{bytes, realm};

/// An image argument.
pub(crate) enum Source {
    /// Pixels to draw.
    Ready(ImageBitmap),
    /// An image that has none yet: drawing it does nothing.
    NotYet,
}

/// The state of an `Image`.
pub(crate) enum ImageState {
    /// No source, or an empty one.
    Empty,
    /// Decoded.
    Ready(ImageBitmap),
    /// Could not be decoded or fetched.
    Broken,
}

/// The image behind an argument: a canvas, a bitmap or an `Image`.
pub(crate) fn source<'js>(c: &Call<'_, 'js>, index: usize) -> Result<Source> {
    let value = c.arg(index);
    let ctx = c.ctx();
    let Some(object) = value.as_object() else {
        return Err(type_error(ctx, "the provided value is not an image"));
    };
    if let Some(canvas) = object.as_class::<JsCanvas<'js>>() {
        let canvas = canvas.borrow();
        let canvas = canvas.canvas.borrow();
        if canvas.width() == 0 || canvas.height() == 0 {
            return Err(dom(ctx, "InvalidStateError", "the image argument is a canvas with a width or height of 0"));
        }
        return Ok(Source::Ready(lift_pixels(ctx, || canvas.snapshot())?));
    }
    if let Some(bitmap) = object.as_class::<JsBitmap>() {
        return match &bitmap.borrow().0 {
            Some(image) => Ok(Source::Ready(image.clone())),
            None => Err(dom(ctx, "InvalidStateError", "the image source is detached")),
        };
    }
    if let Some(image) = object.as_class::<JsImage>() {
        return match &image.borrow().0 {
            ImageState::Ready(image) => Ok(Source::Ready(image.clone())),
            ImageState::Empty => Ok(Source::NotYet),
            ImageState::Broken => Err(dom(ctx, "InvalidStateError", "the image argument is in the 'broken' state")),
        };
    }
    Err(type_error(ctx, "the provided value is not an image"))
}

fn new_image<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    Ok(Class::instance(c.ctx().clone(), JsImage(ImageState::Empty))?.into_value())
}

fn image_arg<'js>(c: &Call<'_, 'js>) -> Result<Class<'js, JsImage>> {
    Class::from_value(&c.arg(0)).map_err(|_| type_error(c.ctx(), "Illegal invocation"))
}

/// `imageLoad(image, bytes | base64 | null)`: decodes; says whether that worked. `null` empties the image.
fn image_load<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    use base64::Engine as _;
    let image = image_arg(c)?;
    if c.arg(1).is_null() {
        image.borrow_mut().0 = ImageState::Empty;
        return c.js(true);
    }
    let bytes = if c.arg(1).is_string() {
        let text: String = c.text(1)?.split_whitespace().collect();
        let engine = base64::engine::GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            base64::engine::GeneralPurposeConfig::new()
                .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
        );
        engine.decode(text).unwrap_or_default()
    } else if c.has(1) {
        bytes::copy(c.ctx(), &c.arg(1))?
    } else {
        Vec::new()
    };
    let limits = realm::host(c.ctx())?.limits();
    let state = match ImageBitmap::decode(&bytes, &limits) {
        Ok(bitmap) => ImageState::Ready(bitmap),
        Err(_) => ImageState::Broken,
    };
    let worked = matches!(state, ImageState::Ready(_));
    image.borrow_mut().0 = state;
    c.js(worked)
}

/// `imageSize(image)`: `[width, height]`, zero without pixels.
fn image_size<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let image = image_arg(c)?;
    let size = match &image.borrow().0 {
        ImageState::Ready(bitmap) => vec![bitmap.width(), bitmap.height()],
        _ => vec![0, 0],
    };
    c.js(size)
}

/// `decodeBitmap(bytes)`: a new `ImageBitmap`.
fn decode_bitmap<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let bytes = bytes::copy(c.ctx(), &c.arg(0))?;
    let limits = realm::host(c.ctx())?.limits();
    match ImageBitmap::decode(&bytes, &limits) {
        Ok(bitmap) => Ok(Class::instance(c.ctx().clone(), JsBitmap(Some(bitmap)))?.into_value()),
        Err(_) => Err(dom(c.ctx(), "InvalidStateError", "the source image could not be decoded")),
    }
}

/// `bitmapOf(source)`: a new `ImageBitmap` of a canvas, bitmap or image.
fn bitmap_of<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    match source(c, 0)? {
        Source::Ready(image) => Ok(Class::instance(c.ctx().clone(), JsBitmap(Some(image)))?.into_value()),
        Source::NotYet => Err(dom(c.ctx(), "InvalidStateError", "the image has no pixels yet")),
    }
}

/// `bitmapOfPixels(data, width, height, space)`.
fn bitmap_of_pixels<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let (width, height) = (c.number(1)? as u32, c.number(2)? as u32);
    let space = ColorSpace::parse(&c.text(3)?).unwrap_or_default();
    let bytes = bytes::copy(c.ctx(), &c.arg(0))?;
    let limits = realm::host(c.ctx())?.limits();
    let view = ImageDataRef { width, height, space, data: &bytes };
    let bitmap = lift_pixels(c.ctx(), || ImageBitmap::from_image_data(&view, &limits))?;
    Ok(Class::instance(c.ctx().clone(), JsBitmap(Some(bitmap)))?.into_value())
}

fn bitmap_arg<'js>(c: &Call<'_, 'js>) -> Result<ImageBitmap> {
    let bitmap = Class::<JsBitmap>::from_value(&c.arg(0)).map_err(|_| type_error(c.ctx(), "Illegal invocation"))?;
    let image = bitmap.borrow().0.clone();
    image.ok_or_else(|| dom(c.ctx(), "InvalidStateError", "the image source is detached"))
}

/// `bitmapCrop(bitmap, x, y, w, h, flip, outWidth, outHeight, quality)`: a new bitmap; a size of 0 keeps the crop's.
fn bitmap_crop<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let image = bitmap_arg(c)?;
    let at = |i: usize| c.number(i).map(|v| v as i32);
    let (x, y, w, h) = (at(1)?, at(2)?, at(3)?, at(4)?);
    let host = realm::host(c.ctx())?;
    let limits = host.limits();
    let (width, height) = (w.unsigned_abs(), h.unsigned_abs());
    let (x, y) = (if w < 0 { x.saturating_add(w) } else { x }, if h < 0 { y.saturating_add(h) } else { y });
    let mut out = lift(c.ctx(), image.cropped(x, y, width, height, &limits))?;
    let (want_w, want_h) = (at(6)?.unsigned_abs(), at(7)?.unsigned_abs());
    if want_w > 0 && want_h > 0 && (want_w, want_h) != (width, height) {
        let mut canvas = lift_pixels(c.ctx(), || cove_canvas::Canvas::new(want_w, want_h, &limits))?;
        canvas.context().set_image_smoothing_quality(&c.text(8)?);
        canvas.context().set_image_smoothing_enabled(c.text(8)? != "pixelated");
        let size = (f64::from(want_w), f64::from(want_h));
        lift(c.ctx(), canvas.context().draw_image_scaled(&out, 0.0, 0.0, size.0, size.1))?;
        out = lift(c.ctx(), canvas.snapshot())?;
    }
    if c.truth(5)? {
        out = lift(c.ctx(), out.flipped())?;
    }
    Ok(Class::instance(c.ctx().clone(), JsBitmap(Some(out)))?.into_value())
}

fn bitmap_close<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.this::<JsBitmap>()?.borrow_mut().0 = None;
    Ok(c.undefined())
}

/// `addFont(family, bytes)`.
fn add_font<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let family = coerced_text(c.ctx(), c.arg(0))?;
    let bytes: FontBytes = Arc::new(bytes::copy(c.ctx(), &c.arg(1))?);
    let fonts = realm::host(c.ctx())?.fonts();
    lift(c.ctx(), fonts.add_as(Some(&family), &bytes))?;
    Ok(c.undefined())
}

fn has_font<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let family = coerced_text(c.ctx(), c.arg(0))?;
    let fonts = realm::host(c.ctx())?.fonts();
    c.js(fonts.has_family(&family.to_lowercase()))
}

/// Defines the natives of pictures and fonts.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    let list: &[(&str, Body)] = &[
        ("newImage", new_image),
        ("imageLoad", image_load),
        ("imageSize", image_size),
        ("decodeBitmap", decode_bitmap),
        ("bitmapOf", bitmap_of),
        ("bitmapOfPixels", bitmap_of_pixels),
        ("bitmapCrop", bitmap_crop),
        ("addFont", add_font),
        ("hasFont", has_font),
    ];
    for (name, body) in list {
        natives.set(*name, function(ctx, name, 1, *body)?)?;
    }
    if let Some(proto) = Class::<JsBitmap>::prototype(ctx)? {
        attributes(
            &proto,
            &[
                ("width", |c| c.js(c.this::<JsBitmap>()?.borrow().0.as_ref().map_or(0, ImageBitmap::width)), None),
                ("height", |c| c.js(c.this::<JsBitmap>()?.borrow().0.as_ref().map_or(0, ImageBitmap::height)), None),
            ],
        )?;
        methods(&proto, &[("close", 0, bitmap_close)])?;
        natives.set("bitmapPrototype", proto)?;
    }
    if let Some(proto) = Class::<JsImage>::prototype(ctx)? {
        natives.set("imagePrototype", proto)?;
    }
    Ok(())
}
