//! Curves to lines.
//!
//! The strip generator would do this itself, but to a quarter of a pixel, which shows at the rim of a circle next to
//! a browser's. A twentieth does not show.

use crate::geometry::{Affine, BezPath, PathEl, Point};

/// How far a line may stray from its curve, in pixels.
const TOLERANCE: f64 = 0.05;
/// Most lines one curve becomes.
const MAX_LINES: f64 = 512.0;

/// Writes the path as lines in device space into `out`.
pub(crate) fn flatten(path: &BezPath, t: &Affine, out: &mut Vec<PathEl>) {
    out.clear();
    let identity = *t == Affine::IDENTITY;
    let map = |p: Point| if identity { p } else { *t * p };
    let mut at = Point::ZERO;
    for el in path.elements() {
        match *el {
            PathEl::MoveTo(p) => {
                at = map(p);
                out.push(PathEl::MoveTo(at));
            }
            PathEl::LineTo(p) => {
                at = map(p);
                out.push(PathEl::LineTo(at));
            }
            PathEl::QuadTo(c, p) => {
                let (c, p) = (map(c), map(p));
                let bend = (at.to_vec2() - 2.0 * c.to_vec2() + p.to_vec2()).hypot();
                let n = lines((bend / (4.0 * TOLERANCE)).sqrt());
                for i in 1..n {
                    let s = f64::from(i) / f64::from(n);
                    out.push(PathEl::LineTo(at.lerp(c, s).lerp(c.lerp(p, s), s)));
                }
                out.push(PathEl::LineTo(p));
                at = p;
            }
            PathEl::CurveTo(c1, c2, p) => {
                let (c1, c2, p) = (map(c1), map(c2), map(p));
                cubic(at, c1, c2, p, out);
                at = p;
            }
            PathEl::ClosePath => out.push(PathEl::ClosePath),
        }
    }
}

fn lines(n: f64) -> u32 {
    if n.is_finite() { n.ceil().clamp(1.0, MAX_LINES) as u32 } else { 1 }
}

fn cubic(p0: Point, p1: Point, p2: Point, p3: Point, out: &mut Vec<PathEl>) {
    let (a, b, c, d) = (p0.to_vec2(), p1.to_vec2(), p2.to_vec2(), p3.to_vec2());
    let bend = (a - 2.0 * b + c).hypot2().max((b - 2.0 * c + d).hypot2()).sqrt();
    let n = lines((0.75 * bend / TOLERANCE).sqrt());
    // The polynomial's own coefficients: three multiplications a point.
    let (k1, k2, k3) = (3.0 * (b - a), 3.0 * (a - 2.0 * b + c), d - 3.0 * c + 3.0 * b - a);
    let step = 1.0 / f64::from(n);
    for i in 1..n {
        let s = f64::from(i) * step;
        out.push(PathEl::LineTo((a + s * (k1 + s * (k2 + s * k3))).to_point()));
    }
    out.push(PathEl::LineTo(p3));
}
