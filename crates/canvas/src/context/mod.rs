//! The 2D context: the standard's state machine over a canvas of pixels.
//!
//! Methods carry the standard's names. Numbers that are not finite make a call do nothing, as the standard says;
//! what must throw returns a [`CanvasError`]. Drawing that runs out of memory draws nothing and is remembered as
//! [`Context2d::fault`]: no drawing call may end the process.

mod draw;
mod image;
mod path;
mod pixels;
mod rect;
mod state;
mod style;
mod text;
mod text_style;
mod transform;
mod window;

use std::cell::RefCell;
use std::rc::Rc;

use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::{ColorSpace, CssColor};
use crate::css::remember::Remembered;
use crate::encode::{ImageFormat, encode, encode_png};
use crate::fonts::spec::FontSpec;
use crate::fonts::{FontBook, FontChain};
use crate::geometry::path::Path2d;
use crate::limits::CanvasLimits;
use crate::raster::coverage::Coverage;
use crate::raster::pixmap::Pixmap;

pub use state::{ImageSmoothingQuality, Style, StyleValue};
pub use text::TextMetrics;
pub use text_style::{Direction, FontKerning, FontStretch, FontVariantCaps, TextAlign, TextBaseline, TextRendering};

use state::State;

/// What `getContext("2d", …)` may ask for.
#[derive(Debug, Clone, Copy)]
pub struct ContextSettings {
    /// Whether the canvas has an alpha channel; without one it starts black and stays opaque.
    pub alpha: bool,
    /// The space of its pixels.
    pub color_space: ColorSpace,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self { alpha: true, color_space: ColorSpace::Srgb }
    }
}

/// A canvas: a size, pixels, and the one context that draws on them.
#[derive(Debug)]
pub struct Canvas {
    limits: CanvasLimits,
    context: Context2d,
}

impl Canvas {
    /// A transparent canvas that writes with the fonts built into the crate.
    pub fn new(width: u32, height: u32, limits: &CanvasLimits) -> Result<Self, CanvasError> {
        Self::with_fonts(width, height, limits, &FontBook::builtin())
    }

    /// A transparent canvas that writes with the given fonts.
    pub fn with_fonts(
        width: u32,
        height: u32,
        limits: &CanvasLimits,
        fonts: &Rc<FontBook>,
    ) -> Result<Self, CanvasError> {
        limits.check(width, height)?;
        let pixels = Rc::new(Pixmap::new(width, height, ColorSpace::Srgb, &limits.budget)?);
        let context = Context2d::new(pixels, Rc::clone(fonts));
        Ok(Self { limits: limits.clone(), context })
    }

    /// The drawing context.
    pub fn context(&mut self) -> &mut Context2d {
        &mut self.context
    }

    /// Applies the settings of the first `getContext`; clears the canvas when they change its pixels.
    pub fn configure(&mut self, settings: ContextSettings) -> Result<(), CanvasError> {
        if settings.color_space != self.context.pixels.space || settings.alpha != self.context.alpha {
            let (w, h) = (self.width(), self.height());
            self.context.alpha = settings.alpha;
            self.replace_pixels(w, h, settings.color_space)?;
        }
        Ok(())
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.context.pixels.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.context.pixels.height
    }

    /// Gives the canvas a size, which clears it and resets the context even if nothing changes.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), CanvasError> {
        self.limits.check(width, height)?;
        self.replace_pixels(width, height, self.context.pixels.space)
    }

    /// Gives the canvas blank pixels and leaves the context's state alone, as a transfer of its picture does.
    pub fn clear_pixels(&mut self) -> Result<(), CanvasError> {
        let old = &self.context.pixels;
        let mut blank = Pixmap::new(old.width, old.height, old.space, &self.limits.budget)?;
        if !self.context.alpha {
            blank.data.fill(0xff00_0000);
        }
        self.context.pixels = Rc::new(blank);
        Ok(())
    }

    fn replace_pixels(&mut self, width: u32, height: u32, space: ColorSpace) -> Result<(), CanvasError> {
        // The old pixels go first, so that a resize needs no room for both.
        self.context.pixels = Rc::new(Pixmap::new(0, 0, space, &self.limits.budget)?);
        self.context.pixels = Rc::new(Pixmap::new(width, height, space, &self.limits.budget)?);
        self.context.reset();
        Ok(())
    }

    /// The picture as it is now. Cheap: pixels are copied only if the canvas is drawn on while the snapshot lives.
    pub fn snapshot(&self) -> Result<ImageBitmap, CanvasError> {
        let image = ImageBitmap(Rc::clone(&self.context.pixels));
        if self.context.alpha { Ok(image) } else { image.opaque() }
    }

    /// The picture as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, CanvasError> {
        if let Some(fault) = &self.context.fault {
            return Err(fault.clone());
        }
        encode_png(&self.snapshot()?)
    }

    /// The picture as a file of the given format.
    pub fn encode(&self, format: ImageFormat) -> Result<Vec<u8>, CanvasError> {
        encode(&self.snapshot()?, format)
    }

    /// The limits the canvas lives under.
    pub fn limits(&self) -> &CanvasLimits {
        &self.limits
    }
}

/// The 2D context of a canvas.
#[derive(Debug)]
pub struct Context2d {
    pixels: Rc<Pixmap>,
    alpha: bool,
    state: State,
    stack: Vec<State>,
    /// States saved beyond the limit: counted so that `restore` pairs up.
    uncounted_saves: usize,
    path: Path2d,
    coverage: Box<Coverage>,
    fonts: Rc<FontBook>,
    fault: Option<CanvasError>,
    parsed_colors: Remembered<CssColor>,
    parsed_fonts: Remembered<FontSpec>,
    /// The last font that text was drawn in, and the faces it came to.
    last_chain: RefCell<Option<(FontSpec, u64, Rc<FontChain>)>>,
}

impl Context2d {
    fn new(pixels: Rc<Pixmap>, fonts: Rc<FontBook>) -> Self {
        let state = State::new(&pixels);
        Self {
            pixels,
            alpha: true,
            state,
            stack: Vec::new(),
            uncounted_saves: 0,
            path: Path2d::new(),
            coverage: Box::default(),
            fonts,
            fault: None,
            parsed_colors: Remembered::default(),
            parsed_fonts: Remembered::default(),
            last_chain: RefCell::default(),
        }
    }

    /// The first drawing call that could not be honoured for want of memory.
    pub fn fault(&self) -> Option<&CanvasError> {
        self.fault.as_ref()
    }

    fn record(&mut self, result: Result<(), CanvasError>) {
        if let Err(error) = result {
            self.fault.get_or_insert(error);
        }
    }
}
