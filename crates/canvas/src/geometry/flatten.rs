//! Curves to lines, in a bounded number of them whatever the numbers are.
//!
//! The strip generator would do this itself, but to a quarter of a pixel, which shows at the rim of a circle next to
//! a browser's. A twentieth does not show.

use super::{Affine, BezPath, PathEl, Point, Vec2};

/// How far a line may stray from its curve, in pixels.
pub(crate) const TOLERANCE: f64 = 0.05;
/// Most lines one curve becomes.
const MAX_LINES: f64 = 512.0;
/// Coordinates beyond this are brought back to it: the rasteriser counts in single precision.
const FAR: f64 = 1e7;

/// Writes the path as lines in device space into `out`, ready for the rasteriser.
pub(crate) fn flatten(path: &BezPath, t: &Affine, out: &mut Vec<PathEl>) {
    out.clear();
    let identity = *t == Affine::IDENTITY;
    let map = |p: Point| {
        let p = if identity { p } else { *t * p };
        Point::new(p.x.clamp(-FAR, FAR), p.y.clamp(-FAR, FAR))
    };
    walk(path, TOLERANCE, map, |el| out.push(el));
}

/// The path as lines.
pub(crate) fn lines_of(path: &BezPath, tolerance: f64) -> BezPath {
    let mut out = BezPath::new();
    walk(path, tolerance, |p| p, |el| out.push(el));
    out
}

fn walk(path: &BezPath, tolerance: f64, map: impl Fn(Point) -> Point, mut out: impl FnMut(PathEl)) {
    let mut at = Point::ZERO;
    for el in path.elements() {
        match *el {
            PathEl::MoveTo(p) => {
                at = map(p);
                out(PathEl::MoveTo(at));
            }
            PathEl::LineTo(p) => {
                at = map(p);
                out(PathEl::LineTo(at));
            }
            PathEl::QuadTo(c, p) => {
                let (c, p) = (map(c), map(p));
                let (a, b, d) = (at.to_vec2(), c.to_vec2(), p.to_vec2());
                let bend = (a - 2.0 * b + d).hypot();
                let n = lines((bend / (4.0 * tolerance)).sqrt());
                polynomial(n, a, 2.0 * (b - a), a - 2.0 * b + d, Vec2::ZERO, &mut out);
                out(PathEl::LineTo(p));
                at = p;
            }
            PathEl::CurveTo(c1, c2, p) => {
                let (c1, c2, p) = (map(c1), map(c2), map(p));
                let (a, b, c, d) = (at.to_vec2(), c1.to_vec2(), c2.to_vec2(), p.to_vec2());
                let bend = (a - 2.0 * b + c).hypot2().max((b - 2.0 * c + d).hypot2()).sqrt();
                let n = lines((0.75 * bend / tolerance).sqrt());
                polynomial(n, a, 3.0 * (b - a), 3.0 * (a - 2.0 * b + c), d - 3.0 * c + 3.0 * b - a, &mut out);
                out(PathEl::LineTo(p));
                at = p;
            }
            PathEl::ClosePath => out(PathEl::ClosePath),
        }
    }
}

fn lines(n: f64) -> u32 {
    if n.is_finite() { n.ceil().clamp(1.0, MAX_LINES) as u32 } else { 1 }
}

/// Points of `k0 + k1 s + k2 s² + k3 s³` between its ends.
fn polynomial(n: u32, k0: Vec2, k1: Vec2, k2: Vec2, k3: Vec2, out: &mut impl FnMut(PathEl)) {
    let step = 1.0 / f64::from(n);
    for i in 1..n {
        let s = f64::from(i) * step;
        out(PathEl::LineTo((k0 + s * (k1 + s * (k2 + s * k3))).to_point()));
    }
}
