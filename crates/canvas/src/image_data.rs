//! `ImageData`: straight (unpremultiplied) RGBA bytes.

use crate::CanvasError;
use crate::color::ColorSpace;

/// Most bytes one `ImageData` may hold.
const MAX_BYTES: u64 = 1 << 31;

/// Owned pixel data, as `getImageData` gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The space of the bytes.
    pub space: ColorSpace,
    /// r, g, b, a of each pixel, row by row.
    pub data: Vec<u8>,
}

/// Borrowed pixel data: a script's own array can be drawn without copying it first.
#[derive(Debug, Clone, Copy)]
pub struct ImageDataRef<'a> {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The space of the bytes.
    pub space: ColorSpace,
    /// r, g, b, a of each pixel, row by row.
    pub data: &'a [u8],
}

impl ImageData {
    /// Transparent pixels of the given size.
    pub fn new(width: u32, height: u32, space: ColorSpace) -> Result<Self, CanvasError> {
        if width == 0 || height == 0 {
            return Err(CanvasError::IndexSize("the source width or height is zero".into()));
        }
        let bytes = u64::from(width) * u64::from(height) * 4;
        if bytes > MAX_BYTES {
            return Err(CanvasError::Range(format!("{width} x {height} pixels are too many for one ImageData")));
        }
        let mut data = Vec::new();
        data.try_reserve_exact(bytes as usize)
            .map_err(|_| CanvasError::Range(format!("out of memory at ImageData of {width} x {height}")))?;
        data.resize(bytes as usize, 0);
        Ok(Self { width, height, space, data })
    }

    /// A view of the data.
    pub fn view(&self) -> ImageDataRef<'_> {
        ImageDataRef { width: self.width, height: self.height, space: self.space, data: &self.data }
    }
}
