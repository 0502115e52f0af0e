//! The plain attributes: numbers, words, and the transformation.

use cove_canvas::Context2d;
use rquickjs::{Object, Result, Value};

use super::{draw, shared};
use crate::call::{Call, attributes, coerced_text, methods, number};
use crate::class::JsContext;
use crate::matrix::{matrix_arg, to_list};
use crate::path::sequence;
use crate::raise::type_error;

fn get_number<'js>(c: &Call<'_, 'js>, f: impl FnOnce(&Context2d) -> f64) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let value = f(canvas.borrow_mut().context());
    Ok(Value::new_number(c.ctx().clone(), value))
}

fn set_number<'js>(c: &Call<'_, 'js>, f: impl FnOnce(&mut Context2d, f64)) -> Result<Value<'js>> {
    let value = c.number(0)?;
    draw(c, |x| f(x, value))
}

fn get_text<'js>(c: &Call<'_, 'js>, f: impl FnOnce(&Context2d) -> String) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let value = f(canvas.borrow_mut().context());
    c.js(value)
}

fn set_text<'js>(c: &Call<'_, 'js>, f: impl FnOnce(&mut Context2d, &str)) -> Result<Value<'js>> {
    let value = coerced_text(c.ctx(), c.arg(0))?;
    draw(c, |x| f(x, &value))
}

fn canvas<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    Ok(c.this::<JsContext<'js>>()?.borrow().owner.clone().into_value())
}

fn get_line_dash<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let dash = canvas.borrow_mut().context().line_dash().to_vec();
    c.js(dash)
}

fn set_line_dash<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(1)?;
    let list = c.arg(0).into_object().ok_or_else(|| type_error(c.ctx(), "the provided value is not a sequence"))?;
    let values = sequence(c.ctx(), &list)?.into_iter().map(|v| number(c.ctx(), v)).collect::<Result<Vec<_>>>()?;
    draw(c, |x| x.set_line_dash(&values))
}

fn set_transform<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    if c.len() <= 1 {
        if c.len() == 1 && !c.arg(0).is_object() && !c.arg(0).is_undefined() && !c.arg(0).is_null() {
            return Err(type_error(c.ctx(), "the provided value is not of type 'DOMMatrix2DInit'"));
        }
        let matrix = matrix_arg(c.ctx(), &c.arg(0))?;
        return draw(c, |x| x.set_transform_matrix(&matrix));
    }
    let [a, b, d, e, f, g] = c.numbers()?;
    draw(c, |x| x.set_transform(a, b, d, e, f, g))
}

/// The matrix as a list; the prelude makes a `DOMMatrix` of it.
fn transform_list<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let matrix = canvas.borrow_mut().context().get_transform();
    to_list(c.ctx(), &matrix)
}

fn context_attributes<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let canvas = shared(c)?;
    let mut canvas = canvas.borrow_mut();
    let context = canvas.context();
    let object = Object::new(c.ctx().clone())?;
    object.set("alpha", context.has_alpha())?;
    object.set("colorSpace", context.color_space().name())?;
    object.set("colorType", "unorm8")?;
    object.set("desynchronized", false)?;
    object.set("willReadFrequently", false)?;
    Ok(object.into_value())
}

fn is_lost<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    shared(c)?;
    c.js(false)
}

macro_rules! numbers {
    ($($name:literal, $get:expr, $set:expr;)*) => {
        &[$(($name, |c| get_number(c, $get), Some(|c| set_number(c, $set)))),*]
    };
}

macro_rules! words {
    ($($name:literal, $get:ident, $set:ident;)*) => {
        &[$(($name, |c| get_text(c, |x| x.$get().to_string()), Some(|c| set_text(c, |x, v| x.$set(v))))),*]
    };
}

/// Defines the attributes and the transformation.
pub(super) fn define(proto: &Object<'_>) -> Result<()> {
    attributes(
        proto,
        numbers! {
            "globalAlpha", |x| x.global_alpha(), |x, v| x.set_global_alpha(v);
            "lineWidth", |x| x.line_width(), |x, v| x.set_line_width(v);
            "miterLimit", |x| x.miter_limit(), |x, v| x.set_miter_limit(v);
            "lineDashOffset", |x| x.line_dash_offset(), |x, v| x.set_line_dash_offset(v);
            "shadowBlur", |x| x.shadow_blur(), |x, v| x.set_shadow_blur(v);
            "shadowOffsetX", |x| x.shadow_offset().0, |x, v| x.set_shadow_offset_x(v);
            "shadowOffsetY", |x| x.shadow_offset().1, |x, v| x.set_shadow_offset_y(v);
        },
    )?;
    attributes(
        proto,
        words! {
            "globalCompositeOperation", global_composite_operation, set_global_composite_operation;
            "lineCap", line_cap, set_line_cap;
            "lineJoin", line_join, set_line_join;
            "shadowColor", shadow_color, set_shadow_color;
            "imageSmoothingQuality", image_smoothing_quality, set_image_smoothing_quality;
            "filter", filter, set_filter;
            "font", font, set_font;
            "textAlign", text_align, set_text_align;
            "textBaseline", text_baseline, set_text_baseline;
            "direction", direction, set_direction;
            "fontKerning", font_kerning, set_font_kerning;
            "fontStretch", font_stretch, set_font_stretch;
            "fontVariantCaps", font_variant_caps, set_font_variant_caps;
            "textRendering", text_rendering, set_text_rendering;
            "letterSpacing", letter_spacing, set_letter_spacing;
            "wordSpacing", word_spacing, set_word_spacing;
            "lang", lang, set_lang;
        },
    )?;
    attributes(
        proto,
        &[
            ("canvas", canvas, None),
            (
                "imageSmoothingEnabled",
                |c| {
                    let canvas = shared(c)?;
                    let value = canvas.borrow_mut().context().image_smoothing_enabled();
                    c.js(value)
                },
                Some(|c| {
                    let value = c.truth(0)?;
                    draw(c, |x| x.set_image_smoothing_enabled(value))
                }),
            ),
        ],
    )?;
    methods(
        proto,
        &[
            ("save", 0, |c| draw(c, Context2d::save)),
            ("restore", 0, |c| draw(c, Context2d::restore)),
            ("reset", 0, |c| draw(c, Context2d::reset)),
            ("getLineDash", 0, get_line_dash),
            ("setLineDash", 1, set_line_dash),
            ("scale", 2, |c| {
                let [a, b] = c.numbers()?;
                draw(c, |x| x.scale(a, b))
            }),
            ("rotate", 1, |c| {
                let [a] = c.numbers()?;
                draw(c, |x| x.rotate(a))
            }),
            ("translate", 2, |c| {
                let [a, b] = c.numbers()?;
                draw(c, |x| x.translate(a, b))
            }),
            ("transform", 6, |c| {
                let [a, b, d, e, f, g] = c.numbers()?;
                draw(c, |x| x.transform(a, b, d, e, f, g))
            }),
            ("setTransform", 0, set_transform),
            ("resetTransform", 0, |c| draw(c, Context2d::reset_transform)),
            ("getTransform", 0, transform_list),
            ("getContextAttributes", 0, context_attributes),
            ("isContextLost", 0, is_lost),
        ],
    )
}
