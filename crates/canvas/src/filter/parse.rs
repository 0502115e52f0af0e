//! Filter lists such as `blur(4px) drop-shadow(2px 2px 3px red)`.

use super::{Filter, FilterOp};
use crate::color::CssColor;
use crate::css::{Cursor, Token, length, tokenize};

/// Longest filter text, and most steps, that are honoured.
const MAX_TEXT_BYTES: usize = 4096;
const MAX_STEPS: usize = 32;

impl Filter {
    /// Parses a filter list; `None` when it is not one, and the attribute keeps its value.
    pub(crate) fn parse(text: &str, font_size: f64) -> Option<Self> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let tokens = tokenize(text);
        let mut c = Cursor::new(&tokens);
        let mut ahead = c;
        if ahead.ident() == Some("none") && ahead.at_end() {
            return Some(Self::default());
        }
        let mut ops = Vec::new();
        while !c.at_end() {
            c.skip_space();
            let Some(Token::Function(name)) = c.next() else { return None };
            ops.push(step(name, &mut c, font_size)?);
            if ops.len() > MAX_STEPS {
                return None;
            }
        }
        if ops.is_empty() {
            return None;
        }
        Some(Self { text: text.trim().to_string(), ops })
    }
}

fn step(name: &str, c: &mut Cursor<'_>, font_size: f64) -> Option<FilterOp> {
    match name {
        "blur" => {
            let sigma = if c.close() { return Some(FilterOp::Blur(0.0)) } else { px(c, font_size)? };
            (c.close() && sigma >= 0.0).then_some(FilterOp::Blur(sigma))
        }
        "drop-shadow" => drop_shadow(c, font_size),
        "hue-rotate" => {
            let degrees = if c.close() { 0.0 } else { angle(c)? };
            Some(FilterOp::Matrix(hue_rotate(degrees.to_radians() as f32)))
        }
        _ => {
            let amount = if c.close() { 1.0 } else { amount(c)? };
            if amount < 0.0 {
                return None;
            }
            let amount = amount as f32;
            let part = amount.min(1.0);
            Some(match name {
                "brightness" => FilterOp::Matrix(diagonal(amount, 0.0)),
                "contrast" => FilterOp::Matrix(diagonal(amount, 0.5 - 0.5 * amount)),
                "invert" => FilterOp::Matrix(diagonal(1.0 - 2.0 * part, part)),
                "opacity" => FilterOp::Opacity(part),
                "grayscale" => FilterOp::Matrix(grayscale(part)),
                "sepia" => FilterOp::Matrix(sepia(part)),
                "saturate" => FilterOp::Matrix(saturate(amount)),
                _ => return None,
            })
        }
    }
}

fn px(c: &mut Cursor<'_>, font_size: f64) -> Option<f64> {
    c.skip_space();
    match c.next()? {
        Token::Dim(v, unit) => Some(v * length::px_per_unit(unit, font_size)?),
        Token::Number { value, .. } if *value == 0.0 => Some(0.0),
        _ => None,
    }
}

fn angle(c: &mut Cursor<'_>) -> Option<f64> {
    c.skip_space();
    let degrees = match c.next()? {
        Token::Dim(v, unit) => v * length::degrees_per_unit(unit)?,
        Token::Number { value, .. } if *value == 0.0 => 0.0,
        _ => return None,
    };
    c.close().then_some(degrees)
}

fn amount(c: &mut Cursor<'_>) -> Option<f64> {
    c.skip_space();
    let value = match c.next()? {
        Token::Number { value, .. } => *value,
        Token::Percent(p) => p / 100.0,
        _ => return None,
    };
    c.close().then_some(value)
}

fn drop_shadow(c: &mut Cursor<'_>, font_size: f64) -> Option<FilterOp> {
    let mut color = None;
    let mut lengths = Vec::new();
    while !c.close() {
        let mut ahead = *c;
        if lengths.len() < 3
            && let Some(v) = px(&mut ahead, font_size)
        {
            lengths.push(v);
            *c = ahead;
            continue;
        }
        if color.is_some() || lengths.len() == 1 {
            return None;
        }
        color = Some(crate::color::parse_at(c)?);
    }
    let (dx, dy, sigma) = match *lengths {
        [dx, dy] => (dx, dy, 0.0),
        [dx, dy, blur] if blur >= 0.0 => (dx, dy, blur),
        _ => return None,
    };
    Some(FilterOp::DropShadow { dx, dy, sigma, color: color.unwrap_or(CssColor::BLACK) })
}

fn diagonal(slope: f32, offset: f32) -> [f32; 12] {
    [slope, 0.0, 0.0, offset, 0.0, slope, 0.0, offset, 0.0, 0.0, slope, offset]
}

fn grayscale(amount: f32) -> [f32; 12] {
    let k = 1.0 - amount;
    let row = |r: f32, g: f32, b: f32| [r, g, b, 0.0];
    flat([
        row(0.2126 + 0.7874 * k, 0.7152 - 0.7152 * k, 0.0722 - 0.0722 * k),
        row(0.2126 - 0.2126 * k, 0.7152 + 0.2848 * k, 0.0722 - 0.0722 * k),
        row(0.2126 - 0.2126 * k, 0.7152 - 0.7152 * k, 0.0722 + 0.9278 * k),
    ])
}

fn sepia(amount: f32) -> [f32; 12] {
    let k = 1.0 - amount;
    flat([
        [0.393 + 0.607 * k, 0.769 - 0.769 * k, 0.189 - 0.189 * k, 0.0],
        [0.349 - 0.349 * k, 0.686 + 0.314 * k, 0.168 - 0.168 * k, 0.0],
        [0.272 - 0.272 * k, 0.534 - 0.534 * k, 0.131 + 0.869 * k, 0.0],
    ])
}

fn saturate(s: f32) -> [f32; 12] {
    flat([
        [0.213 + 0.787 * s, 0.715 - 0.715 * s, 0.072 - 0.072 * s, 0.0],
        [0.213 - 0.213 * s, 0.715 + 0.285 * s, 0.072 - 0.072 * s, 0.0],
        [0.213 - 0.213 * s, 0.715 - 0.715 * s, 0.072 + 0.928 * s, 0.0],
    ])
}

fn hue_rotate(radians: f32) -> [f32; 12] {
    let (s, c) = radians.sin_cos();
    flat([
        [0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928, 0.0],
        [0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283, 0.0],
        [0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715, 0.072 + c * 0.928 + s * 0.072, 0.0],
    ])
}

fn flat(rows: [[f32; 4]; 3]) -> [f32; 12] {
    std::array::from_fn(|i| rows[i / 4][i % 4])
}
