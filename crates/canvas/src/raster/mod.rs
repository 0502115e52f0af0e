//! From outlines and paints to pixels.
//!
//! Coverage comes from vello's strip generator; everything after it (shaders, blending, clips, layers, blur) is ours,
//! because a canvas draws at once and in order: each call reads what the last one wrote, and `getImageData` may follow
//! any of them. A retained scene would have to be flushed and re-seeded at every such point.

pub(crate) mod blend;
pub(crate) mod blur;
pub(crate) mod clip;
pub(crate) mod coverage;
pub(crate) mod gradient;
pub(crate) mod pixel;
pub(crate) mod pixmap;
pub(crate) mod shader;
pub(crate) mod target;
pub(crate) mod texture;

/// A rectangle of whole pixels; empty when an end is not past its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IRect {
    pub(crate) x0: i32,
    pub(crate) y0: i32,
    pub(crate) x1: i32,
    pub(crate) y1: i32,
}

impl IRect {
    pub(crate) const EMPTY: Self = Self { x0: 0, y0: 0, x1: 0, y1: 0 };

    pub(crate) fn new(x0: i32, y0: i32, x1: i32, y1: i32) -> Self {
        Self { x0, y0, x1, y1 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.x1 <= self.x0 || self.y1 <= self.y0
    }

    pub(crate) fn width(&self) -> i32 {
        self.x1 - self.x0
    }

    pub(crate) fn height(&self) -> i32 {
        self.y1 - self.y0
    }

    pub(crate) fn intersect(&self, o: &Self) -> Self {
        let r = Self { x0: self.x0.max(o.x0), y0: self.y0.max(o.y0), x1: self.x1.min(o.x1), y1: self.y1.min(o.y1) };
        if r.is_empty() { Self::EMPTY } else { r }
    }

    pub(crate) fn inflate(&self, by: i32) -> Self {
        Self {
            x0: self.x0.saturating_sub(by),
            y0: self.y0.saturating_sub(by),
            x1: self.x1.saturating_add(by),
            y1: self.y1.saturating_add(by),
        }
    }

    pub(crate) fn shift(&self, dx: i32, dy: i32) -> Self {
        Self {
            x0: self.x0.saturating_add(dx),
            y0: self.y0.saturating_add(dy),
            x1: self.x1.saturating_add(dx),
            y1: self.y1.saturating_add(dy),
        }
    }

    /// The smallest pixel rectangle around a device rectangle.
    pub(crate) fn around(r: &crate::geometry::Rect) -> Self {
        // `as` saturates, which is what a rectangle at the end of the world should do.
        Self { x0: r.x0.floor() as i32, y0: r.y0.floor() as i32, x1: r.x1.ceil() as i32, y1: r.y1.ceil() as i32 }
    }
}
