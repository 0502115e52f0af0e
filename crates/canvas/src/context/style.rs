//! Colours, lines, shadows, compositing: the plain attributes.

use std::rc::Rc;

use super::Context2d;
use super::state::{ImageSmoothingQuality, Style, StyleValue};
use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::parse_color;
use crate::filter::Filter;
use crate::geometry::stroke::{LineCap, LineJoin};
use crate::gradient::Gradient;
use crate::pattern::{Pattern, Repetition};
use crate::raster::blend::CompositeOp;
use crate::raster::shader::Shader;
use crate::raster::texture::Filter as Sampling;

/// Most numbers a dash list may have; longer ones are ignored.
const MAX_DASHES: usize = 256;

fn value_of(style: &Style) -> StyleValue {
    match style {
        Style::Color(c) => StyleValue::Text(c.to_string()),
        Style::Gradient(g) => StyleValue::Gradient(g.clone()),
        Style::Pattern(p) => StyleValue::Pattern(p.clone()),
    }
}

impl Context2d {
    /// `fillStyle`.
    pub fn fill_style(&self) -> StyleValue {
        value_of(&self.state.fill)
    }

    /// Sets `fillStyle`.
    pub fn set_fill_style(&mut self, style: Style) {
        self.state.fill = style;
    }

    /// Sets `fillStyle` from text; what is no colour is ignored.
    pub fn set_fill_style_text(&mut self, text: &str) {
        if let Some(color) = self.parsed_colors.get(text, parse_color) {
            self.state.fill = Style::Color(color);
        }
    }

    /// `strokeStyle`.
    pub fn stroke_style(&self) -> StyleValue {
        value_of(&self.state.stroke)
    }

    /// Sets `strokeStyle`.
    pub fn set_stroke_style(&mut self, style: Style) {
        self.state.stroke = style;
    }

    /// Sets `strokeStyle` from text; what is no colour is ignored.
    pub fn set_stroke_style_text(&mut self, text: &str) {
        if let Some(color) = self.parsed_colors.get(text, parse_color) {
            self.state.stroke = Style::Color(color);
        }
    }

    /// A gradient along a line.
    pub fn create_linear_gradient(&self, x0: f64, y0: f64, x1: f64, y1: f64) -> Result<Gradient, CanvasError> {
        Gradient::linear(x0, y0, x1, y1)
    }

    /// A gradient between two circles: `[x0, y0, r0, x1, y1, r1]`.
    pub fn create_radial_gradient(&self, circles: [f64; 6]) -> Result<Gradient, CanvasError> {
        Gradient::radial(circles)
    }

    /// A gradient around a point.
    pub fn create_conic_gradient(&self, start_angle: f64, x: f64, y: f64) -> Result<Gradient, CanvasError> {
        Gradient::conic(start_angle, x, y)
    }

    /// A pattern of a picture.
    pub fn create_pattern(&self, image: &ImageBitmap, repetition: &str) -> Result<Pattern, CanvasError> {
        let repetition = Repetition::parse(repetition)?;
        if image.width() == 0 || image.height() == 0 {
            return Err(CanvasError::InvalidState("the image has no pixels".into()));
        }
        Ok(Pattern::new(image, repetition))
    }

    /// `lineWidth`.
    pub fn line_width(&self) -> f64 {
        self.state.pen.width
    }

    /// Sets `lineWidth`; zero, negative and non-finite widths are ignored.
    pub fn set_line_width(&mut self, width: f64) {
        if width.is_finite() && width > 0.0 {
            Rc::make_mut(&mut self.state.pen).width = width;
        }
    }

