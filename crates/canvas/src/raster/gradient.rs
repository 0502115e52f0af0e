//! Gradients, evaluated pixel by pixel.
//!
//! Stops are kept as intervals rather than as a table of sampled colours: two stops at one offset then make a hard
//! edge, at any size. Rows that are constant, or equal to the row above, are computed once.

use std::f64::consts::TAU;

use super::pixel;
use crate::color::{ColorSpace, CssColor, oklab_to};
use crate::geometry::{Affine, invert};

/// How finely an Oklab interval is cut into straight sRGB pieces.
const OKLAB_STEPS: usize = 24;

/// The shape of a gradient, in user space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum GradientShape {
    /// `[x0, y0, x1, y1]`.
    Linear([f64; 4]),
    /// `[x0, y0, r0, x1, y1, r1]`.
    Radial([f64; 6]),
    /// `[angle, x, y]`.
    Conic([f64; 3]),
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    from: f32,
    /// Colour at `from`, unpremultiplied with alpha, and its change per unit of offset.
    start: [f32; 4],
    slope: [f32; 4],
}

/// A gradient in device space.
#[derive(Debug)]
pub(crate) struct GradientShader {
    kind: Kind,
    pieces: Vec<Piece>,
    opaque: bool,
    row: Vec<u32>,
    row_x: i32,
}

#[derive(Debug)]
enum Kind {
    /// `t = ax * x + ay * y + b` on pixel coordinates.
    Linear {
        ax: f64,
        ay: f64,
        b: f64,
    },
    Radial {
        inverse: Affine,
        r0: f64,
        dr: f64,
        cd: (f64, f64),
        c0: (f64, f64),
    },
    Conic {
        inverse: Affine,
        start: f64,
        center: (f64, f64),
    },
}

impl GradientShader {
    /// `None` when the gradient paints nothing.
    pub(crate) fn new(
        shape: &GradientShape,
        stops: &[(f64, CssColor)],
        transform: &Affine,
        alpha: f32,
        space: ColorSpace,
    ) -> Option<Self> {
        if stops.is_empty() {
            return None;
        }
        let inverse = invert(transform)?;
        let kind = match *shape {
            GradientShape::Linear([x0, y0, x1, y1]) => {
                let (dx, dy) = (x1 - x0, y1 - y0);
                let len2 = dx * dx + dy * dy;
                if len2 == 0.0 {
                    return None;
                }
                let [a, b, c, d, e, f] = inverse.as_coeffs();
                Kind::Linear {
                    ax: (a * dx + b * dy) / len2,
                    ay: (c * dx + d * dy) / len2,
                    b: ((e - x0) * dx + (f - y0) * dy) / len2,
                }
            }
            GradientShape::Radial([x0, y0, r0, x1, y1, r1]) => {
                if x0 == x1 && y0 == y1 && r0 == r1 {
                    return None;
                }
                Kind::Radial { inverse, r0, dr: r1 - r0, cd: (x1 - x0, y1 - y0), c0: (x0, y0) }
            }
            GradientShape::Conic([start, x, y]) => Kind::Conic { inverse, start, center: (x, y) },
        };
        let pieces = pieces(stops, alpha, space);
        let opaque = alpha >= 1.0 && stops.iter().all(|(_, c)| c.alpha() >= 1.0);
        Some(Self { kind, pieces, opaque, row: Vec::new(), row_x: 0 })
    }

    #[inline]
    fn color(&self, t: f32, hint: &mut usize) -> u32 {
        let pieces = &self.pieces;
        let mut i = (*hint).min(pieces.len() - 1);
        while i > 0 && pieces[i].from > t {
            i -= 1;
        }
        while i + 1 < pieces.len() && pieces[i + 1].from <= t {
            i += 1;
        }
        *hint = i;
        let p = &pieces[i];
        let dt = t - p.from;
        let c = |k: usize| p.start[k] + p.slope[k] * dt;
        if self.opaque {
            let q = |v: f32| (v * 255.0 + 0.5) as u32 & 255;
            return pixel::pack(q(c(0)), q(c(1)), q(c(2)), 255);
        }
        pixel::from_float([c(0), c(1), c(2)], c(3))
    }

