//! Pictures as paint: `drawImage` and patterns.

use std::rc::Rc;

use super::IRect;
use super::pixel;
use super::pixmap::Pixmap;
use crate::CanvasError;
use crate::geometry::{Affine, invert};

/// How pixels between pixels are made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filter {
    Nearest,
    Bilinear,
    /// Catmull-Rom, for `imageSmoothingQuality = "high"`.
    Cubic,
}

/// What lies beyond the picture's edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extend {
    /// The edge pixel goes on.
    Clamp,
    /// The picture starts again.
    Repeat,
    /// Nothing.
    Decal,
}

/// A picture under a matrix.
#[derive(Debug)]
pub(crate) struct TextureShader {
    pixels: Rc<Pixmap>,
    /// Device to picture.
    inverse: Affine,
    /// The part of the picture that is used.
    area: IRect,
    extend: (Extend, Extend),
    filter: Filter,
    alpha: u32,
}

impl TextureShader {
    /// `None` when the matrix flattens the picture to nothing.
    pub(crate) fn new(
        pixels: Rc<Pixmap>,
        transform: &Affine,
        area: IRect,
        extend: (Extend, Extend),
        filter: Filter,
        alpha: f32,
    ) -> Option<Self> {
        let mut inverse = invert(transform)?;
        let [a, b, c, d, e, f] = inverse.as_coeffs();
        let near = |v: f64, to: f64| (v - to).abs() < 1e-9;
        let grid = near(a, 1.0) && near(b, 0.0) && near(c, 0.0) && near(d, 1.0);
        let whole = grid && near(e, e.round()) && near(f, f.round());
        if whole {
            inverse = Affine::translate((e.round(), f.round()));
        }
        let filter = if whole { Filter::Nearest } else { filter };
        Some(Self { pixels, inverse, area, extend, filter, alpha: (alpha.clamp(0.0, 1.0) * 255.0).round() as u32 })
    }

    #[inline]
    fn wrap(extend: Extend, v: i64, lo: i32, hi: i32) -> Option<usize> {
        let (lo, hi) = (i64::from(lo), i64::from(hi));
        if v >= lo && v < hi {
            return Some(v as usize);
        }
        match extend {
            Extend::Clamp => Some(v.clamp(lo, hi - 1) as usize),
            Extend::Repeat => Some((lo + (v - lo).rem_euclid(hi - lo)) as usize),
            Extend::Decal => None,
        }
    }

    #[inline]
    fn texel(&self, u: i64, v: i64) -> u32 {
        let x = Self::wrap(self.extend.0, u, self.area.x0, self.area.x1);
        let y = Self::wrap(self.extend.1, v, self.area.y0, self.area.y1);
        match (x, y) {
            (Some(x), Some(y)) => self.pixels.data[y * self.pixels.width as usize + x],
            _ => 0,
        }
    }

    fn bilinear(&self, u: f64, v: f64) -> u32 {
        let (u, v) = (u - 0.5, v - 0.5);
        let (fu, fv) = (u.floor(), v.floor());
        let (tx, ty) = (((u - fu) * 256.0) as u32, ((v - fv) * 256.0) as u32);
        let (iu, iv) = (fu as i64, fv as i64);
        let (p00, p10) = (self.texel(iu, iv), self.texel(iu + 1, iv));
        let (p01, p11) = (self.texel(iu, iv + 1), self.texel(iu + 1, iv + 1));
        if p00 == p10 && p00 == p01 && p00 == p11 {
            return p00;
        }
        let mut out = 0;
        for shift in [0, 8, 16, 24] {
            let c = |p: u32| (p >> shift) & 255;
            let top = c(p00) * (256 - tx) + c(p10) * tx;
            let bottom = c(p01) * (256 - tx) + c(p11) * tx;
            out |= ((top * (256 - ty) + bottom * ty + (1 << 15)) >> 16) << shift;
        }
        out
    }

    fn cubic(&self, u: f64, v: f64) -> u32 {
        let (u, v) = (u - 0.5, v - 0.5);
        let (fu, fv) = (u.floor(), v.floor());
        let (wx, wy) = (catmull_rom((u - fu) as f32), catmull_rom((v - fv) as f32));
        let mut sum = [0.0f32; 4];
        for (j, wy) in wy.iter().enumerate() {
            for (i, wx) in wx.iter().enumerate() {
                let px = self.texel(fu as i64 + i as i64 - 1, fv as i64 + j as i64 - 1);
                for (s, c) in sum.iter_mut().zip(pixel::unpack(px)) {
                    *s += c as f32 * wx * wy;
                }
            }
        }
        let a = sum[3].clamp(0.0, 255.0);
        let q = |v: f32| (v.clamp(0.0, a) + 0.5) as u32;
        pixel::pack(q(sum[0]), q(sum[1]), q(sum[2]), q(a))
    }

