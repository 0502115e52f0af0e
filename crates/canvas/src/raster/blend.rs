//! The 26 compositing and blend modes of the canvas.

use super::pixel::{mul255, over, pack, plus, scale, unpack};

/// `globalCompositeOperation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each is the standard's own word")]
pub enum CompositeOp {
    #[default]
    SourceOver,
    SourceIn,
    SourceOut,
    SourceAtop,
    DestinationOver,
    DestinationIn,
    DestinationOut,
    DestinationAtop,
    Lighter,
    Copy,
    Xor,
    Multiply,
    Screen,
    Overlay,
    Darken,
    Lighten,
    ColorDodge,
    ColorBurn,
    HardLight,
    SoftLight,
    Difference,
    Exclusion,
    Hue,
    Saturation,
    Color,
    Luminosity,
}

use CompositeOp as Op;

const NAMES: [(&str, CompositeOp); 26] = [
    ("source-over", Op::SourceOver),
    ("source-in", Op::SourceIn),
    ("source-out", Op::SourceOut),
    ("source-atop", Op::SourceAtop),
    ("destination-over", Op::DestinationOver),
    ("destination-in", Op::DestinationIn),
    ("destination-out", Op::DestinationOut),
    ("destination-atop", Op::DestinationAtop),
    ("lighter", Op::Lighter),
    ("copy", Op::Copy),
    ("xor", Op::Xor),
    ("multiply", Op::Multiply),
    ("screen", Op::Screen),
    ("overlay", Op::Overlay),
    ("darken", Op::Darken),
    ("lighten", Op::Lighten),
    ("color-dodge", Op::ColorDodge),
    ("color-burn", Op::ColorBurn),
    ("hard-light", Op::HardLight),
    ("soft-light", Op::SoftLight),
    ("difference", Op::Difference),
    ("exclusion", Op::Exclusion),
    ("hue", Op::Hue),
    ("saturation", Op::Saturation),
    ("color", Op::Color),
    ("luminosity", Op::Luminosity),
];

