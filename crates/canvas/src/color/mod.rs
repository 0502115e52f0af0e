//! CSS colours: parsed as CSS Color 4 (and the mixing of 5) has it, kept with their space, given back as scripts see them.
//!
//! A colour set by the old notations (`#rgb`, names, `rgb()`, `hsl()`, `hwb()`) is *legacy*: it lives in eight-bit
//! sRGB, serialises as `#rrggbb` or `rgba()`, and gradients between such colours interpolate in sRGB.

mod calc;
mod mix;
mod parse;
pub(crate) mod serial;
mod system;

use ::color::ColorSpaceTag;

pub use parse::parse_color;

/// Parses one colour at the cursor, for lists that contain colours.
pub(crate) fn parse_at(c: &mut crate::css::Cursor<'_>) -> Option<CssColor> {
    parse::parse(c, 0)
}

/// The space a canvas or its pixel data is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorSpace {
    /// `srgb`, the default.
    #[default]
    Srgb,
    /// `display-p3`.
    DisplayP3,
}

impl ColorSpace {
    /// Parses the attribute's value.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "srgb" => Some(Self::Srgb),
            "display-p3" => Some(Self::DisplayP3),
            _ => None,
        }
    }

    /// The attribute's value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Srgb => "srgb",
            Self::DisplayP3 => "display-p3",
        }
    }

    fn tag(self) -> ColorSpaceTag {
        match self {
            Self::Srgb => ColorSpaceTag::Srgb,
            Self::DisplayP3 => ColorSpaceTag::DisplayP3,
        }
    }

    /// Converts an unpremultiplied colour between the two spaces.
    pub(crate) fn convert(self, to: Self, rgb: [f32; 3]) -> [f32; 3] {
        if self == to { rgb } else { self.tag().convert(to.tag(), rgb) }
    }
}

/// A colour as CSS knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CssColor {
    pub(crate) space: ColorSpaceTag,
    pub(crate) components: [f32; 3],
    pub(crate) alpha: f32,
    /// Which of the four are `none`.
    pub(crate) missing: [bool; 4],
    pub(crate) legacy: bool,
}

impl CssColor {
    /// Opaque black, the default of fill and stroke.
    pub(crate) const BLACK: Self = Self::legacy_const([0.0; 3], 1.0);
    /// Transparent black, the default of shadows.
    pub(crate) const TRANSPARENT: Self = Self::legacy_const([0.0; 3], 0.0);

    const fn legacy_const(components: [f32; 3], alpha: f32) -> Self {
        Self { space: ColorSpaceTag::Srgb, components, alpha, missing: [false; 4], legacy: true }
    }

    /// A legacy colour from bytes.
    pub fn from_rgba8(r: u8, g: u8, b: u8, a: u8) -> Self {
        let f = |v: u8| f32::from(v) / 255.0;
        Self::legacy_const([f(r), f(g), f(b)], f(a))
    }

    /// A legacy colour from sRGB components, rounded to the eight bits that notation has.
    pub(crate) fn from_legacy_srgb(rgb: [f32; 3], alpha: f32) -> Self {
        let q = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0;
        Self::legacy_const([q(rgb[0]), q(rgb[1]), q(rgb[2])], alpha.clamp(0.0, 1.0))
    }

    /// Alpha between 0 and 1.
    pub fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Whether the colour was written in an old notation.
    pub(crate) fn is_legacy(&self) -> bool {
        self.legacy
    }

    /// Unpremultiplied components in `space`, not clamped.
    pub(crate) fn rgb_in(&self, space: ColorSpace) -> [f32; 3] {
        if self.space == space.tag() { self.components } else { self.space.convert(space.tag(), self.components) }
    }

    /// Components in Oklab, for interpolation between modern colours.
    pub(crate) fn oklab(&self) -> [f32; 3] {
        self.space.convert(ColorSpaceTag::Oklab, self.components)
    }
}

/// Oklab back to a canvas space.
pub(crate) fn oklab_to(space: ColorSpace, lab: [f32; 3]) -> [f32; 3] {
    ColorSpaceTag::Oklab.convert(space.tag(), lab)
}

/// A number as CSS writes it, with at most six significant digits.
pub(crate) fn number_text(value: f64) -> String {
    serial::number(value, 6)
}
