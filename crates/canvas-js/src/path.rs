//! `Path2D`.

use cove_canvas::{CanvasError, DomMatrix, Path2d, Radius};
use rquickjs::{Class, Ctx, Object, Result, Value};

use crate::call::{Call, coerced_text, function, methods, number};
use crate::class::JsPath;
use crate::matrix::matrix_arg;
use crate::raise::{lift, type_error};

fn construct<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let path = if !c.has(0) {
        Path2d::new()
    } else if let Ok(other) = Class::<JsPath>::from_value(&c.arg(0)) {
        other.borrow().0.clone()
    } else {
        Path2d::from_svg(&coerced_text(c.ctx(), c.arg(0))?)
    };
    Ok(Class::instance(c.ctx().clone(), JsPath(path))?.into_value())
}

fn with<'js>(
    c: &Call<'_, 'js>,
    f: impl FnOnce(&mut Path2d) -> std::result::Result<(), CanvasError>,
) -> Result<Value<'js>> {
    let this = c.this::<JsPath>()?;
    lift(c.ctx(), f(&mut this.borrow_mut().0))?;
    Ok(c.undefined())
}

fn add_path<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(1)?;
    let this = c.this::<JsPath>()?;
    let other = Class::<JsPath>::from_value(&c.arg(0))
        .map_err(|_| type_error(c.ctx(), "parameter 1 is not of type 'Path2D'"))?;
    let matrix = if c.has(1) { matrix_arg(c.ctx(), &c.arg(1))? } else { DomMatrix::IDENTITY };
    let other = other.borrow().0.clone();
    this.borrow_mut().0.add_path(&other, &matrix);
    Ok(c.undefined())
}

/// The radii argument of `roundRect`: a number, a point, or a list of either.
pub(crate) fn radii<'js>(c: &Call<'_, 'js>, index: usize) -> Result<Vec<Radius>> {
    let ctx = c.ctx();
    if !c.has(index) {
        return Ok(vec![Radius { x: 0.0, y: 0.0 }]);
    }
    let value = c.arg(index);
    if let Some(list) = value.as_object().filter(|o| is_iterable(o)) {
        return sequence(ctx, list)?.into_iter().map(|v| radius(ctx, v)).collect();
    }
    Ok(vec![radius(ctx, value)?])
}

fn is_iterable(object: &Object<'_>) -> bool {
    let symbol = rquickjs::Symbol::iterator(object.ctx().clone());
    object.get::<_, Value<'_>>(symbol).is_ok_and(|f| f.is_function())
}

/// The values of an iterable, at most as many as anybody needs.
pub(crate) fn sequence<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Vec<Value<'js>>> {
    const MOST: usize = 65_536;
    let symbol = rquickjs::Symbol::iterator(ctx.clone());
    let make: rquickjs::Function<'js> = object.get(symbol)?;
    let iterator: Object<'js> = make.call((rquickjs::function::This(object.clone()),))?;
    let next: rquickjs::Function<'js> = iterator.get("next")?;
    let mut out = Vec::new();
    loop {
        let step: Object<'js> = next.call((rquickjs::function::This(iterator.clone()),))?;
        if step.get::<_, rquickjs::Coerced<bool>>("done")?.0 {
            return Ok(out);
        }
        out.push(step.get("value")?);
        if out.len() > MOST {
            return Err(type_error(ctx, "the sequence is too long"));
        }
    }
}

fn radius<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Radius> {
    if let Some(point) = value.as_object() {
        let part = |name: &str| -> Result<f64> {
            let v: Value<'js> = point.get(name)?;
            if v.is_undefined() { Ok(0.0) } else { number(ctx, v) }
        };
        return Ok(Radius { x: part("x")?, y: part("y")? });
    }
    let r = number(ctx, value)?;
    Ok(Radius { x: r, y: r })
}

/// Defines the natives of `Path2D`.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("newPath", function(ctx, "newPath", 0, construct)?)?;
    if let Some(proto) = Class::<JsPath>::prototype(ctx)? {
        methods(
            &proto,
            &[
                ("addPath", 1, add_path),
                ("closePath", 0, |c| {
                    with(c, |p| {
                        p.close_path();
                        Ok(())
                    })
                }),
                ("moveTo", 2, |c| {
                    let [x, y] = c.numbers()?;
                    with(c, |p| {
                        p.move_to(x, y);
                        Ok(())
                    })
                }),
                ("lineTo", 2, |c| {
                    let [x, y] = c.numbers()?;
                    with(c, |p| {
                        p.line_to(x, y);
                        Ok(())
                    })
                }),
                ("quadraticCurveTo", 4, |c| {
                    let [a, b, x, y] = c.numbers()?;
                    with(c, |p| {
                        p.quadratic_curve_to(a, b, x, y);
                        Ok(())
                    })
                }),
                ("bezierCurveTo", 6, |c| {
                    let [a, b, d, e, x, y] = c.numbers()?;
                    with(c, |p| {
                        p.bezier_curve_to(a, b, d, e, x, y);
                        Ok(())
                    })
                }),
                ("arcTo", 5, |c| {
                    let [a, b, d, e, r] = c.numbers()?;
                    with(c, |p| p.arc_to(a, b, d, e, r))
                }),
                ("rect", 4, |c| {
                    let [x, y, w, h] = c.numbers()?;
                    with(c, |p| {
                        p.rect(x, y, w, h);
                        Ok(())
                    })
                }),
                ("roundRect", 4, |c| {
                    let [x, y, w, h] = c.numbers()?;
                    let radii = radii(c, 4)?;
                    with(c, |p| p.round_rect(x, y, w, h, &radii))
                }),
                ("arc", 5, |c| {
                    let [x, y, r, start, end] = c.numbers()?;
                    let ccw = c.truth(5)?;
                    with(c, |p| p.arc(x, y, r, start, end, ccw))
                }),
                ("ellipse", 7, |c| {
                    let geometry = c.numbers()?;
                    let ccw = c.truth(7)?;
                    with(c, |p| p.ellipse(geometry, ccw))
                }),
            ],
        )?;
        natives.set("pathPrototype", proto)?;
    }
    Ok(())
}
