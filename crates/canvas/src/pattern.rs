//! `CanvasPattern`: a picture that repeats.

use std::cell::Cell;
use std::rc::Rc;

use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::ColorSpace;
use crate::geometry::{Affine, finite, matrix::DomMatrix};
use crate::raster::shader::Shader;
use crate::raster::texture::{Extend, Filter, TextureShader};

/// In which directions the picture repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// Both ways.
    Repeat,
    /// Sideways.
    RepeatX,
    /// Up and down.
    RepeatY,
    /// Not at all.
    NoRepeat,
}

impl Repetition {
    /// Parses the argument of `createPattern`; the empty string means `repeat`.
    pub fn parse(name: &str) -> Result<Self, CanvasError> {
        match name {
            "" | "repeat" => Ok(Self::Repeat),
            "repeat-x" => Ok(Self::RepeatX),
            "repeat-y" => Ok(Self::RepeatY),
            "no-repeat" => Ok(Self::NoRepeat),
            _ => Err(CanvasError::Syntax(format!(
                "the provided type ('{name}') is not one of 'repeat', 'no-repeat', 'repeat-x', or 'repeat-y'"
            ))),
        }
    }
}

#[derive(Debug)]
struct Inner {
    image: ImageBitmap,
    repetition: Repetition,
    transform: Cell<Affine>,
}

/// A pattern. Clones are the same pattern. It keeps the picture as it was when the pattern was made.
#[derive(Debug, Clone)]
pub struct Pattern(Rc<Inner>);

impl Pattern {
    /// A pattern of `image`.
    pub fn new(image: &ImageBitmap, repetition: Repetition) -> Self {
        Self(Rc::new(Inner { image: image.clone(), repetition, transform: Cell::new(Affine::IDENTITY) }))
    }

    /// Sets the pattern's own matrix.
    pub fn set_transform(&self, matrix: &DomMatrix) {
        let t = matrix.affine();
        if finite(&t.as_coeffs()) {
            self.0.transform.set(t);
        }
    }

    pub(crate) fn shader(&self, transform: &Affine, alpha: f32, space: ColorSpace, filter: Filter) -> Option<Shader> {
        let pixels = self.0.image.pixels_in(space).ok()?;
        let area = crate::raster::IRect::new(0, 0, pixels.width as i32, pixels.height as i32);
        let extend = match self.0.repetition {
            Repetition::Repeat => (Extend::Repeat, Extend::Repeat),
            Repetition::RepeatX => (Extend::Repeat, Extend::Decal),
            Repetition::RepeatY => (Extend::Decal, Extend::Repeat),
            Repetition::NoRepeat => (Extend::Decal, Extend::Decal),
        };
        let transform = *transform * self.0.transform.get();
        TextureShader::new(pixels, &transform, area, extend, filter, alpha).map(|t| Shader::Texture(Box::new(t)))
    }

    /// Whether anybody else (a style, a saved state) holds this pattern.
    pub fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// Whether two handles are the same pattern.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}
