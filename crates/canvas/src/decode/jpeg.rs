//! JPEG: grey, colour, and the inks of printers.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::{Decoded, Orientation, broken, to_rgba};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    // The size is checked below, where the limits are ours.
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(broken)?;
    let info = decoder.info().ok_or_else(|| broken("it has no size"))?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    limits.check(width, height)?;
    let (space, channels) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
        _ => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let orientation = Orientation::read(decoder.exif().map(Vec::as_slice));
    let rgba = to_rgba(&decoder.decode().map_err(broken)?, channels);
    Ok(Decoded { width, height, rgba, orientation })
}
