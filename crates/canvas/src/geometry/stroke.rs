//! Strokes: from a path and a pen to the outline that is filled.

use vello_common::kurbo::{self, Cap, Join, Stroke, StrokeCtx, StrokeOpts};

use super::{Affine, BezPath, PathEl, Point, invert};

/// Most dashes one stroke may be cut into; beyond it the line is drawn solid, as it would look anyway.
const MAX_DASHES: f64 = 200_000.0;

/// `lineCap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineCap {
    /// Ends flat at the end point.
    #[default]
    Butt,
    /// Ends in a half circle.
    Round,
    /// Ends in half a square.
    Square,
}

/// `lineJoin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineJoin {
    /// A pointed corner, up to the miter limit.
    #[default]
    Miter,
    /// A round corner.
    Round,
    /// A cut corner.
    Bevel,
}

/// The pen.
#[derive(Debug, Clone)]
pub(crate) struct Pen {
    pub(crate) width: f64,
    pub(crate) cap: LineCap,
    pub(crate) join: LineJoin,
    pub(crate) miter_limit: f64,
    pub(crate) dash: Vec<f64>,
    pub(crate) dash_offset: f64,
}

impl Default for Pen {
    fn default() -> Self {
        Self { width: 1.0, cap: LineCap::Butt, join: LineJoin::Miter, miter_limit: 10.0, dash: Vec::new(), dash_offset: 0.0 }
    }
}

impl Pen {
    fn style(&self, length_hint: f64) -> Stroke {
        let cap = match self.cap {
            LineCap::Butt => Cap::Butt,
            LineCap::Round => Cap::Round,
            LineCap::Square => Cap::Square,
        };
        let join = match self.join {
            LineJoin::Miter => Join::Miter,
            LineJoin::Round => Join::Round,
            LineJoin::Bevel => Join::Bevel,
        };
        let mut style = Stroke::new(self.width).with_caps(cap).with_join(join).with_miter_limit(self.miter_limit);
        let total: f64 = self.dash.iter().sum();
        if total > 0.0 && length_hint / total * (self.dash.len() as f64) < MAX_DASHES {
            style = style.with_dashes(self.dash_offset.rem_euclid(total), self.dash.iter().copied());
        }
        style
    }

    /// The outline of `path` (device space) drawn with this pen under `transform`, in device space.
    pub(crate) fn outline(&self, path: &BezPath, transform: &Affine, ctx: &mut StrokeCtx) -> Option<BezPath> {
        let inverse = invert(transform)?;
        let uniform = *transform == Affine::IDENTITY;
        let cleaned = prune(path, if uniform { None } else { Some(&inverse) });
        if cleaned.is_empty() {
            return None;
        }
        let [a, b, c, d, ..] = transform.as_coeffs();
        let scale = (a * a + b * b).max(c * c + d * d).sqrt();
        let length = if self.dash.is_empty() { 0.0 } else { rough_length(&cleaned) };
        let tolerance = 0.05 / scale.max(1e-9);
        kurbo::stroke_with(cleaned, &self.style(length), &StrokeOpts::default(), tolerance, ctx);
        let out = ctx.output().clone();
        Some(if uniform { out } else { *transform * out })
    }
}

fn rough_length(path: &BezPath) -> f64 {
    let mut at = Point::ZERO;
    let mut total = 0.0;
    for el in path.elements() {
        if let Some(end) = el.end_point() {
            if !matches!(el, PathEl::MoveTo(_)) {
                total += at.distance(end);
            }
            at = end;
        }
    }
    total
}

/// Removes what the standard says leaves no stroke: zero-length segments and subpaths without a line.
fn prune(path: &BezPath, map: Option<&Affine>) -> BezPath {
    let mut out = BezPath::with_capacity(path.elements().len());
    let mut start = Point::ZERO;
    let mut at = Point::ZERO;
    let mut open: Option<Point> = None;
    for el in path.elements() {
        let el = map.map_or(*el, |m| *m * *el);
        match el {
            PathEl::MoveTo(p) => {
                open = Some(p);
                (start, at) = (p, p);
            }
            PathEl::ClosePath => {
                if open.is_none() {
                    out.push(PathEl::ClosePath);
                }
                open = Some(start);
                at = start;
            }
            PathEl::LineTo(p) => {
                if p != at {
                    begin(&mut out, &mut open);
                    out.push(el);
                    at = p;
                }
            }
            PathEl::QuadTo(c, p) => {
                if p != at || c != at {
                    begin(&mut out, &mut open);
                    out.push(el);
                    at = p;
                }
            }
            PathEl::CurveTo(c1, c2, p) => {
                if p != at || c1 != at || c2 != at {
                    begin(&mut out, &mut open);
                    out.push(el);
                    at = p;
                }
            }
        }
    }
    out
}

fn begin(out: &mut BezPath, open: &mut Option<Point>) {
    if let Some(p) = open.take() {
        out.push(PathEl::MoveTo(p));
    }
}
