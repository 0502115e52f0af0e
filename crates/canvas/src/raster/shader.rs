//! What colour each pixel of a shape gets.

use super::gradient::GradientShader;
use super::pixel;
use super::texture::TextureShader;
use crate::color::{ColorSpace, CssColor};

/// A paint, ready to be asked for pixels of one canvas.
pub(crate) enum Shader {
    /// One premultiplied colour.
    Solid(u32),
    /// A gradient.
    Gradient(Box<GradientShader>),
    /// Pixels of a picture.
    Texture(Box<TextureShader>),
}

impl Shader {
    pub(crate) fn solid(color: &CssColor, alpha: f32, space: ColorSpace) -> Self {
        Self::Solid(pixel::from_float(color.rgb_in(space), color.alpha() * alpha))
    }

    /// Writes the colours of the pixels from (x, y) to the right.
    pub(crate) fn shade(&mut self, x: i32, y: i32, out: &mut [u32]) {
        match self {
            Self::Solid(px) => out.fill(*px),
            Self::Gradient(g) => g.shade(x, y, out),
            Self::Texture(t) => t.shade(x, y, out),
        }
    }
}
