//! `DOMMatrix`: a 4 × 4 matrix that remembers whether it is only a 2D one.
//!
//! Kept as sixteen doubles in column order (`m11 m12 m13 m14 m21 …`), the order of `toFloat64Array`.

use super::{Affine, Point, transform_list};
use crate::CanvasError;

/// A matrix of the Geometry standard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DomMatrix {
    /// `m11 m12 m13 m14 m21 … m44`.
    pub m: [f64; 16],
    /// Whether the matrix was only ever given 2D content.
    pub is_2d: bool,
}

impl Default for DomMatrix {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl DomMatrix {
    /// The identity.
    pub const IDENTITY: Self =
        Self { m: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], is_2d: true };

    /// A 2D matrix from `a b c d e f`.
    pub fn from_2d(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) -> Self {
        let mut out = Self::IDENTITY;
        (out.m[0], out.m[1], out.m[4], out.m[5], out.m[12], out.m[13]) = (a, b, c, d, e, f);
        out
    }

    /// From a sequence of 6 (2D) or 16 (3D) numbers.
    pub fn from_slice(values: &[f64]) -> Result<Self, CanvasError> {
        match *values {
            [a, b, c, d, e, f] => Ok(Self::from_2d(a, b, c, d, e, f)),
            _ => match <[f64; 16]>::try_from(values) {
                Ok(m) => Ok(Self { m, is_2d: false }),
                Err(_) => Err(CanvasError::Type("the sequence must contain 6 or 16 numbers".into())),
            },
        }
    }

    /// From a CSS transform list such as `translate(10px, 20px) rotate(45deg)`.
    pub fn parse(text: &str) -> Result<Self, CanvasError> {
        transform_list::parse(text)
            .ok_or_else(|| CanvasError::Syntax(format!("failed to parse '{text}' as a transform")))
    }

    /// `a b c d e f`.
    pub fn to_2d(&self) -> [f64; 6] {
        [self.m[0], self.m[1], self.m[4], self.m[5], self.m[12], self.m[13]]
    }

    pub(crate) fn affine(&self) -> Affine {
        Affine::new(self.to_2d())
    }

    pub(crate) fn from_affine(a: &Affine) -> Self {
        let [a, b, c, d, e, f] = a.as_coeffs();
        Self::from_2d(a, b, c, d, e, f)
    }

    /// Whether this is the identity.
    pub fn is_identity(&self) -> bool {
        self.m == Self::IDENTITY.m
    }

    /// `self × other`: `other` is applied first.
    #[must_use]
    pub fn multiply(&self, other: &Self) -> Self {
        let (a, b) = (&self.m, &other.m);
        let mut m = [0.0; 16];
        for col in 0..4 {
            for row in 0..4 {
                m[col * 4 + row] = (0..4).map(|k| a[k * 4 + row] * b[col * 4 + k]).sum();
            }
        }
        Self { m, is_2d: self.is_2d && other.is_2d }
    }

    /// Moves the origin.
    #[must_use]
    pub fn translate(&self, tx: f64, ty: f64, tz: f64) -> Self {
        let mut t = Self::IDENTITY;
        (t.m[12], t.m[13], t.m[14]) = (tx, ty, tz);
        t.is_2d = tz == 0.0;
        self.multiply(&t)
    }

    /// Scales around an origin.
    #[must_use]
    pub fn scale(&self, sx: f64, sy: f64, sz: f64, origin: [f64; 3]) -> Self {
        let mut s = Self::IDENTITY;
        (s.m[0], s.m[5], s.m[10]) = (sx, sy, sz);
        s.is_2d = sz == 1.0;
        let there = self.translate(origin[0], origin[1], origin[2]).multiply(&s);
        there.translate(-origin[0], -origin[1], -origin[2])
    }

    /// Rotates around x, y and z, in degrees.
    #[must_use]
    pub fn rotate(&self, x: f64, y: f64, z: f64) -> Self {
        let mut out = *self;
        if z != 0.0 {
            out = out.rotate_axis_angle(0.0, 0.0, 1.0, z);
        }
        if y != 0.0 {
            out = out.rotate_axis_angle(0.0, 1.0, 0.0, y);
        }
        if x != 0.0 {
            out = out.rotate_axis_angle(1.0, 0.0, 0.0, x);
        }
        out
    }

    /// Rotates by the angle between (1, 0) and (x, y).
    #[must_use]
    pub fn rotate_from_vector(&self, x: f64, y: f64) -> Self {
        if x == 0.0 && y == 0.0 { *self } else { self.rotate(0.0, 0.0, y.atan2(x).to_degrees()) }
    }

