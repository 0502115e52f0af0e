//! CSS transform lists, for `new DOMMatrix("translate(10px) rotate(1turn)")`.

use super::matrix::DomMatrix;
use crate::css::{Cursor, Token, length, tokenize};

/// Longest list that is read.
const MAX_TEXT_BYTES: usize = 65_536;

enum Arg {
    Number(f64),
    Length(f64),
    Angle(f64),
}

impl Arg {
    fn number(&self) -> Option<f64> {
        if let Self::Number(v) = self { Some(*v) } else { None }
    }

    fn length(&self) -> Option<f64> {
        match self {
            Self::Length(v) => Some(*v),
            Self::Number(v) if *v == 0.0 => Some(0.0),
            _ => None,
        }
    }

    fn angle(&self) -> Option<f64> {
        match self {
            Self::Angle(v) => Some(*v),
            Self::Number(v) if *v == 0.0 => Some(0.0),
            _ => None,
        }
    }
}

fn arguments(c: &mut Cursor<'_>) -> Option<Vec<Arg>> {
    let mut args = Vec::new();
    loop {
        c.skip_space();
        args.push(match c.next()? {
            Token::Number { value, .. } => Arg::Number(*value),
            Token::Dim(v, unit) => match length::degrees_per_unit(unit) {
                Some(d) => Arg::Angle(v * d),
                // Relative units mean nothing without an element.
                None if matches!(unit.as_str(), "em" | "rem" | "ex" | "ch" | "ic" | "cap" | "lh") => return None,
                None => Arg::Length(v * length::px_per_unit(unit, 0.0)?),
            },
            _ => return None,
        });
        if c.close() {
            return Some(args);
        }
        if !c.take(&Token::Comma) {
            return None;
        }
    }
}

/// Parses a transform list; the empty string and `none` are the identity.
pub(crate) fn parse(text: &str) -> Option<DomMatrix> {
    if text.len() > MAX_TEXT_BYTES {
        return None;
    }
    let tokens = tokenize(text);
    let mut c = Cursor::new(&tokens);
    let mut matrix = DomMatrix::IDENTITY;
    if c.at_end() {
        return Some(matrix);
    }
    let mut ahead = c;
    if ahead.ident() == Some("none") && ahead.at_end() {
        return Some(matrix);
    }
    while !c.at_end() {
        c.skip_space();
        let Some(Token::Function(name)) = c.next() else { return None };
        matrix = apply(&matrix, name, &arguments(&mut c)?)?;
    }
    Some(matrix)
}

fn apply(m: &DomMatrix, name: &str, args: &[Arg]) -> Option<DomMatrix> {
    let n = |i: usize| args.get(i).and_then(Arg::number);
    let l = |i: usize| args.get(i).and_then(Arg::length);
    let a = |i: usize| args.get(i).and_then(Arg::angle);
    let o = [0.0; 3];
    Some(match (name, args.len()) {
        ("matrix", 6) => m.multiply(&DomMatrix::from_2d(n(0)?, n(1)?, n(2)?, n(3)?, n(4)?, n(5)?)),
        ("matrix3d", 16) => {
            let values = args.iter().map(Arg::number).collect::<Option<Vec<_>>>()?;
            m.multiply(&DomMatrix::from_slice(&values).ok()?)
        }
        ("translate", 1) => m.translate(l(0)?, 0.0, 0.0),
        ("translate", 2) => m.translate(l(0)?, l(1)?, 0.0),
        ("translatex", 1) => m.translate(l(0)?, 0.0, 0.0),
        ("translatey", 1) => m.translate(0.0, l(0)?, 0.0),
        ("translatez", 1) => flat3d(m.translate(0.0, 0.0, l(0)?)),
        ("translate3d", 3) => flat3d(m.translate(l(0)?, l(1)?, l(2)?)),
        ("scale", 1) => m.scale(n(0)?, n(0)?, 1.0, o),
        ("scale", 2) => m.scale(n(0)?, n(1)?, 1.0, o),
        ("scalex", 1) => m.scale(n(0)?, 1.0, 1.0, o),
        ("scaley", 1) => m.scale(1.0, n(0)?, 1.0, o),
        ("scalez", 1) => flat3d(m.scale(1.0, 1.0, n(0)?, o)),
        ("scale3d", 3) => flat3d(m.scale(n(0)?, n(1)?, n(2)?, o)),
        ("rotate", 1) => m.rotate(0.0, 0.0, a(0)?),
        ("rotatex", 1) => flat3d(m.rotate(a(0)?, 0.0, 0.0)),
        ("rotatey", 1) => flat3d(m.rotate(0.0, a(0)?, 0.0)),
        ("rotatez", 1) => flat3d(m.rotate(0.0, 0.0, a(0)?)),
        ("rotate3d", 4) => flat3d(m.rotate_axis_angle(n(0)?, n(1)?, n(2)?, a(3)?)),
        ("skew", 1) => m.skew_x(a(0)?),
        ("skew", 2) => {
            let (x, y) = (a(0)?.to_radians().tan(), a(1)?.to_radians().tan());
            m.multiply(&DomMatrix::from_2d(1.0, y, x, 1.0, 0.0, 0.0))
        }
        ("skewx", 1) => m.skew_x(a(0)?),
        ("skewy", 1) => m.skew_y(a(0)?),
        ("perspective", 1) => {
            let depth = l(0)?;
            if depth < 0.0 {
                return None;
            }
            let mut p = DomMatrix { is_2d: false, ..DomMatrix::IDENTITY };
            p.m[11] = -1.0 / depth.max(1.0);
            m.multiply(&p)
        }
        _ => return None,
    })
}

/// A 3D function makes the matrix 3D even when its numbers would not.
fn flat3d(m: DomMatrix) -> DomMatrix {
    DomMatrix { is_2d: false, ..m }
}
