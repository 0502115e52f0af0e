//! The drawing state and the stack of it.

use std::rc::Rc;

use super::Context2d;
use super::text_style::TextStyle;
use crate::color::CssColor;
use crate::filter::Filter;
use crate::geometry::{Affine, path::Path2d, stroke::Pen};
use crate::gradient::Gradient;
use crate::limits::MAX_SAVED_STATES;
use crate::pattern::Pattern;
use crate::raster::IRect;
use crate::raster::blend::CompositeOp;
use crate::raster::clip::Clip;
use crate::raster::pixmap::{Pixmap, make_mut};

/// What fills or strokes.
#[derive(Debug, Clone)]
pub enum Style {
    /// One colour.
    Color(CssColor),
    /// A gradient, shared with whoever made it.
    Gradient(Gradient),
    /// A pattern, shared with whoever made it.
    Pattern(Pattern),
}

/// A style as a getter shows it: text for colours, the object itself otherwise.
#[derive(Debug, Clone)]
pub enum StyleValue {
    /// The serialised colour.
    Text(String),
    /// The gradient that was set.
    Gradient(Gradient),
    /// The pattern that was set.
    Pattern(Pattern),
}

/// `imageSmoothingQuality`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageSmoothingQuality {
    /// Bilinear.
    #[default]
    Low,
    /// Bilinear over halved pictures when shrinking.
    Medium,
    /// As medium, and bicubic when growing.
    High,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shadow {
    pub(super) color: CssColor,
    pub(super) blur: f64,
    pub(super) dx: f64,
    pub(super) dy: f64,
}

impl Shadow {
    pub(super) fn is_visible(&self) -> bool {
        self.color.alpha() > 0.0 && (self.blur > 0.0 || self.dx != 0.0 || self.dy != 0.0)
    }
}

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) transform: Affine,
    pub(super) clip: Clip,
    pub(super) fill: Style,
    pub(super) stroke: Style,
    pub(super) pen: Rc<Pen>,
    /// `lineDash` as the getter shows it is the pen's own.
    pub(super) alpha: f64,
    pub(super) op: CompositeOp,
    pub(super) shadow: Shadow,
    pub(super) smoothing: bool,
    pub(super) quality: ImageSmoothingQuality,
    pub(super) filter: Rc<Filter>,
    pub(super) text: Rc<TextStyle>,
}

impl State {
    pub(super) fn new(pixels: &Pixmap) -> Self {
        Self {
            transform: Affine::IDENTITY,
            clip: Clip::rect(IRect::new(0, 0, pixels.width as i32, pixels.height as i32)),
            fill: Style::Color(CssColor::BLACK),
            stroke: Style::Color(CssColor::BLACK),
            pen: Rc::default(),
            alpha: 1.0,
            op: CompositeOp::SourceOver,
            shadow: Shadow { color: CssColor::TRANSPARENT, blur: 0.0, dx: 0.0, dy: 0.0 },
            smoothing: true,
            quality: ImageSmoothingQuality::Low,
            filter: Rc::default(),
            text: Rc::default(),
        }
    }
}

impl Context2d {
    /// Pushes a copy of the state.
    pub fn save(&mut self) {
        if self.stack.len() >= MAX_SAVED_STATES {
            self.uncounted_saves = self.uncounted_saves.saturating_add(1);
        } else {
            self.stack.push(self.state.clone());
        }
    }

    /// Goes back to the last saved state, if there is one.
    pub fn restore(&mut self) {
        if self.uncounted_saves > 0 {
            self.uncounted_saves -= 1;
        } else if let Some(state) = self.stack.pop() {
            self.state = state;
        }
    }

    /// Clears pixels, path, state and stack.
    pub fn reset(&mut self) {
        self.state = State::new(&self.pixels);
        self.stack = Vec::new();
        self.uncounted_saves = 0;
        self.path = Path2d::new();
        self.fault = None;
        let blank = if self.alpha { 0 } else { 0xff00_0000 };
        let cleared = make_mut(&mut self.pixels).map(|p| p.data.fill(blank));
        self.record(cleared);
    }
}
