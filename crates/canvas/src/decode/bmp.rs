//! BMP.

use zune_bmp::BmpDecoder;
use zune_core::bytestream::ZCursor;
use zune_core::options::DecoderOptions;

use super::{Decoded, Orientation, broken, to_rgba};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    let side = limits.max_side as usize;
    let options = DecoderOptions::default().set_max_width(side).set_max_height(side);
    let mut decoder = BmpDecoder::new_with_options(ZCursor::new(bytes), options);
    let told = |error: zune_bmp::BmpDecoderErrors| broken(format!("{error:?}"));
    decoder.decode_headers().map_err(told)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| broken("it has no size"))?;
    let size = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let (width, height) = (size(width), size(height));
    limits.check(width, height)?;
    let channels = decoder.colorspace().map_or(3, |space| space.num_components());
    let rgba = to_rgba(&decoder.decode().map_err(told)?, channels);
    Ok(Decoded { width, height, rgba, orientation: Orientation::Upright })
}
