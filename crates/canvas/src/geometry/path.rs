//! Building paths: the methods that `CanvasRenderingContext2D` and `Path2D` share.
//!
//! Points are stored already transformed, as the standard says: a later change of the matrix does not move what was
//! added before. `Path2D` simply always passes the identity.

use std::f64::consts::{PI, TAU};

use super::{Affine, BezPath, PathEl, Point, Rect, Vec2, finite, invert, matrix::apply, svg};
use crate::{CanvasError, limits::MAX_PATH_ELEMENTS};
use vello_common::kurbo::Arc;

/// A path under construction.
#[derive(Debug, Clone, Default)]
pub struct Path2d {
    pub(crate) path: BezPath,
    start: Point,
    current: Option<Point>,
    /// The last subpath was closed: the next segment starts a new one at `start`.
    closed: bool,
}

/// One corner radius of `roundRect`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Radius {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
}

fn negative_radius(radius: f64) -> CanvasError {
    CanvasError::IndexSize(format!("the radius provided ({radius}) is negative"))
}

impl Path2d {
    /// An empty path.
    pub fn new() -> Self {
        Self::default()
    }

    /// A path from SVG path data; what follows the first error is left out, as the SVG standard asks.
    pub fn from_svg(data: &str) -> Self {
        let mut path = Self::default();
        svg::append(&mut path, data);
        path
    }

    /// Appends another path, transformed.
    pub fn add_path(&mut self, other: &Self, transform: &super::matrix::DomMatrix) {
        let t = transform.affine();
        if !finite(&t.as_coeffs()) || other.path.is_empty() {
            return;
        }
        if self.path.elements().len() + other.path.elements().len() > MAX_PATH_ELEMENTS {
            return;
        }
        self.path.extend((t * other.path.clone()).elements().iter().copied());
        self.start = t * other.start;
        self.current = other.current.map(|p| t * p);
        self.closed = other.closed;
    }

