//! Pictures that can be drawn: decoded files, snapshots of canvases, `ImageBitmap`s. One type for all of them.

use std::rc::Rc;

use crate::CanvasError;
use crate::color::ColorSpace;
use crate::image_data::ImageDataRef;
use crate::limits::CanvasLimits;
use crate::raster::pixel;
use crate::raster::pixmap::{Pixmap, make_mut};

/// An immutable picture with shared ownership; cloning is cheap.
#[derive(Debug, Clone)]
pub struct ImageBitmap(pub(crate) Rc<Pixmap>);

impl ImageBitmap {
    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.0.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.0.height
    }

    /// Decodes a PNG, JPEG, GIF (first frame), WebP or BMP file.
    pub fn decode(bytes: &[u8], limits: &CanvasLimits) -> Result<Self, CanvasError> {
        crate::decode::decode(bytes, limits)
    }

    /// A picture of straight RGBA bytes.
    pub fn from_image_data(data: &ImageDataRef<'_>, limits: &CanvasLimits) -> Result<Self, CanvasError> {
        limits.check(data.width, data.height)?;
        let mut pixmap = Pixmap::new(data.width, data.height, data.space, &limits.budget)?;
        for (px, bytes) in pixmap.data.iter_mut().zip(data.data.as_chunks::<4>().0) {
            *px = pixel::premultiply(*bytes);
        }
        Ok(Self(Rc::new(pixmap)))
    }

    /// Straight RGBA bytes of the whole picture.
    pub fn to_rgba(&self) -> Vec<u8> {
        let mut out = vec![0; self.0.data.len() * 4];
        for (bytes, px) in out.as_chunks_mut::<4>().0.iter_mut().zip(&self.0.data) {
            *bytes = pixel::unpremultiply(*px);
        }
        out
    }

    /// The part at (x, y) of the given size, transparent where the picture does not reach; optionally scaled and
    /// upside down. This is `createImageBitmap` with a source rectangle.
    pub fn cropped(&self, x: i32, y: i32, width: u32, height: u32, limits: &CanvasLimits) -> Result<Self, CanvasError> {
        limits.check(width, height)?;
        let mut out = Pixmap::new(width, height, self.0.space, &limits.budget)?;
        for oy in 0..height as i32 {
            let sy = i64::from(oy) + i64::from(y);
            if sy < 0 || sy >= i64::from(self.0.height) {
                continue;
            }
            let from = i64::from(x).max(0);
            let to = (i64::from(x) + i64::from(width)).min(i64::from(self.0.width));
            if to > from {
                let at = (from - i64::from(x)) as usize;
                let run = (to - from) as usize;
                let source = &self.0.row(sy as usize)[from as usize..to as usize];
                out.row_mut(oy as usize)[at..at + run].copy_from_slice(source);
            }
        }
        Ok(Self(Rc::new(out)))
    }

    /// The picture upside down, for `imageOrientation: "flipY"`.
    pub fn flipped(&self) -> Result<Self, CanvasError> {
        let mut copy = self.0.try_clone()?;
        let height = copy.height as usize;
        for y in 0..height {
            copy.row_mut(y).copy_from_slice(self.0.row(height - 1 - y));
        }
        Ok(Self(Rc::new(copy)))
    }

    pub(crate) fn pixels_in(&self, space: ColorSpace) -> Result<Rc<Pixmap>, CanvasError> {
        if self.0.space == space { Ok(Rc::clone(&self.0)) } else { Ok(Rc::new(self.0.converted(space)?)) }
    }

    /// Makes every pixel opaque, for snapshots of canvases without an alpha channel.
    pub(crate) fn opaque(mut self) -> Result<Self, CanvasError> {
        for px in &mut make_mut(&mut self.0)?.data {
            *px |= 0xff00_0000;
        }
        Ok(self)
    }
}
