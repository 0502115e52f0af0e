//! Picture files to pixels.

use std::io::Cursor;
use std::rc::Rc;

use image::{ImageDecoder, ImageReader, Limits, metadata::Orientation};

use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::ColorSpace;
use crate::limits::CanvasLimits;
use crate::raster::pixel;
use crate::raster::pixmap::Pixmap;

fn broken(error: impl std::fmt::Display) -> CanvasError {
    CanvasError::Encoding(format!("the source image cannot be decoded: {error}"))
}

/// Decodes one picture. Sizes are checked before anything is allocated for them.
pub(crate) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<ImageBitmap, CanvasError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(broken)?;
    let mut caps = Limits::default();
    caps.max_image_width = Some(limits.max_side);
    caps.max_image_height = Some(limits.max_side);
    caps.max_alloc = Some(limits.max_area.saturating_mul(8).min(1 << 31));
    reader.limits(caps);
    let space = png_space(bytes);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    limits.check(width, height)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = image::DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    let rgba = picture.into_rgba8();
    let mut pixmap = Pixmap::new(rgba.width(), rgba.height(), space, &limits.budget)?;
    for (px, source) in pixmap.data.iter_mut().zip(rgba.pixels()) {
        *px = pixel::premultiply(source.0);
    }
    Ok(ImageBitmap(Rc::new(pixmap)))
}

/// The space our own PNG encoder writes into `cICP`; other profiles are taken as sRGB.
fn png_space(bytes: &[u8]) -> ColorSpace {
    let head = &bytes[..bytes.len().min(256)];
    let display_p3 = head.windows(7).any(|w| w == [b'c', b'I', b'C', b'P', 12, 13, 0]);
    if display_p3 { ColorSpace::DisplayP3 } else { ColorSpace::Srgb }
}
