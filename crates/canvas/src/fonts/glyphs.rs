//! Glyphs as pixels, remembered.
//!
//! Text is mostly the same few dozen shapes again and again. Each is rasterised once per face, size and quarter-pixel
//! position and then only copied: this is what makes text as fast as in a browser.

use std::collections::HashMap;
use std::rc::Rc;

use skrifa::outline::HintingInstance;
use vello_common::kurbo::{self, Join, Stroke, StrokeOpts};

use super::book::FaceChoice;
use super::contrast;
use crate::ImageBitmap;
use crate::geometry::hit::FillRule;
use crate::geometry::{Affine, BezPath, Rect, Shape};
use crate::limits::CanvasLimits;
use crate::raster::IRect;
use crate::raster::clip::Clip;
use crate::raster::coverage::Coverage;

/// Bytes of remembered masks; then all are forgotten.
const MAX_MASK_BYTES: usize = 16 << 20;
/// Remembered colour pictures; then all are forgotten.
const MAX_PICTURES: usize = 512;
/// Remembered outlines; then all are forgotten.
const MAX_OUTLINES: usize = 8192;
/// Remembered hinting set-ups.
const MAX_HINTING: usize = 64;
/// Horizontal positions within a pixel at which a glyph is rasterised.
pub(crate) const SUBPIXELS: f64 = 4.0;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    face: u32,
    /// Bit 0: made bold; bit 1: slanted; bit 2: hinted; from bit 3: the lightness its edges are corrected for.
    made_up: u8,
    sub: u8,
    size: u32,
    glyph: u32,
}

/// Coverage of one glyph; `left` and `top` are relative to the whole pixel its origin falls into.
#[derive(Debug)]
pub(crate) struct GlyphMask {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) width: i32,
    pub(crate) coverage: Box<[u8]>,
}

/// A colour glyph and the rectangle it fills, relative to its origin.
#[derive(Debug)]
pub(crate) struct ColorGlyph {
    pub(crate) image: ImageBitmap,
    pub(crate) place: Rect,
}

/// Remembered glyphs of one book.
#[derive(Default)]
pub(crate) struct GlyphCache {
    masks: HashMap<Key, Rc<GlyphMask>, FastHash>,
    mask_bytes: usize,
    outlines: HashMap<Key, Rc<BezPath>, FastHash>,
    bounds: HashMap<Key, Rect, FastHash>,
    pictures: HashMap<Key, Option<Rc<ColorGlyph>>, FastHash>,
    hinting: HashMap<(u32, u32), Option<Rc<HintingInstance>>>,
    coverage: Option<Box<Coverage>>,
    limits: Option<CanvasLimits>,
}

fn made_up(choice: &FaceChoice) -> u8 {
    u8::from(choice.embolden) | (u8::from(choice.slant) << 1)
}

impl GlyphCache {
    /// The mask of a glyph at a device size, shifted right by `sub` quarters of a pixel, for text of a lightness.
    pub(crate) fn mask(&mut self, choice: &FaceChoice, glyph: u32, size: f32, sub: u8, light: u8) -> Rc<GlyphMask> {
        let key =
            Key { face: choice.face.id, made_up: made_up(choice) | (light << 3), sub, size: size.to_bits(), glyph };
        if let Some(mask) = self.masks.get(&key) {
            return Rc::clone(mask);
        }
        let outline = self.outline(choice, glyph, size, true);
        let mut mask = self.rasterise(&outline, f64::from(sub) / SUBPIXELS);
        let table = contrast::table(light);
        for c in &mut mask.coverage {
            *c = table[usize::from(*c)];
        }
        let mask = Rc::new(mask);
        if self.mask_bytes > MAX_MASK_BYTES {
            self.masks.clear();
            self.mask_bytes = 0;
        }
        self.mask_bytes += mask.coverage.len() + 64;
        self.masks.insert(key, Rc::clone(&mask));
        mask
    }

    fn rasterise(&mut self, outline: &BezPath, shift: f64) -> GlyphMask {
        let empty = GlyphMask { left: 0, top: 0, width: 0, coverage: Box::default() };
        if outline.is_empty() {
            return empty;
        }
        let area = IRect::around(&(outline.bounding_box() + kurbo::Vec2::new(shift, 0.0)));
        if area.is_empty() || area.width() > 4096 || area.height() > 4096 {
            return empty;
        }
        let coverage = self.coverage.get_or_insert_default();
        let size = (area.width() as u32, area.height() as u32);
        let place = Affine::translate((shift - f64::from(area.x0), -f64::from(area.y0)));
        coverage.fill(outline, place, FillRule::NonZero, size, None);
        let bounds = IRect::new(0, 0, area.width(), area.height());
        let Ok(clip) = Clip::from_strips(&coverage.storage.strips, &coverage.storage.alphas, bounds, None) else {
            return empty;
        };
        let mut bytes = vec![0u8; (area.width() * area.height()) as usize].into_boxed_slice();
        for y in clip.bounds.y0..clip.bounds.y1 {
            if let Some(row) = clip.row(y, clip.bounds.x0, clip.bounds.x1) {
                let start = (y * area.width() + clip.bounds.x0) as usize;
                bytes[start..start + row.len()].copy_from_slice(row);
            }
        }
        GlyphMask { left: area.x0, top: area.y0, width: area.width(), coverage: bytes }
    }

