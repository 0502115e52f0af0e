//! `drawImage`.

use std::rc::Rc;

use super::Context2d;
use super::state::ImageSmoothingQuality;
use crate::CanvasError;
use crate::bitmap::ImageBitmap;
use crate::geometry::{Affine, Rect, finite};
use crate::raster::IRect;
use crate::raster::pixmap::Pixmap;
use crate::raster::shader::Shader;
use crate::raster::texture::{Extend, Filter, TextureShader, halved};

/// Lengths of the images of the two axes: how much a matrix magnifies.
fn magnification(t: &Affine) -> (f64, f64) {
    let [a, b, c, d, ..] = t.as_coeffs();
    (a.hypot(b), c.hypot(d))
}

/// How often a picture can be halved before it is smaller than what it is drawn at.
fn halvings(scale: f64) -> u32 {
    if scale > 0.0 && scale < 0.5 { (-scale.log2()).floor().min(15.0) as u32 } else { 0 }
}

impl Context2d {
    /// Draws a picture at its own size.
    pub fn draw_image(&mut self, image: &ImageBitmap, dx: f64, dy: f64) -> Result<(), CanvasError> {
        let (w, h) = (f64::from(image.width()), f64::from(image.height()));
        self.draw_image_from(image, [0.0, 0.0, w, h], [dx, dy, w, h])
    }

    /// Draws a picture into a rectangle.
    pub fn draw_image_scaled(
        &mut self,
        image: &ImageBitmap,
        dx: f64,
        dy: f64,
        dw: f64,
        dh: f64,
    ) -> Result<(), CanvasError> {
        let (w, h) = (f64::from(image.width()), f64::from(image.height()));
        self.draw_image_from(image, [0.0, 0.0, w, h], [dx, dy, dw, dh])
    }

    /// Draws part of a picture (`[x, y, w, h]` of it) into a rectangle (`[x, y, w, h]` of the canvas).
    pub fn draw_image_from(
        &mut self,
        image: &ImageBitmap,
        source: [f64; 4],
        dest: [f64; 4],
    ) -> Result<(), CanvasError> {
        if !finite(&source) || !finite(&dest) {
            return Ok(());
        }
        if image.width() == 0 || image.height() == 0 {
            return Err(CanvasError::InvalidState("the image argument has a width or height of 0".into()));
        }
        let [sx, sy, sw, sh] = source;
        let [dx, dy, dw, dh] = dest;
        if sw == 0.0 || sh == 0.0 || dw == 0.0 || dh == 0.0 {
            return Ok(());
        }
        let s = Rect::from_points((sx, sy), (sx + sw, sy + sh));
        let d = Rect::from_points((dx, dy), (dx + dw, dy + dh));
        let whole = Rect::new(0.0, 0.0, f64::from(image.width()), f64::from(image.height()));
        let cut = s.intersect(whole);
        if cut.width() <= 0.0 || cut.height() <= 0.0 {
            return Ok(());
        }
        let (kx, ky) = (d.width() / s.width(), d.height() / s.height());
        let part = Rect::new(
            d.x0 + (cut.x0 - s.x0) * kx,
            d.y0 + (cut.y0 - s.y0) * ky,
            d.x0 + (cut.x1 - s.x0) * kx,
            d.y0 + (cut.y1 - s.y0) * ky,
        );
        let place = Affine::translate((d.x0 - s.x0 * kx, d.y0 - s.y0 * ky)) * Affine::scale_non_uniform(kx, ky);
        let shader = self.image_shader(image, IRect::around(&cut), self.state.transform * place)?;
        self.fill_user_rect(&part, shader);
        Ok(())
    }

    fn image_shader(&self, image: &ImageBitmap, area: IRect, t: Affine) -> Result<Option<Shader>, CanvasError> {
        let pixels = image.pixels_in(self.pixels.space)?;
        let (mx, my) = magnification(&t);
        let quality = self.state.quality;
        let shrink = self.state.smoothing && quality != ImageSmoothingQuality::Low;
        let (hx, hy) = if shrink { (halvings(mx), halvings(my)) } else { (0, 0) };
        let filter = match quality {
            _ if !self.state.smoothing => Filter::Nearest,
            ImageSmoothingQuality::High if mx > 1.0 && my > 1.0 => Filter::Cubic,
            _ => Filter::Bilinear,
        };
        let (pixels, t, area): (Rc<Pixmap>, Affine, IRect) = if hx + hy > 0 {
            let small = halved(&pixels, &area, hx, hy)?;
            let t = t
                * Affine::translate((f64::from(area.x0), f64::from(area.y0)))
                * Affine::scale_non_uniform(f64::from(1u32 << hx), f64::from(1u32 << hy));
            let area = IRect::new(0, 0, small.width as i32, small.height as i32);
            (Rc::new(small), t, area)
        } else {
            (pixels, t, area)
        };
        let shader =
            TextureShader::new(pixels, &t, area, (Extend::Clamp, Extend::Clamp), filter, self.state.alpha as f32);
        Ok(shader.map(|s| Shader::Texture(Box::new(s))))
    }
}