    /// `lineCap`.
    pub fn line_cap(&self) -> &'static str {
        match self.state.pen.cap {
            LineCap::Butt => "butt",
            LineCap::Round => "round",
            LineCap::Square => "square",
        }
    }

    /// Sets `lineCap`; unknown words are ignored.
    pub fn set_line_cap(&mut self, name: &str) {
        Rc::make_mut(&mut self.state.pen).cap = match name {
            "butt" => LineCap::Butt,
            "round" => LineCap::Round,
            "square" => LineCap::Square,
            _ => return,
        };
    }

    /// `lineJoin`.
    pub fn line_join(&self) -> &'static str {
        match self.state.pen.join {
            LineJoin::Miter => "miter",
            LineJoin::Round => "round",
            LineJoin::Bevel => "bevel",
        }
    }

    /// Sets `lineJoin`; unknown words are ignored.
    pub fn set_line_join(&mut self, name: &str) {
        Rc::make_mut(&mut self.state.pen).join = match name {
            "miter" => LineJoin::Miter,
            "round" => LineJoin::Round,
            "bevel" => LineJoin::Bevel,
            _ => return,
        };
    }

    /// `miterLimit`.
    pub fn miter_limit(&self) -> f64 {
        self.state.pen.miter_limit
    }

    /// Sets `miterLimit`; zero, negative and non-finite limits are ignored.
    pub fn set_miter_limit(&mut self, limit: f64) {
        if limit.is_finite() && limit > 0.0 {
            Rc::make_mut(&mut self.state.pen).miter_limit = limit;
        }
    }

    /// `getLineDash()`.
    pub fn line_dash(&self) -> &[f64] {
        &self.state.pen.dash
    }

    /// `setLineDash()`: negative or non-finite numbers void the call, an odd list is doubled.
    pub fn set_line_dash(&mut self, dash: &[f64]) {
        if dash.len() > MAX_DASHES || dash.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return;
        }
        let mut list = dash.to_vec();
        if list.len() % 2 == 1 {
            list.extend_from_slice(dash);
        }
        Rc::make_mut(&mut self.state.pen).dash = list;
    }

    /// `lineDashOffset`.
    pub fn line_dash_offset(&self) -> f64 {
        self.state.pen.dash_offset
    }

    /// Sets `lineDashOffset`; non-finite offsets are ignored.
    pub fn set_line_dash_offset(&mut self, offset: f64) {
        if offset.is_finite() {
            Rc::make_mut(&mut self.state.pen).dash_offset = offset;
        }
    }

    /// `globalAlpha`.
    pub fn global_alpha(&self) -> f64 {
        self.state.alpha
    }

    /// Sets `globalAlpha`; values outside 0 to 1 are ignored.
    pub fn set_global_alpha(&mut self, alpha: f64) {
        if (0.0..=1.0).contains(&alpha) {
            self.state.alpha = alpha;
        }
    }

    /// `globalCompositeOperation`.
    pub fn global_composite_operation(&self) -> &'static str {
        self.state.op.name()
    }

    /// Sets `globalCompositeOperation`; unknown words are ignored.
    pub fn set_global_composite_operation(&mut self, name: &str) {
        if let Some(op) = CompositeOp::parse(name) {
            self.state.op = op;
        }
    }

    /// `shadowColor`.
    pub fn shadow_color(&self) -> String {
        self.state.shadow.color.to_string()
    }

    /// Sets `shadowColor`; what is no colour is ignored.
    pub fn set_shadow_color(&mut self, text: &str) {
        if let Some(color) = self.parsed_colors.get(text, parse_color) {
            self.state.shadow.color = color;
        }
    }

    /// `shadowBlur`.
    pub fn shadow_blur(&self) -> f64 {
        self.state.shadow.blur
    }

    /// Sets `shadowBlur`; negative and non-finite values are ignored.
    pub fn set_shadow_blur(&mut self, blur: f64) {
        if blur.is_finite() && blur >= 0.0 {
            self.state.shadow.blur = blur;
        }
    }

    /// `shadowOffsetX` and `shadowOffsetY`.
    pub fn shadow_offset(&self) -> (f64, f64) {
        (self.state.shadow.dx, self.state.shadow.dy)
    }

    /// Sets `shadowOffsetX`; non-finite values are ignored.
    pub fn set_shadow_offset_x(&mut self, dx: f64) {
        if dx.is_finite() {
            self.state.shadow.dx = dx;
        }
    }

    /// Sets `shadowOffsetY`; non-finite values are ignored.
    pub fn set_shadow_offset_y(&mut self, dy: f64) {
        if dy.is_finite() {
            self.state.shadow.dy = dy;
        }
    }

    /// `imageSmoothingEnabled`.
    pub fn image_smoothing_enabled(&self) -> bool {
        self.state.smoothing
    }

    /// Sets `imageSmoothingEnabled`.
    pub fn set_image_smoothing_enabled(&mut self, enabled: bool) {
        self.state.smoothing = enabled;
    }

    /// `imageSmoothingQuality`.
    pub fn image_smoothing_quality(&self) -> &'static str {
        match self.state.quality {
            ImageSmoothingQuality::Low => "low",
            ImageSmoothingQuality::Medium => "medium",
            ImageSmoothingQuality::High => "high",
        }
    }

    /// Sets `imageSmoothingQuality`; unknown words are ignored.
    pub fn set_image_smoothing_quality(&mut self, name: &str) {
        self.state.quality = match name {
            "low" => ImageSmoothingQuality::Low,
            "medium" => ImageSmoothingQuality::Medium,
            "high" => ImageSmoothingQuality::High,
            _ => return,
        };
    }

    /// `filter`.
    pub fn filter(&self) -> &str {
        &self.state.filter.text
    }

    /// Sets `filter`; what is no filter list is ignored.
    pub fn set_filter(&mut self, text: &str) {
        if let Some(filter) = Filter::parse(text, self.state.text.font.size) {
            self.state.filter = Rc::new(filter);
        }
    }

    /// The shader for a style under the current state; `None` when it paints nothing.
    pub(super) fn shader_for(&self, style: &Style) -> Option<Shader> {
        let (alpha, space) = (self.state.alpha as f32, self.pixels.space);
        match style {
            Style::Color(color) => Some(Shader::solid(color, alpha, space)),
            Style::Gradient(g) => g.shader(&self.state.transform, alpha, space),
            Style::Pattern(p) => {
                let sampling = if self.state.smoothing { Sampling::Bilinear } else { Sampling::Nearest };
                p.shader(&self.state.transform, alpha, space, sampling)
            }
        }
    }
}
