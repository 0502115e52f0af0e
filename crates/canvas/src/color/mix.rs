//! `color-mix()`: two colours, a space, and how much of each.

use ::color::{ColorSpaceTag as Tag, HueDirection};

use super::CssColor;
use super::parse::{parse, predefined};
use crate::css::{Cursor, Token};

fn space(name: &str) -> Option<Tag> {
    predefined(name).or(match name {
        "hsl" => Some(Tag::Hsl),
        "hwb" => Some(Tag::Hwb),
        "lab" => Some(Tag::Lab),
        "lch" => Some(Tag::Lch),
        "oklab" => Some(Tag::Oklab),
        "oklch" => Some(Tag::Oklch),
        _ => None,
    })
}

/// Index of the hue among a space's components.
fn hue_index(tag: Tag) -> Option<usize> {
    match tag {
        Tag::Hsl | Tag::Hwb => Some(0),
        Tag::Lch | Tag::Oklch => Some(2),
        _ => None,
    }
}

fn percent(c: &mut Cursor<'_>) -> Option<f32> {
    let mut ahead = *c;
    ahead.skip_space();
    if let Some(Token::Percent(p)) = ahead.next() {
        *c = ahead;
        return Some(*p as f32 / 100.0);
    }
    None
}

fn weighted(c: &mut Cursor<'_>, depth: u8) -> Option<(CssColor, Option<f32>)> {
    let before = percent(c);
    let color = parse(c, depth + 1)?;
    let share = before.or_else(|| percent(c));
    if share.is_some_and(|s| !(0.0..=1.0).contains(&s)) {
        return None;
    }
    Some((color, share))
}

/// Reads the inside of `color-mix(`.
pub(crate) fn color_mix(c: &mut Cursor<'_>, depth: u8) -> Option<CssColor> {
    let (mut tag, mut direction) = (Tag::Oklab, HueDirection::Shorter);
    let mut ahead = *c;
    if ahead.ident() == Some("in") {
        tag = space(ahead.ident()?)?;
        let mut hue = ahead;
        if let Some(word) = hue.ident() {
            direction = match word {
                "shorter" => HueDirection::Shorter,
                "longer" => HueDirection::Longer,
                "increasing" => HueDirection::Increasing,
                "decreasing" => HueDirection::Decreasing,
                _ => return None,
            };
            if hue.ident() != Some("hue") || hue_index(tag).is_none() {
                return None;
            }
            ahead = hue;
        }
        if !ahead.take(&Token::Comma) {
            return None;
        }
        *c = ahead;
    }
    let (first, p1) = weighted(c, depth)?;
    if !c.take(&Token::Comma) {
        return None;
    }
    let (second, p2) = weighted(c, depth)?;
    if !c.close() {
        return None;
    }
    let (p1, p2) = match (p1, p2) {
        (None, None) => (0.5, 0.5),
        (Some(a), None) => (a, 1.0 - a),
        (None, Some(b)) => (1.0 - b, b),
        (Some(a), Some(b)) => (a, b),
    };
    let total = p1 + p2;
    if total <= 0.0 {
        return None;
    }
    let mixed = mix(&first, &second, tag, direction, p2 / total);
    Some(CssColor { alpha: mixed.alpha * total.min(1.0), ..mixed })
}

fn mix(a: &CssColor, b: &CssColor, tag: Tag, direction: HueDirection, t: f32) -> CssColor {
    let mut x = a.space.convert(tag, a.components);
    let mut y = b.space.convert(tag, b.components);
    for i in 0..3 {
        // A missing component takes the other colour's value.
        if a.missing[i] && a.space == tag {
            x[i] = y[i];
        } else if b.missing[i] && b.space == tag {
            y[i] = x[i];
        }
    }
    let hue = hue_index(tag);
    if let Some(h) = hue {
        fix_hue(&mut x[h], &mut y[h], direction);
    }
    let alpha_a = if a.missing[3] { b.alpha } else { a.alpha };
    let alpha_b = if b.missing[3] { a.alpha } else { b.alpha };
    let alpha = alpha_a + (alpha_b - alpha_a) * t;
    let mut out = [0.0f32; 3];
    for i in 0..3 {
        out[i] = if Some(i) == hue {
            (x[i] + (y[i] - x[i]) * t).rem_euclid(360.0)
        } else if alpha > 0.0 {
            (x[i] * alpha_a * (1.0 - t) + y[i] * alpha_b * t) / alpha
        } else {
            x[i] + (y[i] - x[i]) * t
        };
    }
    let (space, components) = match tag {
        Tag::Hsl | Tag::Hwb => (Tag::Srgb, tag.convert(Tag::Srgb, out)),
        _ => (tag, out),
    };
    CssColor { space, components, alpha, missing: [false; 4], legacy: false }
}

fn fix_hue(a: &mut f32, b: &mut f32, direction: HueDirection) {
    let d = *b - *a;
    match direction {
        HueDirection::Shorter if d > 180.0 => *a += 360.0,
        HueDirection::Shorter if d < -180.0 => *b += 360.0,
        HueDirection::Longer if d > 0.0 && d < 180.0 => *a += 360.0,
        HueDirection::Longer if d > -180.0 && d <= 0.0 => *b += 360.0,
        HueDirection::Increasing if d < 0.0 => *b += 360.0,
        HueDirection::Decreasing if d > 0.0 => *a += 360.0,
        _ => {}
    }
}
