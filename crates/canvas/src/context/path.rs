//! The current path, and filling, stroking, clipping and asking about paths.

use std::rc::Rc;

use super::Context2d;
use super::state::Style;
use crate::CanvasError;
use crate::geometry::hit::{FillRule, contains};
use crate::geometry::path::{Path2d, Radius};
use crate::geometry::{Affine, BezPath, Point, Rect, finite, invert};
use crate::raster::IRect;
use crate::raster::clip::Clip;

impl Context2d {
    /// The matrix, if a path can be built under it at all.
    fn building(&self) -> Option<Affine> {
        invert(&self.state.transform).map(|_| self.state.transform)
    }

    /// Forgets the current path.
    pub fn begin_path(&mut self) {
        self.path.clear();
    }

    /// Closes the current subpath.
    pub fn close_path(&mut self) {
        self.path.close_path();
    }

    /// Starts a new subpath.
    pub fn move_to(&mut self, x: f64, y: f64) {
        if let Some(t) = self.building() {
            self.path.move_to_t(&t, x, y);
        }
    }

    /// Adds a straight line.
    pub fn line_to(&mut self, x: f64, y: f64) {
        if let Some(t) = self.building() {
            self.path.line_to_t(&t, x, y);
        }
    }

    /// Adds a quadratic curve.
    pub fn quadratic_curve_to(&mut self, cx: f64, cy: f64, x: f64, y: f64) {
        if let Some(t) = self.building() {
            self.path.quad_to_t(&t, cx, cy, x, y);
        }
    }

    /// Adds a cubic curve.
    pub fn bezier_curve_to(&mut self, c1x: f64, c1y: f64, c2x: f64, c2y: f64, x: f64, y: f64) {
        if let Some(t) = self.building() {
            self.path.cubic_to_t(&t, [c1x, c1y, c2x, c2y, x, y]);
        }
    }

    /// Adds a rounded corner.
    pub fn arc_to(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, radius: f64) -> Result<(), CanvasError> {
        let t = self.building().unwrap_or(Affine::scale(0.0));
        self.path.arc_to_t(&t, [x1, y1, x2, y2, radius])
    }

