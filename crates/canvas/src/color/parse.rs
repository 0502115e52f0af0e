//! Text to colour.
//!
//! Follows CSS Color 4 to the letter in what it refuses, because an invalid colour must leave the attribute as it was.

use ::color::ColorSpaceTag as Tag;

use super::calc::{Channels, calc};
use super::{CssColor, mix, system};
use crate::css::{Cursor, Token, length::degrees_per_unit, tokenize};

/// How deep `color-mix()` and relative colours may nest.
const MAX_DEPTH: u8 = 8;

/// Parses a CSS colour; `None` when it is not one. `currentcolor` is black: a canvas without an element has no other.
pub fn parse_color(text: &str) -> Option<CssColor> {
    if text.len() > 4096 {
        return None;
    }
    if let Some(hex) = text.trim_matches([' ', '\t', '\n', '\r', '\u{c}']).strip_prefix('#') {
        return parse_hex(hex);
    }
    let tokens = tokenize(text);
    let mut cursor = Cursor::new(&tokens);
    let color = parse(&mut cursor, 0)?;
    cursor.at_end().then_some(color)
}

fn parse_hex(hex: &str) -> Option<CssColor> {
    if !hex.is_ascii() {
        return None;
    }
    let nibble = |i: usize| (hex.as_bytes()[i] as char).to_digit(16).map(|d| d as u8);
    let short = |i: usize| nibble(i).map(|d| d * 17);
    let long = |i: usize| Some(nibble(i)? * 16 + nibble(i + 1)?);
    Some(match hex.len() {
        3 => CssColor::from_rgba8(short(0)?, short(1)?, short(2)?, 255),
        4 => CssColor::from_rgba8(short(0)?, short(1)?, short(2)?, short(3)?),
        6 => CssColor::from_rgba8(long(0)?, long(2)?, long(4)?, 255),
        8 => CssColor::from_rgba8(long(0)?, long(2)?, long(4)?, long(6)?),
        _ => return None,
    })
}

/// Parses one colour at the cursor.
pub(crate) fn parse(c: &mut Cursor<'_>, depth: u8) -> Option<CssColor> {
    if depth > MAX_DEPTH {
        return None;
    }
    c.skip_space();
    match c.next()? {
        Token::Hash(hex) => parse_hex(hex),
        Token::Ident { lower, .. } => named(lower),
        Token::Function(name) => match name.as_str() {
            "rgb" | "rgba" => function(c, &RGB, depth),
            "hsl" | "hsla" => function(c, &HSL, depth),
            "hwb" => function(c, &HWB, depth),
            "lab" => function(c, &LAB, depth),
            "lch" => function(c, &LCH, depth),
            "oklab" => function(c, &OKLAB, depth),
            "oklch" => function(c, &OKLCH, depth),
            "color" => color_function(c, depth),
            "color-mix" => mix::color_mix(c, depth),
            _ => None,
        },
        _ => None,
    }
}

fn named(name: &str) -> Option<CssColor> {
    match name {
        "transparent" => return Some(CssColor::TRANSPARENT),
        "currentcolor" => return Some(CssColor::BLACK),
        _ => {}
    }
    if let Some([r, g, b]) = system::system_color(name) {
        return Some(CssColor::from_rgba8(r, g, b, 255));
    }
    if !name.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let american = name.replace("grey", "gray");
    let rgba = ::color::parse_color(&american).ok()?.to_alpha_color::<::color::Srgb>().to_rgba8();
    Some(CssColor::from_rgba8(rgba.r, rgba.g, rgba.b, rgba.a))
}

