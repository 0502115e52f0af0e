//! Paths: building, filling, stroking, clipping, asking.

use cove_canvas::{Context2d, FillRule};
use rquickjs::{Class, Object, Result, Value};

use super::{attempt, draw, shared};
use crate::call::{Call, coerced_text, methods};
use crate::class::JsPath;
use crate::path::radii;
use crate::raise::type_error;

/// The optional path argument: `Some` when the first argument is a `Path2D`.
fn path_arg<'js>(c: &Call<'_, 'js>) -> Option<Class<'js, JsPath>> {
    c.arg(0).as_object().and_then(Class::<JsPath>::from_object)
}

/// The fill rule at an index; absent means `nonzero`, an unknown word throws.
fn rule(c: &Call<'_, '_>, index: usize) -> Result<FillRule> {
    if !c.has(index) {
        return Ok(FillRule::NonZero);
    }
    let name = coerced_text(c.ctx(), c.arg(index))?;
    FillRule::parse(&name)
        .ok_or_else(|| type_error(c.ctx(), &format!("the provided value '{name}' is not a valid CanvasFillRule")))
}

fn fill<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    match path_arg(c) {
        Some(path) => {
            let rule = rule(c, 1)?;
            draw(c, |x| x.fill_path(&path.borrow().0, rule))
        }
        None => {
            let rule = rule(c, 0)?;
            draw(c, |x| x.fill(rule))
        }
    }
}

fn clip<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    match path_arg(c) {
        Some(path) => {
            let rule = rule(c, 1)?;
            draw(c, |x| x.clip_path(&path.borrow().0, rule))
        }
        None => {
            let rule = rule(c, 0)?;
            draw(c, |x| x.clip(rule))
        }
    }
}

fn stroke<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    if c.len() == 0 {
        return draw(c, Context2d::stroke);
    }
    match path_arg(c) {
        Some(path) => draw(c, |x| x.stroke_path(&path.borrow().0)),
        None => Err(type_error(c.ctx(), "parameter 1 is not of type 'Path2D'")),
    }
}

fn in_path<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(2)?;
    let canvas = shared(c)?;
    let hit = match path_arg(c) {
        Some(path) => {
            c.need(3)?;
            let (x, y, rule) = (c.number(1)?, c.number(2)?, rule(c, 3)?);
            canvas.borrow_mut().context().is_point_in_path_of(&path.borrow().0, x, y, rule)
        }
        None => {
            if c.arg(0).is_object() && c.len() > 2 && c.arg(1).is_number() && c.arg(2).is_number() {
                return Err(type_error(c.ctx(), "parameter 1 is not of type 'Path2D'"));
            }
            let (x, y, rule) = (c.number(0)?, c.number(1)?, rule(c, 2)?);
            canvas.borrow_mut().context().is_point_in_path(x, y, rule)
        }
    };
    c.js(hit)
}

fn in_stroke<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(2)?;
    let canvas = shared(c)?;
    let hit = match path_arg(c) {
        Some(path) => {
            c.need(3)?;
            let (x, y) = (c.number(1)?, c.number(2)?);
            canvas.borrow_mut().context().is_point_in_stroke_of(&path.borrow().0, x, y)
        }
        None => {
            let (x, y) = (c.number(0)?, c.number(1)?);
            canvas.borrow_mut().context().is_point_in_stroke(x, y)
        }
    };
    c.js(hit)
}

fn arc<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let [x, y, r, start, end] = c.numbers()?;
    let ccw = c.truth(5)?;
    attempt(c, |ctx| ctx.arc(x, y, r, start, end, ccw))?;
    Ok(c.undefined())
}

fn ellipse<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let geometry = c.numbers()?;
    let ccw = c.truth(7)?;
    attempt(c, |ctx| ctx.ellipse(geometry, ccw))?;
    Ok(c.undefined())
}

fn arc_to<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let [x1, y1, x2, y2, r] = c.numbers()?;
    attempt(c, |ctx| ctx.arc_to(x1, y1, x2, y2, r))?;
    Ok(c.undefined())
}

fn round_rect<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let [x, y, w, h] = c.numbers()?;
    let radii = radii(c, 4)?;
    attempt(c, |ctx| ctx.round_rect(x, y, w, h, &radii))?;
    Ok(c.undefined())
}

/// Defines the path methods.
pub(super) fn define(proto: &Object<'_>) -> Result<()> {
    methods(
        proto,
        &[
            ("beginPath", 0, |c| draw(c, Context2d::begin_path)),
            ("closePath", 0, |c| draw(c, Context2d::close_path)),
            ("moveTo", 2, |c| {
                let [x, y] = c.numbers()?;
                draw(c, |ctx| ctx.move_to(x, y))
            }),
            ("lineTo", 2, |c| {
                let [x, y] = c.numbers()?;
                draw(c, |ctx| ctx.line_to(x, y))
            }),
            ("quadraticCurveTo", 4, |c| {
                let [a, b, x, y] = c.numbers()?;
                draw(c, |ctx| ctx.quadratic_curve_to(a, b, x, y))
            }),
            ("bezierCurveTo", 6, |c| {
                let [a, b, d, e, x, y] = c.numbers()?;
                draw(c, |ctx| ctx.bezier_curve_to(a, b, d, e, x, y))
            }),
            ("rect", 4, |c| {
                let [x, y, w, h] = c.numbers()?;
                draw(c, |ctx| ctx.rect(x, y, w, h))
            }),
            ("arc", 5, arc),
            ("ellipse", 7, ellipse),
            ("arcTo", 5, arc_to),
            ("roundRect", 4, round_rect),
            ("fill", 0, fill),
            ("stroke", 0, stroke),
            ("clip", 0, clip),
            ("isPointInPath", 2, in_path),
            ("isPointInStroke", 2, in_stroke),
        ],
    )
}
