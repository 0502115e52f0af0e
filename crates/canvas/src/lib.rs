//! Canvas 2D drawing calls to pixels to PNG.
//!
//! The crate knows no JavaScript, no clock, and (but for the host-side [`fonts::system`]) no file. It draws what the
//! Canvas standard says and looks like a browser on Linux; a binding puts an engine's objects in front of it.
//!
//! ```
//! use cove_canvas::{Canvas, CanvasLimits};
//!
//! let mut canvas = Canvas::new(200, 100, &CanvasLimits::default())?;
//! let ctx = canvas.context();
//! ctx.set_fill_style_text("tomato");
//! ctx.fill_rect(10.0, 10.0, 80.0, 50.0);
//! let png = canvas.to_png()?;
//! assert_eq!(&png[1..4], b"PNG");
//! # Ok::<(), cove_canvas::CanvasError>(())
//! ```

mod bitmap;
mod color;
mod context;
mod css;
mod decode;
mod encode;
mod error;
mod filter;
pub mod fonts;
mod geometry;
mod gradient;
mod image_data;
mod limits;
mod pattern;
mod raster;

pub use bitmap::ImageBitmap;
pub use color::{ColorSpace, CssColor, parse_color};
pub use context::{
    Canvas, Context2d, ContextSettings, Direction, FontKerning, FontStretch, FontVariantCaps, ImageSmoothingQuality,
    Style, StyleValue, TextAlign, TextBaseline, TextMetrics, TextRendering,
};
pub use encode::{ImageFormat, encode};
pub use error::CanvasError;
pub use fonts::{FontBook, FontBytes, FontIndex, FontSource};
pub use geometry::hit::FillRule;
pub use geometry::matrix::DomMatrix;
pub use geometry::path::{Path2d, Radius};
pub use geometry::stroke::{LineCap, LineJoin};
pub use gradient::Gradient;
pub use image_data::{ImageData, ImageDataRef};
pub use limits::{CanvasLimits, MAX_SAVED_STATES, MemoryBudget};
pub use pattern::{Pattern, Repetition};
pub use raster::blend::CompositeOp;
