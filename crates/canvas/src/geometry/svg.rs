//! SVG path data, for `new Path2D("M0 0 L10 10")`.

use super::{Affine, Point, Vec2, path::Path2d};
use vello_common::kurbo::{Arc, PathEl, SvgArc};

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_whitespace() || *c == b',') {
            self.at += 1;
        }
    }

    fn command(&mut self) -> Option<u8> {
        self.skip();
        let c = *self.text.get(self.at)?;
        c.is_ascii_alphabetic().then(|| {
            self.at += 1;
            c
        })
    }

    fn number(&mut self) -> Option<f64> {
        self.skip();
        let start = self.at;
        let mut at = start;
        let digit = |i: usize| self.text.get(i).is_some_and(u8::is_ascii_digit);
        if matches!(self.text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let body = at;
        while digit(at) {
            at += 1;
        }
        if self.text.get(at) == Some(&b'.') {
            at += 1;
            while digit(at) {
                at += 1;
            }
        }
        if at == body || (at == body + 1 && self.text[body] == b'.') {
            return None;
        }
        if matches!(self.text.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.text.get(at + 1), Some(b'+' | b'-')));
            if digit(at + 1 + sign) {
                at += 1 + sign;
                while digit(at) {
                    at += 1;
                }
            }
        }
        self.at = at;
        std::str::from_utf8(&self.text[start..at]).ok()?.parse().ok().filter(|v: &f64| v.is_finite())
    }

    fn flag(&mut self) -> Option<bool> {
        self.skip();
        let c = *self.text.get(self.at)?;
        self.at += 1;
        match c {
            b'0' => Some(false),
            b'1' => Some(true),
            _ => None,
        }
    }

    fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut out = [0.0; N];
        for slot in &mut out {
            *slot = self.number()?;
        }
        Some(out)
    }
}

/// Appends what can be read of `data`.
pub(crate) fn append(path: &mut Path2d, data: &str) {
    let mut r = Reader { text: data.as_bytes(), at: 0 };
    let mut state = State { at: Point::ZERO, start: Point::ZERO, cubic: None, quad: None };
    let mut command = match r.command() {
        Some(c @ (b'M' | b'm')) => c,
        _ => return,
    };
    loop {
        if state.step(path, &mut r, command).is_none() {
            return;
        }
        r.skip();
        if r.at >= r.text.len() {
            return;
        }
        command = match (r.command(), command) {
            (Some(next), _) => next,
            (None, b'M') => b'L',
            (None, b'm') => b'l',
            (None, b'Z' | b'z') => return,
            (None, same) => same,
        };
    }
}

struct State {
    at: Point,
    start: Point,
    /// Last control point of a cubic, for `S`.
    cubic: Option<Point>,
    /// Last control point of a quadratic, for `T`.
    quad: Option<Point>,
}

impl State {
    fn step(&mut self, path: &mut Path2d, r: &mut Reader<'_>, command: u8) -> Option<()> {
        let base = if command.is_ascii_lowercase() { self.at.to_vec2() } else { Vec2::ZERO };
        let p = |x: f64, y: f64| Point::new(x, y) + base;
        let (cubic, quad) = (self.cubic.take(), self.quad.take());
        match command.to_ascii_uppercase() {
            b'M' => {
                let [x, y] = r.numbers()?;
                self.at = p(x, y);
                self.start = self.at;
                path.move_to(self.at.x, self.at.y);
            }
            b'L' => {
                let [x, y] = r.numbers()?;
                self.line(path, p(x, y));
            }
            b'H' => {
                let x = r.number()?;
                self.line(path, Point::new(x + base.x, self.at.y));
            }
            b'V' => {
                let y = r.number()?;
                self.line(path, Point::new(self.at.x, y + base.y));
            }
            b'C' => {
                let [a, b, c, d, x, y] = r.numbers()?;
                self.cubic_to(path, p(a, b), p(c, d), p(x, y));
            }
            b'S' => {
                let [c, d, x, y] = r.numbers()?;
                let first = cubic.map_or(self.at, |c| self.at + (self.at - c));
                self.cubic_to(path, first, p(c, d), p(x, y));
            }
            b'Q' => {
                let [a, b, x, y] = r.numbers()?;
                self.quad_to(path, p(a, b), p(x, y));
            }
            b'T' => {
                let [x, y] = r.numbers()?;
                let control = quad.map_or(self.at, |c| self.at + (self.at - c));
                self.quad_to(path, control, p(x, y));
            }
            b'A' => {
                let [rx, ry, angle] = r.numbers()?;
                let (large_arc, sweep) = (r.flag()?, r.flag()?);
                let [x, y] = r.numbers()?;
                self.arc(path, Vec2::new(rx.abs(), ry.abs()), angle, large_arc, sweep, p(x, y));
            }
            b'Z' => {
                path.close_path();
                self.at = self.start;
            }
            _ => return None,
        }
        Some(())
    }

    fn line(&mut self, path: &mut Path2d, to: Point) {
        path.line_to(to.x, to.y);
        self.at = to;
    }

    fn cubic_to(&mut self, path: &mut Path2d, a: Point, b: Point, to: Point) {
        path.bezier_curve_to(a.x, a.y, b.x, b.y, to.x, to.y);
        self.at = to;
        self.cubic = Some(b);
    }

    fn quad_to(&mut self, path: &mut Path2d, c: Point, to: Point) {
        path.quadratic_curve_to(c.x, c.y, to.x, to.y);
        self.at = to;
        self.quad = Some(c);
    }

    fn arc(&mut self, path: &mut Path2d, radii: Vec2, degrees: f64, large_arc: bool, sweep: bool, to: Point) {
        let svg = SvgArc { from: self.at, to, radii, x_rotation: degrees.to_radians(), large_arc, sweep };
        match Arc::from_svg_arc(&svg) {
            Some(arc) => {
                for el in arc.append_iter(0.01) {
                    if let PathEl::CurveTo(a, b, c) = el {
                        path.cubic_to_t(&Affine::IDENTITY, [a.x, a.y, b.x, b.y, c.x, c.y]);
                    }
                }
            }
            None => path.line_to(to.x, to.y),
        }
        self.at = to;
    }
}