    pub(crate) fn clear(&mut self) {
        self.path.truncate(0);
        self.current = None;
        self.closed = false;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    pub(crate) fn from_bez(path: BezPath) -> Self {
        Self { path, ..Self::default() }
    }

    fn full(&self) -> bool {
        self.path.elements().len() >= MAX_PATH_ELEMENTS
    }

    fn raw_move(&mut self, p: Point) {
        // Moves that are followed by another move leave no trace.
        if let Some(PathEl::MoveTo(last)) = self.path.elements_mut().last_mut() {
            *last = p;
        } else if !self.full() {
            self.path.push(PathEl::MoveTo(p));
        }
        self.start = p;
        self.current = Some(p);
        self.closed = false;
    }

    fn segment(&mut self, el: PathEl, end: Point) {
        if self.full() {
            return;
        }
        if self.closed {
            let start = self.start;
            self.path.push(PathEl::MoveTo(start));
            self.closed = false;
        }
        self.path.push(el);
        self.current = Some(end);
    }

    /// Starts a subpath at the point if there is none; says whether it had to.
    fn ensure(&mut self, p: Point) -> bool {
        if self.current.is_none() {
            self.raw_move(p);
            return true;
        }
        false
    }

    pub(crate) fn move_to_t(&mut self, t: &Affine, x: f64, y: f64) {
        if finite(&[x, y]) {
            self.raw_move(apply(t, x, y));
        }
    }

    pub(crate) fn line_to_t(&mut self, t: &Affine, x: f64, y: f64) {
        if finite(&[x, y]) {
            let p = apply(t, x, y);
            if !self.ensure(p) {
                self.segment(PathEl::LineTo(p), p);
            }
        }
    }

    pub(crate) fn quad_to_t(&mut self, t: &Affine, cx: f64, cy: f64, x: f64, y: f64) {
        if finite(&[cx, cy, x, y]) {
            let (c, p) = (apply(t, cx, cy), apply(t, x, y));
            self.ensure(c);
            self.segment(PathEl::QuadTo(c, p), p);
        }
    }

    pub(crate) fn cubic_to_t(&mut self, t: &Affine, c: [f64; 6]) {
        if finite(&c) {
            let (a, b, p) = (apply(t, c[0], c[1]), apply(t, c[2], c[3]), apply(t, c[4], c[5]));
            self.ensure(a);
            self.segment(PathEl::CurveTo(a, b, p), p);
        }
    }

    /// Closes the current subpath.
    pub fn close_path(&mut self) {
        if self.current.is_none() || self.closed || self.full() {
            return;
        }
        if matches!(self.path.elements().last(), Some(PathEl::MoveTo(_))) {
            // A subpath of one point: closing it draws nothing, but the next line starts here.
            return;
        }
        self.path.push(PathEl::ClosePath);
        self.closed = true;
        self.current = Some(self.start);
    }

    pub(crate) fn rect_t(&mut self, t: &Affine, x: f64, y: f64, w: f64, h: f64) {
        if !finite(&[x, y, w, h]) {
            return;
        }
        self.raw_move(apply(t, x, y));
        for (px, py) in [(x + w, y), (x + w, y + h), (x, y + h)] {
            let p = apply(t, px, py);
            self.segment(PathEl::LineTo(p), p);
        }
        self.close_path();
    }

    pub(crate) fn arc_to_t(&mut self, t: &Affine, [x1, y1, x2, y2, radius]: [f64; 5]) -> Result<(), CanvasError> {
        if !finite(&[x1, y1, x2, y2, radius]) {
            return Ok(());
        }
        if radius < 0.0 {
            return Err(negative_radius(radius));
        }
        let Some(inverse) = invert(t) else { return Ok(()) };
        self.ensure(apply(t, x1, y1));
        let p0 = inverse * self.current.unwrap_or_default();
        let (p1, p2) = (Point::new(x1, y1), Point::new(x2, y2));
        let (v1, v2) = (p0 - p1, p2 - p1);
        let cross = v1.cross(v2);
        if v1.hypot2() < 1e-18 || v2.hypot2() < 1e-18 || radius == 0.0 || cross.abs() <= 1e-12 * v1.hypot() * v2.hypot()
        {
            self.line_to_t(t, x1, y1);
            return Ok(());
        }
        let (u1, u2) = (v1.normalize(), v2.normalize());
        let cos = u1.dot(u2).clamp(-1.0, 1.0);
        let tangent = radius / ((1.0 - cos) / (1.0 + cos)).sqrt();
        let start = p1 + u1 * tangent;
        let end = p1 + u2 * tangent;
        let normal = if cross < 0.0 { Vec2::new(u1.y, -u1.x) } else { Vec2::new(-u1.y, u1.x) };
        let center = start + normal * radius;
        let a0 = (start - center).atan2();
        let mut sweep = (end - center).atan2() - a0;
        // The short way round, turning with the corner.
        if sweep > PI {
            sweep -= TAU;
        } else if sweep < -PI {
            sweep += TAU;
        }
        self.line_to_t(t, start.x, start.y);
        self.arc_segments(t, center, Vec2::new(radius, radius), 0.0, a0, sweep);
        Ok(())
    }

    /// `arc` and `ellipse`: centre, radii, rotation, start and end angle.
    pub(crate) fn ellipse_t(
        &mut self,
        t: &Affine,
        [x, y, rx, ry, rotation, start, end]: [f64; 7],
        counterclockwise: bool,
    ) -> Result<(), CanvasError> {
        if !finite(&[x, y, rx, ry, rotation, start, end]) {
            return Ok(());
        }
        if rx < 0.0 || ry < 0.0 {
            return Err(negative_radius(rx.min(ry)));
        }
        let sweep = if counterclockwise { -turn(start - end) } else { turn(end - start) };
        let (sin, cos) = rotation.sin_cos();
        let (sx, sy) = (rx * start.cos(), ry * start.sin());
        self.line_to_t(t, x + sx * cos - sy * sin, y + sx * sin + sy * cos);
        self.arc_segments(t, Point::new(x, y), Vec2::new(rx, ry), rotation, start, sweep);
        Ok(())
    }

    fn arc_segments(&mut self, t: &Affine, center: Point, radii: Vec2, rotation: f64, start: f64, sweep: f64) {
        if sweep == 0.0 {
            return;
        }
        if radii.x == 0.0 || radii.y == 0.0 {
            // A flat ellipse: the ends and the turning points between them.
            let steps = (sweep.abs() / (PI / 2.0)).ceil().max(1.0) as usize;
            for i in 1..=steps {
                let angle = start + sweep * i as f64 / steps as f64;
                let (sin, cos) = rotation.sin_cos();
                let (px, py) = (radii.x * angle.cos(), radii.y * angle.sin());
                self.line_to_t(t, center.x + px * cos - py * sin, center.y + px * sin + py * cos);
            }
            return;
        }
        let [a, b, c, d, ..] = t.as_coeffs();
        let scale = (a * a + b * b).max(c * c + d * d).sqrt().max(1e-9);
        let arc = Arc { center, radii, start_angle: start, sweep_angle: sweep, x_rotation: rotation };
        // A hundredth of a device pixel, but never finer than the radius deserves.
        let tolerance = (0.01 / scale).max(radii.x.max(radii.y) * 1e-7);
        for el in arc.append_iter(tolerance) {
            if let PathEl::CurveTo(p1, p2, p3) = el {
                self.segment(PathEl::CurveTo(*t * p1, *t * p2, *t * p3), *t * p3);
            }
        }
    }

    pub(crate) fn round_rect_t(
        &mut self,
        t: &Affine,
        [x, y, w, h]: [f64; 4],
        radii: &[Radius],
    ) -> Result<(), CanvasError> {
        if !finite(&[x, y, w, h]) {
            return Ok(());
        }
        if radii.is_empty() || radii.len() > 4 {
            return Err(CanvasError::Range(format!("{} radii provided: between one and four are needed", radii.len())));
        }
        if radii.iter().any(|r| !finite(&[r.x, r.y])) {
            return Ok(());
        }
        if let Some(r) = radii.iter().find(|r| r.x < 0.0 || r.y < 0.0) {
            return Err(CanvasError::Range(format!("radius value {} is negative", r.x.min(r.y))));
        }
        let mut corner: [Radius; 4] = match *radii {
            [all] => [all; 4],
            [a, b] => [a, b, a, b],
            [a, b, c] => [a, b, c, b],
            [a, b, c, d, ..] => [a, b, c, d],
            [] => return Ok(()),
        };
        let backwards = (w < 0.0) != (h < 0.0);
        let (x, w) = if w < 0.0 {
            corner.swap(0, 1);
            corner.swap(2, 3);
            (x + w, -w)
        } else {
            (x, w)
        };
        let (y, h) = if h < 0.0 {
            corner.swap(0, 3);
            corner.swap(1, 2);
            (y + h, -h)
        } else {
            (y, h)
        };
        let [ul, ur, lr, ll] = corner;
        let ratio = |size: f64, sum: f64| if sum > 0.0 { size / sum } else { f64::INFINITY };
        let scale = ratio(w, ul.x + ur.x)
            .min(ratio(h, ur.y + lr.y))
            .min(ratio(w, lr.x + ll.x))
            .min(ratio(h, ul.y + ll.y))
            .min(1.0);
        let [ul, ur, lr, ll] = corner.map(|r| Radius { x: r.x * scale, y: r.y * scale });
        let mut shape = Self::new();
        shape.raw_move(apply(t, x + ul.x, y));
        shape.line_to_t(t, x + w - ur.x, y);
        shape.corner(t, (x + w - ur.x, y + ur.y), ur, -PI / 2.0);
        shape.line_to_t(t, x + w, y + h - lr.y);
        shape.corner(t, (x + w - lr.x, y + h - lr.y), lr, 0.0);
        shape.line_to_t(t, x + ll.x, y + h);
        shape.corner(t, (x + ll.x, y + h - ll.y), ll, PI / 2.0);
        shape.line_to_t(t, x, y + ul.y);
        shape.corner(t, (x + ul.x, y + ul.y), ul, PI);
        shape.close_path();
        // A rectangle drawn backwards in one direction winds the other way round.
        let outline = if backwards { shape.path.reverse_subpaths() } else { shape.path };
        if !self.full() {
            if let Some(PathEl::MoveTo(_)) = self.path.elements().last() {
                self.path.pop();
            }
            self.path.extend(outline.iter());
        }
        // The standard ends with a new subpath at the rectangle's own corner.
        self.raw_move(apply(t, x, y));
        Ok(())
    }

    fn corner(&mut self, t: &Affine, (cx, cy): (f64, f64), r: Radius, from: f64) {
        if r.x > 0.0 && r.y > 0.0 {
            self.arc_segments(t, Point::new(cx, cy), Vec2::new(r.x, r.y), 0.0, from, PI / 2.0);
        }
    }

    /// The device rectangle, when the whole path is one upright rectangle.
    pub(crate) fn as_rect(&self) -> Option<Rect> {
        let els = self.path.elements();
        let [PathEl::MoveTo(a), PathEl::LineTo(b), PathEl::LineTo(c), PathEl::LineTo(d), PathEl::ClosePath] = els
        else {
            return None;
        };
        let upright = (a.y == b.y && b.x == c.x && c.y == d.y && d.x == a.x)
            || (a.x == b.x && b.y == c.y && c.x == d.x && d.y == a.y);
        upright.then(|| Rect::from_points(*a, *c))
    }
}

/// How far an arc turns: at most once around, and against its direction the long way, a whole turn included.
fn turn(angle: f64) -> f64 {
    if angle >= TAU {
        TAU
    } else if angle < 0.0 {
        TAU - (-angle) % TAU
    } else {
        angle
    }
}

/// The same methods without a matrix, for `Path2D` objects.
impl Path2d {
    /// Starts a new subpath.
    pub fn move_to(&mut self, x: f64, y: f64) {
        self.move_to_t(&Affine::IDENTITY, x, y);
    }

