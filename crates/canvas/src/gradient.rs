//! `CanvasGradient`: shared, and still growing after it was assigned to a style.

use std::cell::RefCell;
use std::rc::Rc;

use crate::CanvasError;
use crate::color::{ColorSpace, CssColor, parse_color};
use crate::geometry::{Affine, finite};
use crate::raster::gradient::{GradientShader, GradientShape};
use crate::raster::shader::Shader;

/// Most stops of one gradient; more are ignored.
const MAX_STOPS: usize = 65_536;

#[derive(Debug)]
struct Inner {
    shape: GradientShape,
    stops: Vec<(f64, CssColor)>,
}

/// A gradient. Clones are the same gradient: a stop added later shows in every style that uses it.
#[derive(Debug, Clone)]
pub struct Gradient(Rc<RefCell<Inner>>);

fn demand_finite(values: &[f64]) -> Result<(), CanvasError> {
    if finite(values) { Ok(()) } else { Err(CanvasError::Type("the provided double value is non-finite".into())) }
}

impl Gradient {
    fn new(shape: GradientShape) -> Self {
        Self(Rc::new(RefCell::new(Inner { shape, stops: Vec::new() })))
    }

    /// Along the line between two points.
    pub fn linear(x0: f64, y0: f64, x1: f64, y1: f64) -> Result<Self, CanvasError> {
        demand_finite(&[x0, y0, x1, y1])?;
        Ok(Self::new(GradientShape::Linear([x0, y0, x1, y1])))
    }

    /// Between two circles: `[x0, y0, r0, x1, y1, r1]`.
    pub fn radial(circles: [f64; 6]) -> Result<Self, CanvasError> {
        demand_finite(&circles)?;
        if circles[2] < 0.0 || circles[5] < 0.0 {
            return Err(CanvasError::IndexSize("the radius of a gradient's circle is negative".into()));
        }
        Ok(Self::new(GradientShape::Radial(circles)))
    }

    /// Around a point, starting at an angle.
    pub(crate) fn conic(start_angle: f64, x: f64, y: f64) -> Result<Self, CanvasError> {
        demand_finite(&[start_angle, x, y])?;
        Ok(Self::new(GradientShape::Conic([start_angle, x, y])))
    }

    /// Adds a stop.
    pub fn add_color_stop(&self, offset: f64, color: &str) -> Result<(), CanvasError> {
        demand_finite(&[offset])?;
        if !(0.0..=1.0).contains(&offset) {
            return Err(CanvasError::IndexSize(format!("the offset {offset} is outside the range (0.0, 1.0)")));
        }
        let color = parse_color(color)
            .ok_or_else(|| CanvasError::Syntax(format!("the value '{color}' could not be parsed as a color")))?;
        let mut inner = self.0.borrow_mut();
        if inner.stops.len() < MAX_STOPS {
            let at = inner.stops.partition_point(|(o, _)| *o <= offset);
            inner.stops.insert(at, (offset, color));
        }
        Ok(())
    }

    pub(crate) fn shader(&self, transform: &Affine, alpha: f32, space: ColorSpace) -> Option<Shader> {
        let inner = self.0.borrow();
        GradientShader::new(&inner.shape, &inner.stops, transform, alpha, space).map(|g| Shader::Gradient(Box::new(g)))
    }

    /// Whether anybody else (a style, a saved state) holds this gradient.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether two handles are the same gradient.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}
