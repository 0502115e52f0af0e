//! Reading and writing pixels directly.

use super::Context2d;
use crate::CanvasError;
use crate::color::ColorSpace;
use crate::image_data::{ImageData, ImageDataRef};
use crate::raster::IRect;
use crate::raster::pixel;
use crate::raster::pixmap::{convert_pixel, make_mut};

/// A span that may run backwards, as a start and a size.
fn normalise(at: i32, size: i32) -> (i64, i64) {
    let (at, size) = (i64::from(at), i64::from(size));
    if size < 0 { (at + size, -size) } else { (at, size) }
}

impl Context2d {
    /// The space of the canvas.
    pub fn color_space(&self) -> ColorSpace {
        self.pixels.space
    }

    /// Whether the canvas has an alpha channel.
    pub fn has_alpha(&self) -> bool {
        self.alpha
    }

    /// A copy of the pixels in a rectangle; transparent where it leaves the canvas.
    pub fn get_image_data(
        &self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        space: Option<ColorSpace>,
    ) -> Result<ImageData, CanvasError> {
        let space = space.unwrap_or(self.pixels.space);
        let ((x, width), (y, height)) = (normalise(x, width), normalise(y, height));
        let mut out = ImageData::new(width as u32, height as u32, space)?;
        let inside_x = x.max(0)..(x + width).min(i64::from(self.pixels.width));
        let inside_y = y.max(0)..(y + height).min(i64::from(self.pixels.height));
        if inside_x.is_empty() {
            return Ok(out);
        }
        for row in inside_y {
            let source = &self.pixels.row(row as usize)[inside_x.start as usize..inside_x.end as usize];
            let at = ((row - y) * width + (inside_x.start - x)) as usize * 4;
            let dest = out.data[at..at + source.len() * 4].as_chunks_mut::<4>().0;
            if space == self.pixels.space {
                let opaque = if self.alpha { 0 } else { 0xff00_0000 };
                for (bytes, px) in dest.iter_mut().zip(source) {
                    *bytes = pixel::unpremultiply(*px | opaque);
                }
                continue;
            }
            for (bytes, px) in dest.iter_mut().zip(source) {
                let px = if self.alpha { *px } else { *px | 0xff00_0000 };
                *bytes = pixel::unpremultiply(convert_pixel(px, self.pixels.space, space));
            }
        }
        Ok(out)
    }

    /// Writes pixel data at (dx, dy), as it is: no matrix, no clip, no compositing. `dirty` (`[x, y, w, h]` of the
    /// data) limits what is written.
    pub fn put_image_data(&mut self, data: &ImageDataRef<'_>, dx: i32, dy: i32, dirty: Option<[i32; 4]>) {
        let all = IRect::new(0, 0, data.width as i32, data.height as i32);
        let part = dirty.map_or(all, |[x, y, w, h]| {
            let ((x, w), (y, h)) = (normalise(x, w), normalise(y, h));
            let clamp = |v: i64| v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
            IRect::new(clamp(x), clamp(y), clamp(x + w), clamp(y + h)).intersect(&all)
        });
        let (canvas_w, canvas_h) = (self.pixels.width as i32, self.pixels.height as i32);
        let on_canvas = part.shift(dx, dy).intersect(&IRect::new(0, 0, canvas_w, canvas_h));
        if on_canvas.is_empty() || data.data.len() < data.width as usize * data.height as usize * 4 {
            return;
        }
        let (space, alpha) = (self.pixels.space, self.alpha);
        let pixels = match make_mut(&mut self.pixels) {
            Ok(pixels) => pixels,
            Err(error) => return self.record(Err(error)),
        };
        let source = data.data.as_chunks::<4>().0;
        for y in on_canvas.y0..on_canvas.y1 {
            let start = (y - dy) as usize * data.width as usize + (on_canvas.x0 - dx) as usize;
            let from = &source[start..start + on_canvas.width() as usize];
            let row = &mut pixels.row_mut(y as usize)[on_canvas.x0 as usize..on_canvas.x1 as usize];
            for (px, bytes) in row.iter_mut().zip(from) {
                *px = pixel::premultiply(*bytes);
            }
            if data.space != space {
                row.iter_mut().for_each(|px| *px = convert_pixel(*px, data.space, space));
            }
            if !alpha {
                row.iter_mut().for_each(|px| *px |= 0xff00_0000);
            }
        }
    }
}