    /// Adds a straight line.
    pub fn line_to(&mut self, x: f64, y: f64) {
        self.line_to_t(&Affine::IDENTITY, x, y);
    }

    /// Adds a quadratic curve.
    pub fn quadratic_curve_to(&mut self, cx: f64, cy: f64, x: f64, y: f64) {
        self.quad_to_t(&Affine::IDENTITY, cx, cy, x, y);
    }

    /// Adds a cubic curve.
    pub fn bezier_curve_to(&mut self, c1x: f64, c1y: f64, c2x: f64, c2y: f64, x: f64, y: f64) {
        self.cubic_to_t(&Affine::IDENTITY, [c1x, c1y, c2x, c2y, x, y]);
    }

    /// Adds a rounded corner.
    pub fn arc_to(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, radius: f64) -> Result<(), CanvasError> {
        self.arc_to_t(&Affine::IDENTITY, [x1, y1, x2, y2, radius])
    }

    /// Adds a rectangle as a subpath of its own.
    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64) {
        self.rect_t(&Affine::IDENTITY, x, y, w, h);
    }

    /// Adds a rectangle with rounded corners.
    pub fn round_rect(&mut self, x: f64, y: f64, w: f64, h: f64, radii: &[Radius]) -> Result<(), CanvasError> {
        self.round_rect_t(&Affine::IDENTITY, [x, y, w, h], radii)
    }

    /// Adds an arc of a circle.
    pub fn arc(&mut self, x: f64, y: f64, r: f64, start: f64, end: f64, ccw: bool) -> Result<(), CanvasError> {
        self.ellipse_t(&Affine::IDENTITY, [x, y, r, r, 0.0, start, end], ccw)
    }

    /// Adds an arc of an ellipse: `[x, y, radius_x, radius_y, rotation, start, end]`.
    pub fn ellipse(&mut self, geometry: [f64; 7], ccw: bool) -> Result<(), CanvasError> {
        self.ellipse_t(&Affine::IDENTITY, geometry, ccw)
    }
}
