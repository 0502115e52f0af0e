//! Putting paint onto pixels: strips, rectangles, glyph masks and whole layers.

use vello_common::geometry::RectU16;
use vello_common::strip::{Strip, visit_strip_fill_segments};

use super::IRect;
use super::blend::CompositeOp;
use super::clip::Clip;
use super::pixel::{self, mul255};
use super::pixmap::Pixmap;
use super::shader::Shader;
use crate::geometry::Rect;

/// Where a draw goes: pixels, the canvas position of their first one, what may be touched, and how it mixes.
pub(crate) struct Target<'a> {
    pub(crate) pixels: &'a mut Pixmap,
    /// Canvas coordinates of the target's top left pixel.
    pub(crate) origin: (i32, i32),
    /// In target coordinates; a layer has none.
    pub(crate) clip: Option<&'a Clip>,
    pub(crate) op: CompositeOp,
}

/// An eight-bit coverage picture, such as a glyph.
pub(crate) struct Mask<'a> {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) coverage: &'a [u8],
}

impl Target<'_> {
    /// The pixels that may be touched, in target coordinates.
    pub(crate) fn bounds(&self) -> IRect {
        let all = IRect::new(0, 0, self.pixels.width as i32, self.pixels.height as i32);
        self.clip.map_or(all, |c| c.bounds.intersect(&all))
    }

    /// Paints generated strips, which are already cut with a shaped clip.
    pub(crate) fn strips(&mut self, strips: &[Strip], alphas: &[u8], shader: &mut Shader) {
        let bounds = self.bounds();
        if bounds.is_empty() {
            return;
        }
        let tiles = RectU16::new(
            (bounds.x0 / 4) as u16,
            (bounds.y0 / 4) as u16,
            ((bounds.x1 + 3) / 4) as u16,
            ((bounds.y1 + 3) / 4) as u16,
        );
        let mut scratch = Scratch::default();
        let mut context = (self, shader, &mut scratch);
        visit_strip_fill_segments(
            strips,
            tiles,
            &mut context,
            |(target, shader, scratch), s| {
                let x0 = i32::from(s.x0()).max(bounds.x0);
                let x1 = i32::from(s.x1()).min(bounds.x1);
                if x1 <= x0 {
                    return;
                }
                let skip = (x0 - i32::from(s.x0())) as usize;
                let start = s.alpha_idx as usize + skip * 4;
                let count = (x1 - x0) as usize;
                let Some(alphas) = alphas.get(start..start + count * 4) else { return };
                for row in 0..4 {
                    let y = i32::from(s.y()) + row as i32;
                    if y < bounds.y0 || y >= bounds.y1 {
                        continue;
                    }
                    if let (Shader::Solid(px), CompositeOp::SourceOver) = (&**shader, target.op) {
                        let out = &mut target.pixels.row_mut(y as usize)[x0 as usize..x1 as usize];
                        over_columns(out, *px, alphas, row);
                        continue;
                    }
                    scratch.coverage.clear();
                    scratch.coverage.extend(alphas.iter().skip(row).step_by(4));
                    target.covered_span(x0, y, shader, scratch);
                }
            },
            |(target, shader, scratch), s| {
                let x0 = i32::from(s.x0()).max(bounds.x0);
                let x1 = i32::from(s.x1()).min(bounds.x1);
                for y in i32::from(s.y()).max(bounds.y0)..(i32::from(s.y()) + 4).min(bounds.y1) {
                    target.full_span(x0, x1, y, shader, scratch);
                }
            },
        );
    }

    /// Paints an upright rectangle with soft edges. Not for shaped clips: those go through strips.
    pub(crate) fn rect(&mut self, r: &Rect, shader: &mut Shader) {
        let bounds = self.bounds();
        let cut = IRect::around(r).intersect(&bounds);
        if cut.is_empty() || r.x1 <= r.x0 || r.y1 <= r.y0 {
            return;
        }
        let mut scratch = Scratch::default();
        // Coverage of one pixel column or row by the rectangle's extent.
        let part = |lo: f64, hi: f64, at: i32| {
            let v = hi.min(f64::from(at) + 1.0) - lo.max(f64::from(at));
            (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u32
        };
        let whole_x = (part(r.x0, r.x1, cut.x0) == 255, part(r.x0, r.x1, cut.x1 - 1) == 255);
        for y in cut.y0..cut.y1 {
            let cy = part(r.y0, r.y1, y);
            if cy == 0 {
                continue;
            }
            if cy == 255 {
                let inner0 = cut.x0 + i32::from(!whole_x.0);
                let inner1 = cut.x1 - i32::from(!whole_x.1);
                self.full_span(inner0, inner1, y, shader, &mut scratch);
                let edge = |x: i32| part(r.x0, r.x1, x) as u8;
                if !whole_x.0 {
                    scratch.coverage.clear();
                    scratch.coverage.push(edge(cut.x0));
                    self.covered_span(cut.x0, y, shader, &mut scratch);
                }
                if !whole_x.1 && cut.x1 - 1 > cut.x0 - i32::from(whole_x.0) {
                    scratch.coverage.clear();
                    scratch.coverage.push(edge(cut.x1 - 1));
                    self.covered_span(cut.x1 - 1, y, shader, &mut scratch);
                }
            } else {
                scratch.coverage.clear();
                scratch.coverage.extend((cut.x0..cut.x1).map(|x| mul255(part(r.x0, r.x1, x), cy) as u8));
                self.covered_span(cut.x0, y, shader, &mut scratch);
            }
        }
    }

    /// Paints a coverage mask, cut with the clip.
    pub(crate) fn mask(&mut self, mask: &Mask<'_>, shader: &mut Shader) {
        let height = if mask.width > 0 { mask.coverage.len() as i32 / mask.width } else { 0 };
        let area = IRect::new(mask.x, mask.y, mask.x.saturating_add(mask.width), mask.y.saturating_add(height));
        let cut = area.intersect(&self.bounds());
        if cut.is_empty() {
            return;
        }
        let mut scratch = Scratch::default();
        let clip = self.clip;
        for y in cut.y0..cut.y1 {
            let start = ((y - mask.y) * mask.width + (cut.x0 - mask.x)) as usize;
            let row = &mask.coverage[start..start + cut.width() as usize];
            if let (Shader::Solid(px), CompositeOp::SourceOver, None) =
                (&*shader, self.op, clip.and_then(|c| c.shape.as_ref()))
            {
                let out = &mut self.pixels.row_mut(y as usize)[cut.x0 as usize..cut.x1 as usize];
                over_covered(out, *px, row);
                continue;
            }
            scratch.coverage.clear();
            match clip.and_then(|c| c.row(y, cut.x0, cut.x1)) {
                Some(clip) => scratch
                    .coverage
                    .extend(row.iter().zip(clip).map(|(a, b)| mul255(u32::from(*a), u32::from(*b)) as u8)),
                None => scratch.coverage.extend_from_slice(row),
            }
            self.covered_span(cut.x0, y, shader, &mut scratch);
        }
    }

    /// Composites a layer whose first pixel sits at (x, y) of the canvas. With an unbounded mode everything that may
    /// be touched is, as if the layer were surrounded by transparency.
    pub(crate) fn layer(&mut self, layer: &Pixmap, x: i32, y: i32) {
        let bounds = self.bounds();
        let (x, y) = (x.saturating_sub(self.origin.0), y.saturating_sub(self.origin.1));
        let area = IRect::new(x, y, x.saturating_add(layer.width as i32), y.saturating_add(layer.height as i32));
        let inside = area.intersect(&bounds);
        let region = if self.op.is_unbounded() { bounds } else { inside };
        for ty in region.y0..region.y1 {
            let clip = self.clip.and_then(|c| c.row(ty, region.x0, region.x1));
            let out = &mut self.pixels.row_mut(ty as usize)[region.x0 as usize..region.x1 as usize];
            let source = (ty >= inside.y0 && ty < inside.y1).then(|| layer.row((ty - y) as usize));
            for (i, d) in out.iter_mut().enumerate() {
                let tx = region.x0 + i as i32;
                let s = match source {
                    Some(row) if tx >= inside.x0 && tx < inside.x1 => row[(tx - x) as usize],
                    _ => 0,
                };
                let mixed = self.op.apply(s, *d);
                *d = match clip {
                    Some(clip) if clip[i] < 255 => pixel::lerp(*d, mixed, u32::from(clip[i])),
                    _ => mixed,
                };
            }
        }
    }

    #[inline]
    fn full_span(&mut self, x0: i32, x1: i32, y: i32, shader: &mut Shader, scratch: &mut Scratch) {
        if x1 <= x0 {
            return;
        }
        let (origin, op) = (self.origin, self.op);
        let out = &mut self.pixels.row_mut(y as usize)[x0 as usize..x1 as usize];
        match (shader, op) {
            (Shader::Solid(px), CompositeOp::SourceOver) => over_solid(out, *px),
            (Shader::Solid(px), op) => out.iter_mut().for_each(|d| *d = op.apply(*px, *d)),
            (shader, op) => {
                scratch.colors.resize(out.len(), 0);
                shader.shade(x0 + origin.0, y + origin.1, &mut scratch.colors);
                for (d, s) in out.iter_mut().zip(&scratch.colors) {
                    *d = match (op, s >> 24) {
                        (CompositeOp::SourceOver, 255) => *s,
                        (CompositeOp::SourceOver, 0) => *d,
                        (CompositeOp::SourceOver, _) => pixel::over(*s, *d),
                        (op, _) => op.apply(*s, *d),
                    };
                }
            }
        }
    }

    #[inline]
    fn covered_span(&mut self, x0: i32, y: i32, shader: &mut Shader, scratch: &mut Scratch) {
        let x = x0 as usize;
        let (origin, op) = (self.origin, self.op);
        let out = &mut self.pixels.row_mut(y as usize)[x..x + scratch.coverage.len()];
        match (shader, op) {
            (Shader::Solid(px), CompositeOp::SourceOver) => over_covered(out, *px, &scratch.coverage),
            (Shader::Solid(px), op) => {
                for (d, c) in out.iter_mut().zip(&scratch.coverage) {
                    if *c > 0 {
                        *d = op.apply(pixel::scale(*px, u32::from(*c)), *d);
                    }
                }
            }
            (shader, op) => {
                scratch.colors.resize(out.len(), 0);
                shader.shade(x0 + origin.0, y + origin.1, &mut scratch.colors);
                for ((d, s), c) in out.iter_mut().zip(&scratch.colors).zip(&scratch.coverage) {
                    if *c > 0 {
                        *d = op.apply(pixel::scale(*s, u32::from(*c)), *d);
                    }
                }
            }
        }
    }
}

/// Row buffers of one draw.
#[derive(Default)]
struct Scratch {
    coverage: Vec<u8>,
    colors: Vec<u32>,
}

fn over_solid(out: &mut [u32], px: u32) {
    match px >> 24 {
        255 => out.fill(px),
        0 => {}
        a => {
            let keep = 255 - a;
            for d in out {
                *d = px + pixel::scale(*d, keep);
            }
        }
    }
}

/// As [`over_covered`], with coverage in columns of four rows.
fn over_columns(out: &mut [u32], px: u32, alphas: &[u8], row: usize) {
    for (d, column) in out.iter_mut().zip(alphas.as_chunks::<4>().0) {
        *d = pixel::over(pixel::scale(px, u32::from(column[row])), *d);
    }
}

/// Paints one colour through coverage. Without branches: edges have no pattern a processor could guess, and the
/// arithmetic is exact at both ends.
fn over_covered(out: &mut [u32], px: u32, coverage: &[u8]) {
    for (d, c) in out.iter_mut().zip(coverage) {
        *d = pixel::over(pixel::scale(px, u32::from(*c)), *d);
    }
}
