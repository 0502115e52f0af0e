//! Pixels to picture files.

use std::borrow::Cow;

use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::color::ColorSpace;

fn failed(error: impl std::fmt::Display) -> CanvasError {
    CanvasError::Encoding(format!("the picture cannot be encoded: {error}"))
}

/// What a picture can be written as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImageFormat {
    /// Lossless, with alpha.
    Png,
    /// Lossy on black, quality between 0 and 1.
    Jpeg(f64),
}

impl ImageFormat {
    /// Quality when none (or an invalid one) is asked for.
    const DEFAULT_QUALITY: f64 = 0.92;

    /// The format for a MIME type; anything that is not supported is PNG, as the standard asks.
    pub fn from_mime(mime: &str, quality: Option<f64>) -> Self {
        if mime.eq_ignore_ascii_case("image/jpeg") || mime.eq_ignore_ascii_case("image/jpg") {
            let quality = quality.filter(|q| (0.0..=1.0).contains(q)).unwrap_or(Self::DEFAULT_QUALITY);
            Self::Jpeg(quality)
        } else {
            Self::Png
        }
    }

    /// The MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg(_) => "image/jpeg",
        }
    }
}

/// Encodes a picture.
pub fn encode(image: &ImageBitmap, format: ImageFormat) -> Result<Vec<u8>, CanvasError> {
    match format {
        ImageFormat::Png => encode_png(image),
        ImageFormat::Jpeg(quality) => encode_jpeg(image, quality),
    }
}

/// Display P3 primaries, the sRGB curve, no matrix, full range: the code points of the `cICP` chunk.
const DISPLAY_P3: [u8; 4] = [12, 13, 0, 1];

/// Encodes a picture as PNG, at the fast setting: the better ones cost twenty times as long for a sixth of the size.
pub(crate) fn encode_png(image: &ImageBitmap) -> Result<Vec<u8>, CanvasError> {
    let pixmap = &image.0;
    if pixmap.is_empty() {
        return Err(CanvasError::Encoding("a canvas without pixels cannot be encoded".into()));
    }
    let opaque = pixmap.data.iter().all(|px| px >> 24 == 255);
    let bytes = if opaque { rgb_bytes(&pixmap.data) } else { image.to_rgba() };
    let mut out = Vec::with_capacity(bytes.len() / 4 + 1024);
    let mut info = png::Info::with_size(pixmap.width, pixmap.height);
    info.color_type = if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba };
    info.bit_depth = png::BitDepth::Eight;
    let mut encoder = png::Encoder::with_info(&mut out, info).map_err(failed)?;
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(failed)?;
    if pixmap.space == ColorSpace::DisplayP3 {
        writer.write_chunk(png::chunk::cICP, &DISPLAY_P3).map_err(failed)?;
    }
    writer.write_image_data(&bytes).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}

/// Red, green and blue of premultiplied pixels.
fn rgb_bytes(pixels: &[u32]) -> Vec<u8> {
    let mut out = vec![0; pixels.len() * 3];
    for (bytes, px) in out.as_chunks_mut::<3>().0.iter_mut().zip(pixels) {
        *bytes = [*px as u8, (*px >> 8) as u8, (*px >> 16) as u8];
    }
    out
}

fn encode_jpeg(image: &ImageBitmap, quality: f64) -> Result<Vec<u8>, CanvasError> {
    let pixmap = match image.0.space {
        ColorSpace::Srgb => Cow::Borrowed(&image.0),
        ColorSpace::DisplayP3 => Cow::Owned(image.pixels_in(ColorSpace::Srgb)?),
    };
    // Premultiplied colour is the picture on black, which is what JPEG gets.
    let rgb = rgb_bytes(&pixmap.data);
    let mut out = Vec::new();
    let quality = (quality * 100.0).round().clamp(1.0, 100.0) as u8;
    let side = |side: u32| u16::try_from(side).map_err(|_| failed("a JPEG has at most 65535 pixels a side"));
    let (width, height) = (side(pixmap.width)?, side(pixmap.height)?);
    jpeg_encoder::Encoder::new(&mut out, quality)
        .encode(&rgb, width, height, jpeg_encoder::ColorType::Rgb)
        .map_err(failed)?;
    Ok(out)
}