impl CompositeOp {
    /// Every mode.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(_, op)| *op)
    }

    /// Parses the attribute's value; names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
    }

    /// The attribute's value.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, op)| *op == self).map_or("source-over", |(n, _)| n)
    }

    /// Whether the mode also changes pixels that the shape does not cover.
    pub(crate) fn is_unbounded(self) -> bool {
        matches!(self, Op::SourceIn | Op::SourceOut | Op::DestinationIn | Op::DestinationAtop | Op::Copy)
    }

    /// Composites one premultiplied pixel.
    #[inline]
    pub(crate) fn apply(self, s: u32, d: u32) -> u32 {
        let (sa, da) = (s >> 24, d >> 24);
        match self {
            Op::SourceOver => over(s, d),
            Op::SourceIn => scale(s, da),
            Op::SourceOut => scale(s, 255 - da),
            Op::SourceAtop => plus(scale(s, da), scale(d, 255 - sa)),
            Op::DestinationOver => over(d, s),
            Op::DestinationIn => scale(d, sa),
            Op::DestinationOut => scale(d, 255 - sa),
            Op::DestinationAtop => plus(scale(d, sa), scale(s, 255 - da)),
            Op::Lighter => plus(s, d),
            Op::Copy => s,
            Op::Xor => plus(scale(s, 255 - da), scale(d, 255 - sa)),
            _ if sa == 0 => d,
            _ if da == 0 => s,
            Op::Multiply => separable(s, d, |s, d, sa, da| mul255(s, d) + mul255(s, 255 - da) + mul255(d, 255 - sa)),
            Op::Screen => separable(s, d, |s, d, _, _| s + d - mul255(s, d)),
            _ => self.float_blend(s, d),
        }
    }

    fn float_blend(self, s: u32, d: u32) -> u32 {
        let (s, d) = (unpack(s).map(|v| v as f32 / 255.0), unpack(d).map(|v| v as f32 / 255.0));
        let (sa, da) = (s[3], d[3]);
        let cs = [s[0] / sa, s[1] / sa, s[2] / sa];
        let cb = [d[0] / da, d[1] / da, d[2] / da];
        let mixed = match self {
            Op::Hue => set_lum(set_sat(cs, sat(cb)), lum(cb)),
            Op::Saturation => set_lum(set_sat(cb, sat(cs)), lum(cb)),
            Op::Color => set_lum(cs, lum(cb)),
            Op::Luminosity => set_lum(cb, lum(cs)),
            _ => std::array::from_fn(|i| self.channel(cs[i].min(1.0), cb[i].min(1.0))),
        };
        let alpha = sa + da - sa * da;
        let c = |i: usize| {
            let v = s[i] * (1.0 - da) + d[i] * (1.0 - sa) + sa * da * mixed[i];
            (v.clamp(0.0, alpha) * 255.0 + 0.5) as u32
        };
        let a = (alpha * 255.0 + 0.5) as u32;
        pack(c(0).min(a), c(1).min(a), c(2).min(a), a)
    }

    /// The separable blend functions of the Compositing standard, on unpremultiplied channels.
    fn channel(self, s: f32, b: f32) -> f32 {
        match self {
            Op::Overlay => hard_light(b, s),
            Op::Darken => s.min(b),
            Op::Lighten => s.max(b),
            Op::ColorDodge if b == 0.0 => 0.0,
            Op::ColorDodge if s >= 1.0 => 1.0,
            Op::ColorDodge => (b / (1.0 - s)).min(1.0),
            Op::ColorBurn if b >= 1.0 => 1.0,
            Op::ColorBurn if s <= 0.0 => 0.0,
            Op::ColorBurn => 1.0 - ((1.0 - b) / s).min(1.0),
            Op::HardLight => hard_light(s, b),
            Op::SoftLight if s <= 0.5 => b - (1.0 - 2.0 * s) * b * (1.0 - b),
            Op::SoftLight => {
                let d = if b <= 0.25 { ((16.0 * b - 12.0) * b + 4.0) * b } else { b.sqrt() };
                b + (2.0 * s - 1.0) * (d - b)
            }
            Op::Difference => (s - b).abs(),
            Op::Exclusion => s + b - 2.0 * s * b,
            _ => s,
        }
    }
}

#[inline(always)]
fn separable(s: u32, d: u32, f: impl Fn(u32, u32, u32, u32) -> u32) -> u32 {
    let (a, b) = (unpack(s), unpack(d));
    let alpha = a[3] + b[3] - mul255(a[3], b[3]);
    let c = |i: usize| f(a[i], b[i], a[3], b[3]).min(alpha);
    pack(c(0), c(1), c(2), alpha)
}

fn hard_light(s: f32, b: f32) -> f32 {
    if s <= 0.5 { b * 2.0 * s } else { b + (2.0 * s - 1.0) - b * (2.0 * s - 1.0) }
}

fn lum(c: [f32; 3]) -> f32 {
    0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2]
}

fn sat(c: [f32; 3]) -> f32 {
    c[0].max(c[1]).max(c[2]) - c[0].min(c[1]).min(c[2])
}

fn set_lum(c: [f32; 3], l: f32) -> [f32; 3] {
    let d = l - lum(c);
    let c = c.map(|v| v + d);
    let l = lum(c);
    let (low, high) = (c[0].min(c[1]).min(c[2]), c[0].max(c[1]).max(c[2]));
    let mut out = c;
    if low < 0.0 {
        out = out.map(|v| l + (v - l) * l / (l - low));
    }
    if high > 1.0 {
        out = out.map(|v| l + (v - l) * (1.0 - l) / (high - l));
    }
    out
}

fn set_sat(c: [f32; 3], s: f32) -> [f32; 3] {
    let (low, high) = (c[0].min(c[1]).min(c[2]), c[0].max(c[1]).max(c[2]));
    if high > low { c.map(|v| (v - low) * s / (high - low)) } else { [0.0; 3] }
}
