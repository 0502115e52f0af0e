//! Which part of a long line can be seen.
//!
//! A browser draws a text of a million letters at once, because it looks only at those that reach the canvas. So do we:
//! the rest is measured where its width matters, and otherwise not even shaped.

use super::Context2d;
use crate::geometry::{Affine, Rect, invert};
use crate::raster::IRect;
use crate::raster::blur::margin;

/// Texts up to this length are shaped whole: there is nothing to be saved.
pub(super) const LONG_TEXT_BYTES: usize = 4096;

/// How far ink may reach beyond the place of its glyph, in ems.
const OVERHANG_EMS: f64 = 2.0;

/// A stretch of a line, in pixels from its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Window {
    /// Whether something between two points of the line may be seen.
    pub(super) fn sees(&self, start: f64, end: f64) -> bool {
        end >= self.from && start <= self.to
    }
}

impl Context2d {
    /// What of a line can be seen that is placed by `place`: within the clip, or by its shadow there.
    pub(super) fn window(&self, place: &Affine, stroke: bool) -> Option<Window> {
        let clip = self.state.clip.bounds;
        let reach = self.state.filter.margin();
        let mut seen = clip.inflate(reach);
        let shadow = &self.state.shadow;
        if shadow.is_visible() {
            let spread = if shadow.blur > 0.0 { margin(shadow.blur / 2.0) } else { 0 };
            let (dx, dy) = (shadow.dx.round() as i32, shadow.dy.round() as i32);
            let cast = clip.inflate(reach.saturating_add(spread)).shift(dx.saturating_neg(), dy.saturating_neg());
            seen = IRect::new(seen.x0.min(cast.x0), seen.y0.min(cast.y0), seen.x1.max(cast.x1), seen.y1.max(cast.y1));
        }
        let seen = Rect::new(seen.x0.into(), seen.y0.into(), seen.x1.into(), seen.y1.into());
        let on_line = invert(place)?.transform_rect_bbox(seen);
        let mut overhang = self.state.text.font.size * OVERHANG_EMS;
        if stroke {
            let [squeeze, ..] = (invert(&self.state.transform)? * *place).as_coeffs();
            let pen = &self.state.pen;
            overhang += pen.width * pen.miter_limit.max(1.0) / squeeze.abs().max(f64::MIN_POSITIVE);
        }
        Some(Window { from: on_line.x0 - overhang, to: on_line.x1 + overhang })
    }
}
