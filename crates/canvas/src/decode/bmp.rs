//! BMP.
//!
//! The decoder takes rows of less than a byte for each pixel without the bytes that fill them up to four, so such pictures
//! are written anew with a byte for each pixel first.

use std::borrow::Cow;

use zune_bmp::BmpDecoder;
use zune_core::bytestream::ZCursor;
use zune_core::options::DecoderOptions;

use super::{Decoded, Orientation, broken, to_rgba};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    let bytes = widened(bytes, limits)?;
    let side = limits.max_side as usize;
    let options = DecoderOptions::default().set_max_width(side).set_max_height(side);
    let mut decoder = BmpDecoder::new_with_options(ZCursor::new(&bytes), options);
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

/// The file itself, or one with a byte for each pixel, if it is not compressed and has 1, 2 or 4 bits for each.
fn widened<'a>(bytes: &'a [u8], limits: &CanvasLimits) -> Result<Cow<'a, [u8]>, CanvasError> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
    let (Some(start), Some(header), Some(width), Some(height), Some(planes_and_bits), Some(compression), Some(colours)) =
        (word(10), word(14), word(18), word(22), word(26), word(30), word(46))
    else {
        return Ok(Cow::Borrowed(bytes));
    };
    let bits = planes_and_bits >> 16;
    if header < 40 || compression != 0 || !matches!(bits, 1 | 2 | 4) {
        return Ok(Cow::Borrowed(bytes));
    }
    // A negative height says that the first row is the topmost.
    let height = height.cast_signed().unsigned_abs();
    limits.check(width, height)?;
    let row = (width as usize * bits as usize).div_ceil(32).max(1) * 4;
    let rows =
        bytes.get(start as usize..).filter(|_| start as usize >= 54).ok_or_else(|| broken("it has no pixels"))?;
    let mut wide = bytes.get(..start as usize).unwrap_or_default().to_vec();
    let colours = if colours == 0 { 1 << bits } else { colours };
    for (at, value) in [(26, 1 | 8 << 16), (34, 0), (46, colours)] {
        wide.get_mut(at..at + 4).ok_or_else(|| broken("it is cut short"))?.copy_from_slice(&u32::to_le_bytes(value));
    }
    for packed in rows.chunks_exact(row).take(height as usize) {
        let pixels =
            packed.iter().flat_map(|byte| (0..8 / bits).rev().map(move |n| byte >> (n * bits) & ((1 << bits) - 1)));
        wide.extend(pixels.take(width as usize));
        wide.resize(wide.len() + (4 - width as usize % 4) % 4, 0);
    }
    Ok(Cow::Owned(wide))
}
