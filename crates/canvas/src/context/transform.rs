//! The current transformation matrix.

use super::Context2d;
use crate::geometry::matrix::DomMatrix;
use crate::geometry::{Affine, finite};

impl Context2d {
    fn multiply(&mut self, m: Affine) {
        if finite(&m.as_coeffs()) {
            self.state.transform *= m;
        }
    }

    /// Scales what follows.
    pub fn scale(&mut self, x: f64, y: f64) {
        self.multiply(Affine::scale_non_uniform(x, y));
    }

    /// Rotates what follows, in radians.
    pub fn rotate(&mut self, angle: f64) {
        if angle.is_finite() {
            self.multiply(Affine::rotate(angle));
        }
    }

    /// Moves what follows.
    pub fn translate(&mut self, x: f64, y: f64) {
        self.multiply(Affine::translate((x, y)));
    }

    /// Multiplies the matrix.
    pub fn transform(&mut self, a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) {
        self.multiply(Affine::new([a, b, c, d, e, f]));
    }

    /// Replaces the matrix.
    pub fn set_transform(&mut self, a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) {
        if finite(&[a, b, c, d, e, f]) {
            self.state.transform = Affine::new([a, b, c, d, e, f]);
        }
    }

    /// Replaces the matrix by the 2D part of another.
    pub fn set_transform_matrix(&mut self, matrix: &DomMatrix) {
        let [a, b, c, d, e, f] = matrix.to_2d();
        self.set_transform(a, b, c, d, e, f);
    }

    /// The identity again.
    pub fn reset_transform(&mut self) {
        self.state.transform = Affine::IDENTITY;
    }

    /// A copy of the matrix.
    pub fn get_transform(&self) -> DomMatrix {
        DomMatrix::from_affine(&self.state.transform)
    }
}
