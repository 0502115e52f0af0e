//! `fillStyle`, `strokeStyle`, gradients and patterns.
//!
//! A getter gives back the very object that was set, so the context holds on to the objects in use; those that no
//! saved state refers to any more are let go when the next one is set.

use cove_canvas::{Context2d, Style, StyleValue};
use rquickjs::{Class, Object, Result, Value};

use super::{attempt, draw};
use crate::call::{Call, attributes, coerced_text, methods};
use crate::class::{JsContext, JsGradient, JsPattern};
use crate::picture::{Source, source};
use crate::raise::lift;

type Setter = fn(&mut Context2d, Style);
type TextSetter = fn(&mut Context2d, &str);

fn get<'js>(c: &Call<'_, 'js>, value: impl FnOnce(&Context2d) -> StyleValue) -> Result<Value<'js>> {
    let this = c.this::<JsContext<'js>>()?;
    let this = this.borrow();
    let value = value(this.canvas.borrow_mut().context());
    let same = |object: &&Object<'js>| match &value {
        StyleValue::Gradient(g) => object.as_class::<JsGradient>().is_some_and(|o| o.borrow().0.is_same(g)),
        StyleValue::Pattern(p) => object.as_class::<JsPattern>().is_some_and(|o| o.borrow().0.is_same(p)),
        StyleValue::Text(_) => false,
    };
    if let Some(object) = this.styles.iter().find(same) {
        return Ok(object.clone().into_value());
    }
    match value {
        StyleValue::Text(text) => c.js(text),
        StyleValue::Gradient(g) => Ok(Class::instance(c.ctx().clone(), JsGradient(g))?.into_value()),
        StyleValue::Pattern(p) => Ok(Class::instance(c.ctx().clone(), JsPattern(p))?.into_value()),
    }
}

fn set<'js>(c: &Call<'_, 'js>, style: Setter, text: TextSetter) -> Result<Value<'js>> {
    let value = c.arg(0);
    if let Some(object) = value.as_object() {
        let paint = if let Some(gradient) = object.as_class::<JsGradient>() {
            Some(Style::Gradient(gradient.borrow().0.clone()))
        } else {
            object.as_class::<JsPattern>().map(|pattern| Style::Pattern(pattern.borrow().0.clone()))
        };
        if let Some(paint) = paint {
            let this = c.this::<JsContext<'js>>()?;
            let mut this = this.borrow_mut();
            style(this.canvas.borrow_mut().context(), paint);
            this.styles.retain(in_use);
            if !this.styles.contains(object) {
                this.styles.push(object.clone());
            }
            return Ok(c.undefined());
        }
    }
    let name = coerced_text(c.ctx(), value)?;
    draw(c, |x| text(x, &name))
}

/// Whether some state still refers to the paint behind the object.
fn in_use(object: &Object<'_>) -> bool {
    object.as_class::<JsGradient>().is_some_and(|o| o.borrow().0.is_shared())
        || object.as_class::<JsPattern>().is_some_and(|o| o.borrow().0.is_shared())
}

fn linear<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let [x0, y0, x1, y1] = c.numbers()?;
    let gradient = attempt(c, |x| x.create_linear_gradient(x0, y0, x1, y1))?;
    Ok(Class::instance(c.ctx().clone(), JsGradient(gradient))?.into_value())
}

fn radial<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let circles = c.numbers()?;
    let gradient = attempt(c, |x| x.create_radial_gradient(circles))?;
    Ok(Class::instance(c.ctx().clone(), JsGradient(gradient))?.into_value())
}

fn conic<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let [angle, x, y] = c.numbers()?;
    let gradient = attempt(c, |ctx| ctx.create_conic_gradient(angle, x, y))?;
    Ok(Class::instance(c.ctx().clone(), JsGradient(gradient))?.into_value())
}

/// `createPattern(image, repetition)`: `null` for an image that is not there yet.
fn pattern<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(2)?;
    let source = source(c, 0)?;
    let repetition = if c.arg(1).is_null() { String::new() } else { coerced_text(c.ctx(), c.arg(1))? };
    let image = match source {
        Source::Ready(image) => image,
        Source::NotYet => return Ok(Value::new_null(c.ctx().clone())),
    };
    let this = c.this::<JsContext<'js>>()?;
    let made = this.borrow().canvas.borrow_mut().context().create_pattern(&image, &repetition);
    let made = lift(c.ctx(), made)?;
    Ok(Class::instance(c.ctx().clone(), JsPattern(made))?.into_value())
}

/// Defines styles and their makers.
pub(super) fn define(proto: &Object<'_>) -> Result<()> {
    attributes(
        proto,
        &[
            (
                "fillStyle",
                |c| get(c, Context2d::fill_style),
                Some(|c| set(c, Context2d::set_fill_style, Context2d::set_fill_style_text)),
            ),
            (
                "strokeStyle",
                |c| get(c, Context2d::stroke_style),
                Some(|c| set(c, Context2d::set_stroke_style, Context2d::set_stroke_style_text)),
            ),
        ],
    )?;
    methods(
        proto,
        &[
            ("createLinearGradient", 4, linear),
            ("createRadialGradient", 6, radial),
            ("createConicGradient", 3, conic),
            ("createPattern", 2, pattern),
        ],
    )
}
