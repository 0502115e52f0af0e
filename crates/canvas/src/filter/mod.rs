//! `ctx.filter`: parsed once when set, applied to a layer when drawn.

mod apply;
mod parse;

use crate::color::CssColor;

/// One step of a filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FilterOp {
    /// Standard deviation in pixels.
    Blur(f64),
    DropShadow {
        dx: f64,
        dy: f64,
        sigma: f64,
        color: CssColor,
    },
    /// Rows of r', g', b' over (r, g, b, 1), on unpremultiplied colour.
    Matrix([f32; 12]),
    Opacity(f32),
}

/// A parsed filter and the text it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) text: String,
    pub(crate) ops: Vec<FilterOp>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { text: "none".into(), ops: Vec::new() }
    }
}

impl Filter {
    pub(crate) fn is_none(&self) -> bool {
        self.ops.is_empty()
    }

    /// Pixels by which the result may be larger than what goes in.
    pub(crate) fn margin(&self) -> i32 {
        self.ops
            .iter()
            .map(|op| match op {
                FilterOp::Blur(sigma) => crate::raster::blur::margin(*sigma),
                FilterOp::DropShadow { dx, dy, sigma, .. } => {
                    let reach = dx.abs().max(dy.abs()).ceil().min(16_384.0) as i32;
                    crate::raster::blur::margin(*sigma).saturating_add(reach)
                }
                _ => 0,
            })
            .sum()
    }
}
