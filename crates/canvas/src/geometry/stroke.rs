//! Strokes: from a path and a pen to the outline that is filled.

use vello_common::kurbo::{self, Cap, Join, Stroke, StrokeCtx, StrokeOpts};

use super::flatten::lines_of;
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
        Self {
            width: 1.0,
            cap: LineCap::Butt,
            join: LineJoin::Miter,
            miter_limit: 10.0,
            dash: Vec::new(),
            dash_offset: 0.0,
        }
    }
}

impl Pen {
    fn style(&self) -> Stroke {
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
        Stroke::new(self.width).with_caps(cap).with_join(join).with_miter_limit(self.miter_limit)
    }

    /// The outline of `path` (device space) drawn with this pen under `transform`, in device space.
    pub(crate) fn outline(&self, path: &BezPath, transform: &Affine, ctx: &mut StrokeCtx) -> Option<BezPath> {
        let inverse = invert(transform)?;
        let uniform = *transform == Affine::IDENTITY;
        let mut cleaned = prune(path, if uniform { None } else { Some(&inverse) });
        if cleaned.is_empty() {
            return None;
        }
        let [a, b, c, d, ..] = transform.as_coeffs();
        let scale = (a * a + b * b).max(c * c + d * d).sqrt();
        let tolerance = 0.05 / scale.max(1e-9);
        if !self.dash.is_empty() {
            // Finer than a fill: what a line is too short by adds up along the dashes.
            cleaned = dash(&lines_of(&cleaned, tolerance * 0.1), &self.dash, self.dash_offset)?;
        } else if is_far(&cleaned) {
            // Fitting curves to numbers of this size may never end; lines are always fitted at once.
            cleaned = lines_of(&cleaned, tolerance);
        }
        kurbo::stroke_with(cleaned, &self.style(), &StrokeOpts::default(), tolerance, ctx);
        let out = ctx.output().clone();
        Some(if uniform { out } else { *transform * out })
    }
}

/// Whether some point lies where doubles no longer tell fractions of a pixel apart.
fn is_far(path: &BezPath) -> bool {
    let r = path.control_box();
    ![r.x0, r.y0, r.x1, r.y1].iter().all(|v| v.abs() < 1e6)
}

/// Cuts lines into dashes. `None` when nothing is left to draw.
fn dash(path: &BezPath, pattern: &[f64], offset: f64) -> Option<BezPath> {
    let total: f64 = pattern.iter().sum();
    let length = length(path);
    if total <= 0.0 || !total.is_finite() || !length.is_finite() || length / total * pattern.len() as f64 > MAX_DASHES {
        return Some(path.clone());
    }
    let mut first = offset.rem_euclid(total);
    let mut index = 0;
    while first >= pattern[index] {
        first -= pattern[index];
        index = (index + 1) % pattern.len();
    }
    let begin = (index, pattern[index] - first);
    let mut out = BezPath::new();
    let (mut at, mut start) = (Point::ZERO, Point::ZERO);
    let (mut index, mut left) = begin;
    let mut drawing = false;
    for el in path.elements() {
        let to = match *el {
            PathEl::MoveTo(p) => {
                (at, start, drawing) = (p, p, false);
                (index, left) = begin;
                continue;
            }
            PathEl::ClosePath => start,
            el => el.end_point().unwrap_or(at),
        };
        let span = at.distance(to);
        let mut done = 0.0;
        while done < span {
            if index % 2 == 0 && !drawing {
                out.push(PathEl::MoveTo(at.lerp(to, done / span)));
                drawing = true;
            }
            let step = left.min(span - done);
            done += step;
            left -= step;
            if drawing {
                let p = if done >= span { to } else { at.lerp(to, done / span) };
                out.push(PathEl::LineTo(p));
            }
            while left <= 0.0 {
                index = (index + 1) % pattern.len();
                left = pattern[index];
                if index % 2 == 1 {
                    drawing = false;
                }
                if left == 0.0 && index % 2 == 0 {
                    // A dash without length is a dot for round and square caps; flat ones show nothing.
                    out.push(PathEl::MoveTo(at.lerp(to, done / span)));
                    out.push(PathEl::LineTo(at.lerp(to, (done / span + 1e-9).min(1.0))));
                }
            }
        }
        at = to;
    }
    (!out.is_empty()).then_some(out)
}

fn length(path: &BezPath) -> f64 {
    let (mut at, mut start, mut total) = (Point::ZERO, Point::ZERO, 0.0);
    for el in path.elements() {
        match *el {
            PathEl::MoveTo(p) => (at, start) = (p, p),
            PathEl::ClosePath => {
                total += at.distance(start);
                at = start;
            }
            el => {
                let to = el.end_point().unwrap_or(at);
                total += at.distance(to);
                at = to;
            }
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
