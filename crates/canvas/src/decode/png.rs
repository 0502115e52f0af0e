//! PNG.

use std::io::Cursor;

use png::{BitDepth, Decoder, Limits, Transformations};

use super::{Decoded, Orientation, broken, to_rgba, working_bytes};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: working_bytes(limits) });
    decoder.set_ignore_text_chunk(true);
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (width, height) = (reader.info().width, reader.info().height);
    limits.check(width, height)?;
    let size = reader.output_buffer_size().filter(|size| *size <= working_bytes(limits));
    let mut samples = vec![0; size.ok_or_else(|| broken("it is too large"))?];
    let frame = reader.next_frame(&mut samples).map_err(broken)?;
    samples.truncate(frame.buffer_size());
    if frame.bit_depth == BitDepth::Sixteen {
        samples = samples.as_chunks::<2>().0.iter().map(|two| eight_bits(u16::from_be_bytes(*two))).collect();
    }
    let rgba = to_rgba(&samples, frame.color_type.samples());
    let orientation = Orientation::read(reader.info().exif_metadata.as_deref());
    Ok(Decoded { width, height, rgba, orientation })
}

/// The nearest of 256 steps.
fn eight_bits(sample: u16) -> u8 {
    u8::try_from((u32::from(sample) + 128) / 257).unwrap_or(u8::MAX)
}