    /// Rotates around an axis, in degrees.
    #[must_use]
    pub fn rotate_axis_angle(&self, x: f64, y: f64, z: f64, degrees: f64) -> Self {
        let length = (x * x + y * y + z * z).sqrt();
        if length == 0.0 {
            return *self;
        }
        let (x, y, z) = (x / length, y / length, z / length);
        let half = degrees.to_radians() / 2.0;
        let (sc, sq) = (half.sin() * half.cos(), half.sin().powi(2));
        let mut r = Self::IDENTITY;
        r.is_2d = x == 0.0 && y == 0.0;
        let (c, s) = match degrees.rem_euclid(360.0) {
            // Quarter turns are exact, so that a rotated rectangle stays on the pixel grid.
            90.0 => (0.0, 1.0),
            180.0 => (-1.0, 0.0),
            270.0 => (0.0, -1.0),
            _ => (degrees.to_radians().cos(), degrees.to_radians().sin()),
        };
        if r.is_2d {
            let s = s * z;
            (r.m[0], r.m[1], r.m[4], r.m[5]) = (c, s, -s, c);
        } else {
            r.m[0] = 1.0 - 2.0 * (y * y + z * z) * sq;
            r.m[1] = 2.0 * (x * y * sq + z * sc);
            r.m[2] = 2.0 * (x * z * sq - y * sc);
            r.m[4] = 2.0 * (x * y * sq - z * sc);
            r.m[5] = 1.0 - 2.0 * (x * x + z * z) * sq;
            r.m[6] = 2.0 * (y * z * sq + x * sc);
            r.m[8] = 2.0 * (x * z * sq + y * sc);
            r.m[9] = 2.0 * (y * z * sq - x * sc);
            r.m[10] = 1.0 - 2.0 * (x * x + y * y) * sq;
        }
        self.multiply(&r)
    }

    /// Skews along x, in degrees.
    #[must_use]
    pub fn skew_x(&self, degrees: f64) -> Self {
        self.multiply(&Self::from_2d(1.0, 0.0, degrees.to_radians().tan(), 1.0, 0.0, 0.0))
    }

    /// Skews along y, in degrees.
    #[must_use]
    pub fn skew_y(&self, degrees: f64) -> Self {
        self.multiply(&Self::from_2d(1.0, degrees.to_radians().tan(), 0.0, 1.0, 0.0, 0.0))
    }

    /// Mirrors left and right.
    #[must_use]
    pub fn flip_x(&self) -> Self {
        self.multiply(&Self::from_2d(-1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    }

    /// Mirrors top and bottom.
    #[must_use]
    pub fn flip_y(&self) -> Self {
        self.multiply(&Self::from_2d(1.0, 0.0, 0.0, -1.0, 0.0, 0.0))
    }

    /// The inverse; all NaN and no longer 2D where there is none.
    #[must_use]
    pub fn inverse(&self) -> Self {
        self.try_inverse().unwrap_or(Self { m: [f64::NAN; 16], is_2d: false })
    }

    fn try_inverse(&self) -> Option<Self> {
        if self.is_2d {
            let [a, b, c, d, e, f] = self.to_2d();
            let det = a * d - b * c;
            if det == 0.0 || !det.is_finite() {
                return None;
            }
            return Some(Self::from_2d(
                d / det,
                -b / det,
                -c / det,
                a / det,
                (c * f - d * e) / det,
                (b * e - a * f) / det,
            ));
        }
        let mut a = self.m;
        let mut inv = Self::IDENTITY.m;
        // Gauss-Jordan on columns: rows and columns may be exchanged freely as both sides are treated alike.
        for i in 0..4 {
            let pivot = (i..4).max_by(|p, q| a[p * 4 + i].abs().total_cmp(&a[q * 4 + i].abs()))?;
            let value = a[pivot * 4 + i];
            if value == 0.0 || !value.is_finite() {
                return None;
            }
            for k in 0..4 {
                a.swap(i * 4 + k, pivot * 4 + k);
                inv.swap(i * 4 + k, pivot * 4 + k);
            }
            for k in 0..4 {
                a[i * 4 + k] /= value;
                inv[i * 4 + k] /= value;
            }
            for row in (0..4).filter(|r| *r != i) {
                let factor = a[row * 4 + i];
                for k in 0..4 {
                    a[row * 4 + k] -= factor * a[i * 4 + k];
                    inv[row * 4 + k] -= factor * inv[i * 4 + k];
                }
            }
        }
        Some(Self { m: inv, is_2d: false })
    }

    /// Applies the matrix to `[x, y, z, w]`.
    pub fn transform_point(&self, p: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|row| (0..4).map(|k| self.m[k * 4 + row] * p[k]).sum())
    }

    /// `matrix(…)` or `matrix3d(…)`; fails on numbers that have no text.
    pub fn to_css(&self) -> Result<String, CanvasError> {
        if !super::finite(&self.m) {
            return Err(CanvasError::InvalidState("the matrix has non-finite elements".into()));
        }
        let list = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        Ok(if self.is_2d { format!("matrix({})", list(&self.to_2d())) } else { format!("matrix3d({})", list(&self.m)) })
    }
}

/// Applies an affine map to a point given as two numbers.
pub(crate) fn apply(m: &Affine, x: f64, y: f64) -> Point {
    *m * Point::new(x, y)
}