    pub(crate) fn shade(&mut self, x: i32, y: i32, out: &mut [u32]) {
        let [a, b, c, d, e, f] = self.inverse.as_coeffs();
        let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (mut u, mut v) = (a * px + c * py + e, b * px + d * py + f);
        match self.filter {
            Filter::Nearest if a == 1.0 && b == 0.0 => self.copy_row(u.floor() as i64, v.floor() as i64, out),
            Filter::Nearest => {
                for px in out.iter_mut() {
                    *px = self.texel(u.floor() as i64, v.floor() as i64);
                    u += a;
                    v += b;
                }
            }
            Filter::Bilinear => {
                for px in out.iter_mut() {
                    *px = self.bilinear(u, v);
                    u += a;
                    v += b;
                }
            }
            Filter::Cubic => {
                for px in out.iter_mut() {
                    *px = self.cubic(u, v);
                    u += a;
                    v += b;
                }
            }
        }
        if self.alpha < 255 {
            for px in out.iter_mut() {
                *px = pixel::scale(*px, self.alpha);
            }
        }
    }

    /// Unscaled rows are copied in runs instead of pixel by pixel.
    fn copy_row(&self, u: i64, v: i64, out: &mut [u32]) {
        let Some(row) = Self::wrap(self.extend.1, v, self.area.y0, self.area.y1) else {
            out.fill(0);
            return;
        };
        let row = self.pixels.row(row);
        let (lo, hi) = (i64::from(self.area.x0), i64::from(self.area.x1));
        let mut at = 0usize;
        while at < out.len() {
            let here = u + at as i64;
            let left = out.len() - at;
            if here >= lo && here < hi {
                let run = left.min((hi - here) as usize);
                out[at..at + run].copy_from_slice(&row[here as usize..here as usize + run]);
                at += run;
                continue;
            }
            match self.extend.0 {
                Extend::Repeat => {
                    let start = lo + (here - lo).rem_euclid(hi - lo);
                    let run = left.min((hi - start) as usize);
                    out[at..at + run].copy_from_slice(&row[start as usize..start as usize + run]);
                    at += run;
                }
                Extend::Clamp | Extend::Decal => {
                    let run = if here < lo { left.min((lo - here) as usize) } else { left };
                    let edge = if here < lo { row[lo as usize] } else { row[hi as usize - 1] };
                    out[at..at + run].fill(if self.extend.0 == Extend::Clamp { edge } else { 0 });
                    at += run;
                }
            }
        }
    }
}

fn catmull_rom(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [-0.5 * t + t2 - 0.5 * t3, 1.0 - 2.5 * t2 + 1.5 * t3, 0.5 * t + 2.0 * t2 - 1.5 * t3, -0.5 * t2 + 0.5 * t3]
}

/// The picture at half its size in each direction, as often as asked; averages four pixels into one.
pub(crate) fn halved(source: &Pixmap, area: &IRect, times_x: u32, times_y: u32) -> Result<Pixmap, CanvasError> {
    let (step_x, step_y) = (1i32 << times_x.min(15), 1i32 << times_y.min(15));
    let width = (area.width() + step_x - 1) / step_x;
    let height = (area.height() + step_y - 1) / step_y;
    let mut out = Pixmap::new(width as u32, height as u32, source.space, source.budget())?;
    for y in 0..height {
        let rows = (area.y0 + y * step_y)..(area.y0 + (y + 1) * step_y).min(area.y1);
        for x in 0..width {
            let (x0, x1) = (area.x0 + x * step_x, (area.x0 + (x + 1) * step_x).min(area.x1));
            let mut sum = [0u64; 4];
            for sy in rows.clone() {
                for px in &source.row(sy as usize)[x0 as usize..x1 as usize] {
                    for (s, c) in sum.iter_mut().zip(pixel::unpack(*px)) {
                        *s += u64::from(c);
                    }
                }
            }
            let n = (rows.len() as u64 * (x1 - x0) as u64).max(1);
            let [r, g, b, a] = sum.map(|s| ((s + n / 2) / n) as u32);
            out.row_mut(y as usize)[x as usize] = pixel::pack(r, g, b, a);
        }
    }
    Ok(out)
}
