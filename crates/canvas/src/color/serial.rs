//! Colour to text, as a getter shows it.

use std::fmt;

use ::color::ColorSpaceTag as Tag;

use super::CssColor;

/// A number with at most `digits` significant digits and no trailing zeros.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits as i32 - 1 - magnitude).clamp(0, 17) as usize;
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".into() } else { text }
}

/// Alpha as CSS writes it: two digits if they give back the same byte, else three.
fn alpha_text(alpha: f32) -> String {
    let byte = (alpha * 255.0).round();
    let a = f64::from(byte) / 255.0;
    let two = (a * 100.0).round() / 100.0;
    let shown = if (two * 255.0).round() == f64::from(byte) { two } else { (a * 1000.0).round() / 1000.0 };
    number(shown, 6)
}

impl fmt::Display for CssColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.legacy {
            let b = self.components.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8);
            if self.alpha >= 1.0 {
                return write!(f, "#{:02x}{:02x}{:02x}", b[0], b[1], b[2]);
            }
            return write!(f, "rgba({}, {}, {}, {})", b[0], b[1], b[2], alpha_text(self.alpha));
        }
        let part = |i: usize| {
            if self.missing[i] { "none".to_string() } else { number(f64::from(self.components[i]), 6) }
        };
        let name = match self.space {
            Tag::Lab => Some("lab"),
            Tag::Lch => Some("lch"),
            Tag::Oklab => Some("oklab"),
            Tag::Oklch => Some("oklch"),
            _ => None,
        };
        match name {
            Some(name) => write!(f, "{name}({} {} {}", part(0), part(1), part(2))?,
            None => write!(f, "color({} {} {} {}", space_name(self.space), part(0), part(1), part(2))?,
        }
        if self.missing[3] {
            write!(f, " / none")?;
        } else if self.alpha < 1.0 {
            write!(f, " / {}", number(f64::from(self.alpha), 6))?;
        }
        write!(f, ")")
    }
}

fn space_name(tag: Tag) -> &'static str {
    match tag {
        Tag::LinearSrgb => "srgb-linear",
        Tag::DisplayP3 => "display-p3",
        Tag::A98Rgb => "a98-rgb",
        Tag::ProphotoRgb => "prophoto-rgb",
        Tag::Rec2020 => "rec2020",
        Tag::XyzD50 => "xyz-d50",
        Tag::XyzD65 => "xyz-d65",
        _ => "srgb",
    }
}
