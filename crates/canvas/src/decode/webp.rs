//! WebP: of an animation, the first picture.

use std::io::Cursor;

use image_webp::WebPDecoder;

use super::{Decoded, Orientation, broken, to_rgba, working_bytes};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    limits.check(width, height)?;
    decoder.set_memory_limit(working_bytes(limits));
    let size = decoder.output_buffer_size().filter(|size| *size <= working_bytes(limits));
    let mut samples = vec![0; size.ok_or_else(|| broken("it is too large"))?];
    decoder.read_image(&mut samples).map_err(broken)?;
    let rgba = if decoder.has_alpha() { samples } else { to_rgba(&samples, 3) };
    let exif = decoder.exif_metadata().ok().flatten();
    Ok(Decoded { width, height, rgba, orientation: Orientation::read(exif.as_deref()) })
}
