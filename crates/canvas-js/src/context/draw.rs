//! Rectangles, text and images.

use cove_canvas::TextMetrics;
use rquickjs::{Object, Result, Value};

use super::{attempt, draw, shared};
use crate::call::{Call, coerced_text, methods};
use crate::picture::{Source, source};
use crate::raise::type_error;

fn text<'js>(c: &Call<'_, 'js>, stroke: bool) -> Result<Value<'js>> {
    c.need(3)?;
    let text = coerced_text(c.ctx(), c.arg(0))?;
    let (x, y) = (c.number(1)?, c.number(2)?);
    let max_width = if c.has(3) { Some(c.number(3)?) } else { None };
    draw(c, |ctx| {
        if stroke {
            ctx.stroke_text(&text, x, y, max_width);
        } else {
            ctx.fill_text(&text, x, y, max_width);
        }
    })
}

/// The metrics as a list, in the order of [`METRICS`]; the prelude makes a `TextMetrics` of it.
fn measure<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(1)?;
    let text = coerced_text(c.ctx(), c.arg(0))?;
    let canvas = shared(c)?;
    let m: TextMetrics = canvas.borrow_mut().context().measure_text(&text);
    c.js(vec![
        m.width,
        m.actual_bounding_box_left,
        m.actual_bounding_box_right,
        m.font_bounding_box_ascent,
        m.font_bounding_box_descent,
        m.actual_bounding_box_ascent,
        m.actual_bounding_box_descent,
        m.em_height_ascent,
        m.em_height_descent,
        m.hanging_baseline,
        m.alphabetic_baseline,
        m.ideographic_baseline,
    ])
}

fn draw_image<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    c.need(3)?;
    let count = c.len();
    if !matches!(count, 3 | 5 | 9) && count < 9 {
        return Err(type_error(c.ctx(), &format!("Valid arities are: [3, 5, 9], but {count} arguments provided")));
    }
    let source = source(c, 0)?;
    let mut n = [0.0; 8];
    for (i, slot) in n.iter_mut().take(count.min(9) - 1).enumerate() {
        *slot = c.number(i + 1)?;
    }
    let image = match source {
        Source::Ready(image) => image,
        Source::NotYet => return Ok(c.undefined()),
    };
    attempt(c, |ctx| match count {
        3 => ctx.draw_image(&image, n[0], n[1]),
        5 => ctx.draw_image_scaled(&image, n[0], n[1], n[2], n[3]),
        _ => ctx.draw_image_from(&image, [n[0], n[1], n[2], n[3]], [n[4], n[5], n[6], n[7]]),
    })?;
    Ok(c.undefined())
}

/// Defines the drawing methods.
pub(super) fn define(proto: &Object<'_>) -> Result<()> {
    methods(
        proto,
        &[
            ("fillRect", 4, |c| {
                let [x, y, w, h] = c.numbers()?;
                draw(c, |ctx| ctx.fill_rect(x, y, w, h))
            }),
            ("strokeRect", 4, |c| {
                let [x, y, w, h] = c.numbers()?;
                draw(c, |ctx| ctx.stroke_rect(x, y, w, h))
            }),
            ("clearRect", 4, |c| {
                let [x, y, w, h] = c.numbers()?;
                draw(c, |ctx| ctx.clear_rect(x, y, w, h))
            }),
            ("fillText", 3, |c| text(c, false)),
            ("strokeText", 3, |c| text(c, true)),
            ("measureText", 1, measure),
            ("drawImage", 3, draw_image),
        ],
    )
}