    /// Adds a rectangle as a subpath of its own.
    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64) {
        if let Some(t) = self.building() {
            self.path.rect_t(&t, x, y, w, h);
        }
    }

    /// Adds a rectangle with rounded corners.
    pub fn round_rect(&mut self, x: f64, y: f64, w: f64, h: f64, radii: &[Radius]) -> Result<(), CanvasError> {
        match self.building() {
            Some(t) => self.path.round_rect_t(&t, [x, y, w, h], radii),
            None => Path2d::new().round_rect(x, y, w, h, radii),
        }
    }

    /// Adds an arc of a circle.
    pub fn arc(&mut self, x: f64, y: f64, r: f64, start: f64, end: f64, ccw: bool) -> Result<(), CanvasError> {
        self.ellipse([x, y, r, r, 0.0, start, end], ccw)
    }

    /// Adds an arc of an ellipse: `[x, y, radius_x, radius_y, rotation, start, end]`.
    pub fn ellipse(&mut self, geometry: [f64; 7], ccw: bool) -> Result<(), CanvasError> {
        match self.building() {
            Some(t) => self.path.ellipse_t(&t, geometry, ccw),
            None => Path2d::new().ellipse(geometry, ccw),
        }
    }

    /// Fills the current path.
    pub fn fill(&mut self, rule: FillRule) {
        let path = std::mem::take(&mut self.path);
        self.fill_device_path(&path, rule);
        self.path = path;
    }

    /// Fills a path object.
    pub fn fill_path(&mut self, path: &Path2d, rule: FillRule) {
        if invert(&self.state.transform).is_some() {
            let path = Path2d::from_bez(self.state.transform * path.path.clone());
            self.fill_device_path(&path, rule);
        }
    }

    fn fill_device_path(&mut self, path: &Path2d, rule: FillRule) {
        let shader = self.shader_for(&self.state.fill);
        match path.as_rect() {
            Some(rect) => self.draw_rect(rect, shader),
            None => self.draw_path(&path.path, rule, shader),
        }
    }

    /// Draws an outline given in device space.
    pub(super) fn draw_path(&mut self, path: &BezPath, rule: FillRule, shader: Option<crate::raster::shader::Shader>) {
        let bounds = if self.needs_bounds() { path.control_box() } else { Rect::ZERO };
        if !finite(&[bounds.x0, bounds.y0, bounds.x1, bounds.y1]) {
            return;
        }
        self.draw(bounds, shader, &mut |target, coverage, shader| {
            let shift = Affine::translate((-f64::from(target.origin.0), -f64::from(target.origin.1)));
            coverage.fill(path, shift, rule, (target.pixels.width, target.pixels.height), target.clip);
            target.strips(&coverage.storage.strips, &coverage.storage.alphas, shader);
        });
    }

    /// Only layers need to know how far a shape reaches.
    pub(super) fn needs_bounds(&self) -> bool {
        self.state.shadow.is_visible() || !self.state.filter.is_none() || self.state.op.is_unbounded()
    }

    /// Strokes the current path.
    pub fn stroke(&mut self) {
        let path = std::mem::take(&mut self.path);
        self.stroke_device_path(&path.path);
        self.path = path;
    }

    /// Strokes a path object.
    pub fn stroke_path(&mut self, path: &Path2d) {
        if invert(&self.state.transform).is_some() {
            self.stroke_device_path(&(self.state.transform * path.path.clone()));
        }
    }

    pub(super) fn stroke_device_path(&mut self, path: &BezPath) {
        let style: &Style = &self.state.stroke;
        let shader = self.shader_for(style);
        let pen = Rc::clone(&self.state.pen);
        let outline = pen.outline(path, &self.state.transform, &mut self.coverage.stroke);
        if let Some(outline) = outline {
            self.draw_path(&outline, FillRule::NonZero, shader);
        } else if self.state.op.is_unbounded() {
            self.draw(Rect::ZERO, None, &mut |_, _, _| {});
        }
    }

    /// Cuts the clip with the current path.
    pub fn clip(&mut self, rule: FillRule) {
        let path = std::mem::take(&mut self.path);
        self.clip_device_path(&path, rule);
        self.path = path;
    }

    /// Cuts the clip with a path object.
    pub fn clip_path(&mut self, path: &Path2d, rule: FillRule) {
        let path = Path2d::from_bez(self.state.transform * path.path.clone());
        self.clip_device_path(&path, rule);
    }

    fn clip_device_path(&mut self, path: &Path2d, rule: FillRule) {
        let whole = |r: &Rect| [r.x0, r.y0, r.x1, r.y1].iter().all(|v| (v - v.round()).abs() < 1e-6);
        if path.is_empty() {
            self.state.clip = Clip::rect(IRect::EMPTY);
            return;
        }
        if let (Some(r), None) = (path.as_rect().filter(whole), &self.state.clip.shape) {
            let r = IRect::new(r.x0.round() as i32, r.y0.round() as i32, r.x1.round() as i32, r.y1.round() as i32);
            self.state.clip = Clip::rect(r.intersect(&self.state.clip.bounds));
            return;
        }
        let size = (self.pixels.width, self.pixels.height);
        self.coverage.fill(&path.path, Affine::IDENTITY, rule, size, Some(&self.state.clip));
        let storage = &self.coverage.storage;
        let budget = Some(self.pixels.budget());
        match Clip::from_strips(&storage.strips, &storage.alphas, self.state.clip.bounds, budget) {
            Ok(clip) => self.state.clip = clip,
            Err(error) => {
                // Better nothing is drawn than something outside the clip.
                self.state.clip = Clip::rect(IRect::EMPTY);
                self.record(Err(error));
            }
        }
    }

    /// Whether a canvas point is inside the current path.
    pub fn is_point_in_path(&self, x: f64, y: f64, rule: FillRule) -> bool {
        finite(&[x, y]) && contains(&self.path.path, rule, Point::new(x, y))
    }

    /// Whether a canvas point is inside a path object.
    pub fn is_point_in_path_of(&self, path: &Path2d, x: f64, y: f64, rule: FillRule) -> bool {
        finite(&[x, y]) && contains(&(self.state.transform * path.path.clone()), rule, Point::new(x, y))
    }

    /// Whether a canvas point is on the stroke of the current path.
    pub fn is_point_in_stroke(&mut self, x: f64, y: f64) -> bool {
        let path = std::mem::take(&mut self.path);
        let hit = self.hit_stroke(&path.path, x, y);
        self.path = path;
        hit
    }

    /// Whether a canvas point is on the stroke of a path object.
    pub fn is_point_in_stroke_of(&mut self, path: &Path2d, x: f64, y: f64) -> bool {
        let path = self.state.transform * path.path.clone();
        self.hit_stroke(&path, x, y)
    }

    fn hit_stroke(&mut self, path: &BezPath, x: f64, y: f64) -> bool {
        if !finite(&[x, y]) {
            return false;
        }
        let outline = self.state.pen.outline(path, &self.state.transform, &mut self.coverage.stroke);
        outline.is_some_and(|o| contains(&o, FillRule::NonZero, Point::new(x, y)))
    }
}
