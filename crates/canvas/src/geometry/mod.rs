//! Points, matrices and paths, as the Geometry and Canvas standards have them.

pub(crate) mod flatten;
pub(crate) mod hit;
pub(crate) mod matrix;
pub(crate) mod path;
pub(crate) mod stroke;
mod svg;
mod transform_list;

pub(crate) use vello_common::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape, Vec2};

/// Whether all of the numbers are finite; calls with others are ignored by the standard.
pub(crate) fn finite(values: &[f64]) -> bool {
    values.iter().all(|v| v.is_finite())
}

/// The matrix's inverse, unless it has none worth having.
pub(crate) fn invert(m: &Affine) -> Option<Affine> {
    let det = m.determinant();
    (det != 0.0 && det.is_finite()).then(|| m.inverse()).filter(|i| finite(&i.as_coeffs()))
}
