//! GIF: the first picture of it.

use gif::{ColorOutput, DecodeOptions, MemoryLimit};

use super::{Decoded, Orientation, broken, room, working_bytes};
use crate::CanvasError;
use crate::limits::CanvasLimits;

pub(super) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Decoded, CanvasError> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    let most = std::num::NonZeroU64::new(working_bytes(limits) as u64);
    options.set_memory_limit(most.map_or(MemoryLimit::Unlimited, MemoryLimit::Bytes));
    let mut decoder = options.read_info(bytes).map_err(broken)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    limits.check(width, height)?;
    let frame = decoder.read_next_frame().map_err(broken)?.ok_or_else(|| broken("it has no picture"))?;
    // The frame may be smaller than the screen, and may stand beyond its edge; the rest is transparent.
    let mut rgba = room(width, height, 4);
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let line = usize::from(frame.width) * 4;
    let shown = line.min((width as usize).saturating_sub(left) * 4);
    for (row, source) in frame.buffer.chunks_exact(line.max(1)).enumerate() {
        let at = ((top + row) * width as usize + left) * 4;
        if top + row < height as usize
            && let (Some(target), Some(source)) = (rgba.get_mut(at..at + shown), source.get(..shown))
        {
            target.copy_from_slice(source);
        }
    }
    Ok(Decoded { width, height, rgba, orientation: Orientation::Upright })
}
