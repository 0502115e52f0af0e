//! Picture files to pixels.
//!
//! Five formats, each read by the crate that is made for it. Sizes are checked before anything is allocated for them; a
//! picture that was taken sideways (Exif) is turned upright.

mod bmp;
mod exif;
mod gif;
mod jpeg;
mod png;
mod webp;

use std::rc::Rc;

use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::ColorSpace;
use crate::limits::CanvasLimits;
use crate::raster::pixel;
use crate::raster::pixmap::Pixmap;
use exif::Orientation;

fn broken(error: impl std::fmt::Display) -> CanvasError {
    CanvasError::Encoding(format!("the source image cannot be decoded: {error}"))
}

/// Pixels as a file has them: red, green, blue, alpha, and not premultiplied.
struct Decoded {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
    orientation: Orientation,
}

/// What a decoder may use for itself: what the pixels take twice, and never more than two gigabytes.
fn working_bytes(limits: &CanvasLimits) -> usize {
    usize::try_from(limits.max_area.saturating_mul(8).min(1 << 31)).unwrap_or(usize::MAX)
}

/// Decodes one picture.
pub(crate) fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<ImageBitmap, CanvasError> {
    let decoded = match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => png::decode(bytes, limits)?,
        [0xff, 0xd8, 0xff, ..] => jpeg::decode(bytes, limits)?,
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => gif::decode(bytes, limits)?,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => webp::decode(bytes, limits)?,
        [b'B', b'M', ..] => bmp::decode(bytes, limits)?,
        _ => return Err(broken("it is none of PNG, JPEG, GIF, WebP and BMP")),
    };
    let (width, height) = decoded.orientation.size(decoded.width, decoded.height);
    let mut pixmap = Pixmap::new(width, height, png_space(bytes), &limits.budget)?;
    let (pixels, _) = decoded.rgba.as_chunks::<4>();
    if decoded.orientation == Orientation::Upright {
        for (px, source) in pixmap.data.iter_mut().zip(pixels) {
            *px = pixel::premultiply(*source);
        }
    } else {
        let width = width as usize;
        for (at, px) in pixmap.data.iter_mut().enumerate() {
            let place = decoded.orientation.source(at % width, at / width, decoded.width, decoded.height);
            *px = pixels.get(place).map_or(0, |source| pixel::premultiply(*source));
        }
    }
    Ok(ImageBitmap(Rc::new(pixmap)))
}

/// The space our own PNG encoder writes into `cICP`; other profiles are taken as sRGB.
fn png_space(bytes: &[u8]) -> ColorSpace {
    let head = &bytes[..bytes.len().min(256)];
    let display_p3 = head.windows(7).any(|w| w == [b'c', b'I', b'C', b'P', 12, 13, 0]);
    if display_p3 { ColorSpace::DisplayP3 } else { ColorSpace::Srgb }
}

/// Room for the pixels of a picture whose size was checked.
fn room(width: u32, height: u32, channels: usize) -> Vec<u8> {
    vec![0; width as usize * height as usize * channels]
}

/// Pixels of grey, grey and alpha, or red, green and blue with a byte each, as RGBA.
fn to_rgba(samples: &[u8], channels: usize) -> Vec<u8> {
    let pixel = |sample: &[u8]| match *sample {
        [grey] => [grey, grey, grey, 255],
        [grey, alpha] => [grey, grey, grey, alpha],
        [red, green, blue] => [red, green, blue, 255],
        [red, green, blue, alpha, ..] => [red, green, blue, alpha],
        [] => [0; 4],
    };
    samples.chunks_exact(channels.max(1)).flat_map(pixel).collect()
}