/// One colour function: its space, its channel names, and what a number or 100 % means for each channel.
struct Model {
    tag: Tag,
    names: [&'static str; 3],
    /// The value of 100 %; 0 marks the hue, which takes no percentage.
    full: [f64; 3],
    /// What a plain number is divided by to reach the space's own unit.
    unit: [f64; 3],
    /// Whether the comma syntax exists; for `hsl` it demands percentages.
    legacy: bool,
    serial_as_srgb: bool,
}

const RGB: Model = Model {
    tag: Tag::Srgb,
    names: ["r", "g", "b"],
    full: [255.0; 3],
    unit: [255.0; 3],
    legacy: true,
    serial_as_srgb: true,
};
const HSL: Model = Model {
    tag: Tag::Hsl,
    names: ["h", "s", "l"],
    full: [0.0, 100.0, 100.0],
    unit: [1.0; 3],
    legacy: true,
    serial_as_srgb: true,
};
const HWB: Model = Model {
    tag: Tag::Hwb,
    names: ["h", "w", "b"],
    full: [0.0, 100.0, 100.0],
    unit: [1.0; 3],
    legacy: false,
    serial_as_srgb: true,
};
const LAB: Model = Model {
    tag: Tag::Lab,
    names: ["l", "a", "b"],
    full: [100.0, 125.0, 125.0],
    unit: [1.0; 3],
    legacy: false,
    serial_as_srgb: false,
};
const LCH: Model = Model {
    tag: Tag::Lch,
    names: ["l", "c", "h"],
    full: [100.0, 150.0, 0.0],
    unit: [1.0; 3],
    legacy: false,
    serial_as_srgb: false,
};
const OKLAB: Model = Model {
    tag: Tag::Oklab,
    names: ["l", "a", "b"],
    full: [1.0, 0.4, 0.4],
    unit: [1.0; 3],
    legacy: false,
    serial_as_srgb: false,
};
const OKLCH: Model = Model {
    tag: Tag::Oklch,
    names: ["l", "c", "h"],
    full: [1.0, 0.4, 0.0],
    unit: [1.0; 3],
    legacy: false,
    serial_as_srgb: false,
};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    None,
    Number(f64),
    Percent(f64),
    Angle(f64),
}

fn part(c: &mut Cursor<'_>, channels: Option<&Channels>) -> Option<Part> {
    c.skip_space();
    match c.next()? {
        Token::Number { value, .. } => Some(Part::Number(*value)),
        Token::Percent(p) => Some(Part::Percent(*p)),
        Token::Dim(v, unit) => degrees_per_unit(unit).map(|d| Part::Angle(v * d)),
        Token::Ident { lower, .. } if lower == "none" => Some(Part::None),
        Token::Ident { lower, .. } => channels?.get(lower).map(Part::Number),
        Token::Function(name) if name == "calc" => calc(c, channels).map(Part::Number),
        _ => None,
    }
}

/// The three values in the space's own unit, and which are `none`.
fn resolve(model: &Model, parts: [Part; 3]) -> Option<([f32; 3], [bool; 3])> {
    let mut out = [0.0f32; 3];
    let mut missing = [false; 3];
    for i in 0..3 {
        let hue = model.full[i] == 0.0;
        let value = match parts[i] {
            Part::None => {
                missing[i] = true;
                0.0
            }
            Part::Number(v) => v / model.unit[i],
            Part::Percent(_) if hue => return None,
            Part::Percent(p) => p / 100.0 * model.full[i] / model.unit[i],
            Part::Angle(_) if !hue => return None,
            Part::Angle(a) => a,
        };
        out[i] = if hue { value.rem_euclid(360.0) as f32 } else { value as f32 };
    }
    Some((out, missing))
}

fn alpha_value(part: Part) -> Option<(f32, bool)> {
    Some(match part {
        Part::None => (0.0, true),
        Part::Number(v) => (v.clamp(0.0, 1.0) as f32, false),
        Part::Percent(p) => ((p / 100.0).clamp(0.0, 1.0) as f32, false),
        Part::Angle(_) => return None,
    })
}

fn origin(c: &mut Cursor<'_>, depth: u8) -> Option<Option<CssColor>> {
    let mut ahead = *c;
    if ahead.ident() == Some("from") {
        let color = parse(&mut ahead, depth + 1)?;
        *c = ahead;
        return Some(Some(color));
    }
    Some(None)
}

