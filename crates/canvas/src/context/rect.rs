//! Rectangles: filled, stroked, cleared.

use super::Context2d;
use crate::geometry::hit::FillRule;
use crate::geometry::{Affine, Rect, Shape, finite, path::Path2d};
use crate::raster::blend::CompositeOp;
use crate::raster::pixmap::make_mut;
use crate::raster::shader::Shader;
use crate::raster::target::Target;

/// The device rectangle, when the matrix keeps rectangles upright.
fn upright(t: &Affine, r: &Rect) -> Option<Rect> {
    let [a, b, c, d, ..] = t.as_coeffs();
    ((b == 0.0 && c == 0.0) || (a == 0.0 && d == 0.0)).then(|| t.transform_rect_bbox(*r))
}

impl Context2d {
    /// Draws an upright rectangle given in device space.
    pub(super) fn draw_rect(&mut self, rect: Rect, shader: Option<Shader>) {
        if self.state.clip.shape.is_some() {
            self.draw_path(&rect.to_path(0.1), FillRule::NonZero, shader);
            return;
        }
        self.draw(rect, shader, &mut |target, _, shader| {
            let shift = (-f64::from(target.origin.0), -f64::from(target.origin.1));
            target.rect(&(rect + crate::geometry::Vec2::from(shift)), shader);
        });
    }

    /// Fills a user-space rectangle with a shader.
    pub(super) fn fill_user_rect(&mut self, rect: &Rect, shader: Option<Shader>) {
        match upright(&self.state.transform, rect) {
            Some(device) => self.draw_rect(device, shader),
            None => {
                let path = self.state.transform * rect.to_path(0.1);
                self.draw_path(&path, FillRule::NonZero, shader);
            }
        }
    }

    /// Fills a rectangle.
    pub fn fill_rect(&mut self, x: f64, y: f64, w: f64, h: f64) {
        if finite(&[x, y, w, h]) {
            let shader = self.shader_for(&self.state.fill);
            self.fill_user_rect(&Rect::from_points((x, y), (x + w, y + h)), shader);
        }
    }

    /// Strokes a rectangle; one without area is a line, one without extent is nothing.
    pub fn stroke_rect(&mut self, x: f64, y: f64, w: f64, h: f64) {
        if !finite(&[x, y, w, h]) || (w == 0.0 && h == 0.0) {
            return;
        }
        let mut path = Path2d::new();
        if w == 0.0 || h == 0.0 {
            path.move_to_t(&self.state.transform, x, y);
            path.line_to_t(&self.state.transform, x + w, y + h);
            path.close_path();
        } else {
            path.rect_t(&self.state.transform, x, y, w, h);
        }
        self.stroke_device_path(&path.path);
    }

    /// Makes a rectangle transparent. Knows no shadow, no alpha, no compositing; only matrix and clip.
    pub fn clear_rect(&mut self, x: f64, y: f64, w: f64, h: f64) {
        if !finite(&[x, y, w, h]) || self.pixels.is_empty() {
            return;
        }
        let rect = Rect::from_points((x, y), (x + w, y + h));
        let op = if self.alpha { CompositeOp::DestinationOut } else { CompositeOp::SourceOver };
        let mut shader = Shader::Solid(0xff00_0000);
        let Self { pixels, state, coverage, .. } = self;
        let pixels = match make_mut(pixels) {
            Ok(pixels) => pixels,
            Err(error) => return self.record(Err(error)),
        };
        let size = (pixels.width, pixels.height);
        let mut target = Target { pixels, origin: (0, 0), clip: Some(&state.clip), op };
        match upright(&state.transform, &rect) {
            Some(device) if state.clip.shape.is_none() => target.rect(&device, &mut shader),
            _ => {
                coverage.fill(&rect.to_path(0.1), state.transform, FillRule::NonZero, size, Some(&state.clip));
                target.strips(&coverage.storage.strips, &coverage.storage.alphas, &mut shader);
            }
        }
    }
}
