//! Running a filter over a layer.

use super::{Filter, FilterOp};
use crate::CanvasError;
use crate::color::CssColor;
use crate::raster::blend::CompositeOp;
use crate::raster::blur::blur;
use crate::raster::pixel;
use crate::raster::pixmap::Pixmap;
use crate::raster::target::Target;

impl Filter {
    /// Applies every step to the layer, which already has the filter's margin around it.
    pub(crate) fn apply(&self, layer: &mut Pixmap) -> Result<(), CanvasError> {
        for op in &self.ops {
            match op {
                FilterOp::Blur(sigma) => blur_pixels(layer, *sigma),
                FilterOp::DropShadow { dx, dy, sigma, color } => {
                    let mut shadow = tinted(layer, color)?;
                    blur_pixels(&mut shadow, *sigma);
                    // The shadow goes under what is there.
                    let (x, y) = (dx.round() as i32, dy.round() as i32);
                    let op = CompositeOp::DestinationOver;
                    Target { pixels: layer, origin: (0, 0), clip: None, op }.layer(&shadow, x, y);
                }
                FilterOp::Matrix(m) => {
                    for px in &mut layer.data {
                        *px = matrix_pixel(*px, m);
                    }
                }
                FilterOp::Opacity(amount) => {
                    let scale = (amount * 255.0).round() as u32;
                    for px in &mut layer.data {
                        *px = pixel::scale(*px, scale);
                    }
                }
            }
        }
        Ok(())
    }
}

fn matrix_pixel(px: u32, m: &[f32; 12]) -> u32 {
    let a = px >> 24;
    if a == 0 {
        return 0;
    }
    let alpha = a as f32 / 255.0;
    let [r, g, b, _] = pixel::unpack(px).map(|v| v as f32 / 255.0 / alpha);
    let row = |i: usize| m[i] * r + m[i + 1] * g + m[i + 2] * b + m[i + 3];
    pixel::from_float([row(0), row(4), row(8)], alpha)
}

/// Blurs premultiplied pixels in place.
pub(crate) fn blur_pixels(layer: &mut Pixmap, sigma: f64) {
    let width = layer.width as usize;
    let bytes: &mut [[u8; 4]] = bytemuck::cast_slice_mut(&mut layer.data);
    blur(bytes, width, sigma, sigma);
}

/// The layer's alpha in one colour.
fn tinted(layer: &Pixmap, color: &CssColor) -> Result<Pixmap, CanvasError> {
    let tint = pixel::from_float(color.rgb_in(layer.space), color.alpha());
    let mut out = Pixmap::new(layer.width, layer.height, layer.space, layer.budget())?;
    for (o, px) in out.data.iter_mut().zip(&layer.data) {
        *o = pixel::scale(tint, px >> 24);
    }
    Ok(out)
}