    /// The outline of a glyph at a size, with what must be made up of weight and slant.
    pub(crate) fn outline(&mut self, choice: &FaceChoice, glyph: u32, size: f32, hinted: bool) -> Rc<BezPath> {
        let hinted = hinted && !choice.slant && !choice.embolden;
        let key = Key {
            face: choice.face.id,
            made_up: made_up(choice) | (u8::from(hinted) << 2),
            sub: 0,
            size: size.to_bits(),
            glyph,
        };
        if let Some(path) = self.outlines.get(&key) {
            return Rc::clone(path);
        }
        let hinting = if hinted { self.hinting(choice, size) } else { None };
        let mut path = choice.face.outline(glyph, size, hinting.as_deref());
        if choice.embolden {
            path = bolder(&path, size);
        }
        if choice.slant {
            path.apply_affine(Affine::new([1.0, 0.0, -0.25, 1.0, 0.0, 0.0]));
        }
        let path = Rc::new(path);
        if self.outlines.len() >= MAX_OUTLINES {
            self.outlines.clear();
        }
        self.outlines.insert(key, Rc::clone(&path));
        path
    }

    fn hinting(&mut self, choice: &FaceChoice, size: f32) -> Option<Rc<HintingInstance>> {
        if self.hinting.len() >= MAX_HINTING {
            self.hinting.clear();
        }
        let key = (choice.face.id, size.to_bits());
        self.hinting.entry(key).or_insert_with(|| choice.face.hinting(size).map(Rc::new)).clone()
    }

    /// The rectangle a glyph's ink fills at a size, relative to its origin; empty for blanks.
    pub(crate) fn bounds(&mut self, choice: &FaceChoice, glyph: u32, size: f32) -> Rect {
        let key = Key { face: choice.face.id, made_up: made_up(choice), sub: 0, size: size.to_bits(), glyph };
        if let Some(bounds) = self.bounds.get(&key) {
            return *bounds;
        }
        let bounds = match self.picture(choice, glyph, size) {
            Some(picture) => picture.place,
            None => {
                let outline = self.outline(choice, glyph, size, true);
                if outline.is_empty() { Rect::ZERO } else { outline.bounding_box() }
            }
        };
        if self.bounds.len() >= MAX_OUTLINES {
            self.bounds.clear();
        }
        self.bounds.insert(key, bounds);
        bounds
    }

    /// The colour picture of a glyph, if it has one.
    pub(crate) fn picture(&mut self, choice: &FaceChoice, glyph: u32, size: f32) -> Option<Rc<ColorGlyph>> {
        if !choice.face.has_pictures {
            return None;
        }
        let key = Key { face: choice.face.id, made_up: 0, sub: 0, size: size.to_bits(), glyph };
        if let Some(found) = self.pictures.get(&key) {
            return found.clone();
        }
        let limits = self.limits.get_or_insert_default();
        let made = choice.face.picture(glyph, size).and_then(|p| {
            let image = ImageBitmap::decode(p.png, limits).ok()?;
            let scale = f64::from(size / p.ppem);
            let (x, y) = (f64::from(p.left) * scale, -f64::from(p.top) * scale);
            let (w, h) = (f64::from(image.width()) * scale, f64::from(image.height()) * scale);
            Some(Rc::new(ColorGlyph { image, place: Rect::new(x, y, x + w, y + h) }))
        });
        if self.pictures.len() >= MAX_PICTURES {
            self.pictures.clear();
        }
        self.pictures.insert(key, made.clone());
        made
    }
}

/// The outline made heavier by as much as browsers do where no bold face exists.
fn bolder(path: &BezPath, size: f32) -> BezPath {
    let t = ((f64::from(size) - 9.0) / 27.0).clamp(0.0, 1.0);
    let extra = f64::from(size) * (1.0 / 24.0 + (1.0 / 32.0 - 1.0 / 24.0) * t);
    let style = Stroke::new(extra).with_join(Join::Miter);
    let rim = kurbo::stroke(path.iter(), &style, &StrokeOpts::default(), 0.02);
    let mut out = path.clone();
    out.extend(rim.iter());
    out
}

/// A quick hash for small keys; nothing hostile can choose them.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FastHash;

impl std::hash::BuildHasher for FastHash {
    type Hasher = FastHasher;

    fn build_hasher(&self) -> FastHasher {
        FastHasher(0)
    }
}

/// Multiplies and rotates.
pub(crate) struct FastHasher(u64);

impl FastHasher {
    fn mix(&mut self, v: u64) {
        self.0 = (self.0.rotate_left(5) ^ v).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl std::hash::Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        for b in rest {
            self.mix(u64::from(*b));
        }
    }

    fn write_u8(&mut self, v: u8) {
        self.mix(v.into());
    }

    fn write_u32(&mut self, v: u32) {
        self.mix(v.into());
    }
}