fn function(c: &mut Cursor<'_>, model: &Model, depth: u8) -> Option<CssColor> {
    let from = origin(c, depth)?;
    let channels = from.map(|color| {
        let v = color.space.convert(model.tag, color.components);
        let value = |i: usize| f64::from(v[i]) * model.unit[i];
        Channels { names: model.names, values: [value(0), value(1), value(2)], alpha: f64::from(color.alpha) }
    });
    let first = part(c, channels.as_ref())?;
    let commas = from.is_none() && model.legacy && c.take(&Token::Comma);
    let second = part(c, channels.as_ref())?;
    if commas && !c.take(&Token::Comma) {
        return None;
    }
    let third = part(c, channels.as_ref())?;
    let parts = [first, second, third];
    if commas {
        let is_pct = |p: Part| matches!(p, Part::Percent(_));
        let is_num = |p: Part| matches!(p, Part::Number(_));
        let fine = if model.tag == Tag::Hsl {
            is_pct(second) && is_pct(third) && first != Part::None
        } else {
            parts.iter().all(|p| is_pct(*p)) || parts.iter().all(|p| is_num(*p))
        };
        if !fine {
            return None;
        }
    }
    let (mut alpha, mut alpha_missing) = (1.0, false);
    if if commas { c.take(&Token::Comma) } else { c.take(&Token::Delim('/')) } {
        (alpha, alpha_missing) = alpha_value(part(c, channels.as_ref())?)?;
    } else if let Some(channels) = channels {
        alpha = channels.alpha as f32;
    }
    if !c.close() {
        return None;
    }
    let (mut values, missing) = resolve(model, parts)?;
    match model.tag {
        Tag::Hsl => {
            values[1] = values[1].max(0.0);
            if from.is_none() {
                values[1] = values[1].min(100.0);
                values[2] = values[2].clamp(0.0, 100.0);
            }
        }
        Tag::Hwb => {
            let sum = values[1] + values[2];
            if sum > 100.0 {
                values = [values[0], values[1] / sum * 100.0, values[2] / sum * 100.0];
            }
        }
        Tag::Lab | Tag::Lch => values[0] = values[0].clamp(0.0, 100.0),
        Tag::Oklab | Tag::Oklch => values[0] = values[0].clamp(0.0, 1.0),
        _ => {}
    }
    if matches!(model.tag, Tag::Lch | Tag::Oklch) {
        values[1] = values[1].max(0.0);
    }
    if model.serial_as_srgb {
        let rgb = model.tag.convert(Tag::Srgb, values);
        if from.is_none() {
            return Some(CssColor::from_legacy_srgb(rgb, alpha));
        }
        return Some(CssColor { space: Tag::Srgb, components: rgb, alpha, missing: [false; 4], legacy: false });
    }
    Some(CssColor {
        space: model.tag,
        components: values,
        alpha,
        missing: [missing[0], missing[1], missing[2], alpha_missing],
        legacy: false,
    })
}

/// The space named inside `color()` or `color-mix()`.
pub(crate) fn predefined(name: &str) -> Option<Tag> {
    Some(match name {
        "srgb" => Tag::Srgb,
        "srgb-linear" => Tag::LinearSrgb,
        "display-p3" => Tag::DisplayP3,
        "a98-rgb" => Tag::A98Rgb,
        "prophoto-rgb" => Tag::ProphotoRgb,
        "rec2020" => Tag::Rec2020,
        "xyz" | "xyz-d65" => Tag::XyzD65,
        "xyz-d50" => Tag::XyzD50,
        _ => return None,
    })
}

fn color_function(c: &mut Cursor<'_>, depth: u8) -> Option<CssColor> {
    let from = origin(c, depth)?;
    let tag = predefined(c.ident()?)?;
    let names = if matches!(tag, Tag::XyzD50 | Tag::XyzD65) { ["x", "y", "z"] } else { ["r", "g", "b"] };
    let channels = from.map(|color| {
        let v = color.space.convert(tag, color.components);
        Channels { names, values: [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])], alpha: f64::from(color.alpha) }
    });
    let mut values = [0.0; 3];
    let mut missing = [false; 4];
    for i in 0..3 {
        match part(c, channels.as_ref())? {
            Part::None => missing[i] = true,
            Part::Number(v) => values[i] = v as f32,
            Part::Percent(p) => values[i] = (p / 100.0) as f32,
            Part::Angle(_) => return None,
        }
    }
    let mut alpha = from.map_or(1.0, |f| f.alpha);
    if c.take(&Token::Delim('/')) {
        (alpha, missing[3]) = alpha_value(part(c, channels.as_ref())?)?;
    }
    c.close().then_some(CssColor { space: tag, components: values, alpha, missing, legacy: false })
}