    pub(crate) fn shade(&mut self, x: i32, y: i32, out: &mut [u32]) {
        let mut hint = 0;
        match self.kind {
            Kind::Linear { ax, ay, b } => {
                let py = f64::from(y) + 0.5;
                if ax == 0.0 {
                    let px = self.color((ay * py + b) as f32, &mut hint);
                    out.fill(px);
                    return;
                }
                if ay == 0.0 {
                    let end = x.saturating_add(out.len() as i32);
                    let have = self.row_x <= x && end <= self.row_x + self.row.len() as i32;
                    if !have {
                        // Widen to what will be asked for again rather than recompute per row.
                        let from = if self.row.is_empty() { x } else { x.min(self.row_x) };
                        let to = end.max(self.row_x.saturating_add(self.row.len() as i32));
                        let mut row = std::mem::take(&mut self.row);
                        row.clear();
                        row.extend((from..to).map(|px| self.color((ax * (f64::from(px) + 0.5) + b) as f32, &mut hint)));
                        self.row = row;
                        self.row_x = from;
                    }
                    let at = (x - self.row_x) as usize;
                    out.copy_from_slice(&self.row[at..at + out.len()]);
                    return;
                }
                let base = ax * (f64::from(x) + 0.5) + ay * py + b;
                for (i, px) in out.iter_mut().enumerate() {
                    *px = self.color((base + ax * i as f64) as f32, &mut hint);
                }
            }
            Kind::Radial { inverse, r0, dr, cd, c0 } => {
                let [a, b, c, d, e, f] = inverse.as_coeffs();
                let py = f64::from(y) + 0.5;
                let qa = cd.0 * cd.0 + cd.1 * cd.1 - dr * dr;
                for (i, px) in out.iter_mut().enumerate() {
                    let dx = f64::from(x) + i as f64 + 0.5;
                    let (ux, uy) = (a * dx + c * py + e - c0.0, b * dx + d * py + f - c0.1);
                    *px = match radial_offset(ux, uy, cd, r0, dr, qa) {
                        Some(t) => self.color(t as f32, &mut hint),
                        None => 0,
                    };
                }
            }
            Kind::Conic { inverse, start, center } => {
                let [a, b, c, d, e, f] = inverse.as_coeffs();
                let py = f64::from(y) + 0.5;
                for (i, px) in out.iter_mut().enumerate() {
                    let dx = f64::from(x) + i as f64 + 0.5;
                    let (ux, uy) = (a * dx + c * py + e - center.0, b * dx + d * py + f - center.1);
                    let t = ((uy.atan2(ux) - start) / TAU).rem_euclid(1.0);
                    *px = self.color(t as f32, &mut hint);
                }
            }
        }
    }
}

/// The largest ω whose circle passes through the point with a positive radius.
#[inline]
fn radial_offset(x: f64, y: f64, cd: (f64, f64), r0: f64, dr: f64, qa: f64) -> Option<f64> {
    let b = x * cd.0 + y * cd.1 + r0 * dr;
    let c = x * x + y * y - r0 * r0;
    let scale = cd.0 * cd.0 + cd.1 * cd.1 + dr * dr;
    if qa.abs() <= scale * 1e-12 {
        if b == 0.0 {
            return None;
        }
        let t = c / (2.0 * b);
        return (r0 + t * dr >= 0.0).then_some(t);
    }
    let disc = b * b - qa * c;
    if disc < 0.0 {
        return None;
    }
    let root = disc.sqrt();
    let (t1, t2) = ((b + root) / qa, (b - root) / qa);
    let (high, low) = if t1 > t2 { (t1, t2) } else { (t2, t1) };
    if r0 + high * dr >= 0.0 {
        Some(high)
    } else if r0 + low * dr >= 0.0 {
        Some(low)
    } else {
        None
    }
}

fn pieces(stops: &[(f64, CssColor)], alpha: f32, space: ColorSpace) -> Vec<Piece> {
    let modern = stops.iter().any(|(_, c)| !c.is_legacy());
    let rgba = |c: &CssColor| {
        let [r, g, b] = c.rgb_in(space).map(|v| v.clamp(0.0, 1.0));
        [r, g, b, c.alpha() * alpha]
    };
    let flat = |from: f32, c: [f32; 4]| Piece { from, start: c, slope: [0.0; 4] };
    let mut out = vec![flat(f32::NEG_INFINITY, rgba(&stops[0].1))];
    let mut push = |t0: f32, c0: [f32; 4], t1: f32, c1: [f32; 4]| {
        let d = t1 - t0;
        out.push(Piece { from: t0, start: c0, slope: std::array::from_fn(|i| (c1[i] - c0[i]) / d) });
    };
    for pair in stops.windows(2) {
        let ((t0, a), (t1, b)) = (&pair[0], &pair[1]);
        let (t0, t1) = (*t0 as f32, *t1 as f32);
        if t1 <= t0 {
            continue;
        }
        if !modern {
            push(t0, rgba(a), t1, rgba(b));
            continue;
        }
        let (la, lb) = (a.oklab(), b.oklab());
        let at = |k: usize| {
            let s = k as f32 / OKLAB_STEPS as f32;
            let lab = std::array::from_fn(|i| la[i] + (lb[i] - la[i]) * s);
            let [r, g, bl] = oklab_to(space, lab).map(|v| v.clamp(0.0, 1.0));
            (t0 + (t1 - t0) * s, [r, g, bl, (a.alpha() + (b.alpha() - a.alpha()) * s) * alpha])
        };
        for k in 0..OKLAB_STEPS {
            let ((s0, c0), (s1, c1)) = (at(k), at(k + 1));
            push(s0, c0, s1, c1);
        }
    }
    let (t, last) = &stops[stops.len() - 1];
    out.push(flat(*t as f32, rgba(last)));
    out[0].from = -1e30;
    out
}
