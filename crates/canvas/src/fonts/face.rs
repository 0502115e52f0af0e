//! One face at one place in its design space: metrics, shaping data, outlines and colour pictures.

use std::rc::Rc;

use skrifa::bitmap::{BitmapData, Origin};
use skrifa::instance::{LocationRef, NormalizedCoord, Size};
use skrifa::outline::{DrawSettings, HintingInstance, OutlinePen};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::FontBytes;
use crate::geometry::{BezPath, PathEl, Point};

/// A face ready for use.
pub(crate) struct Face {
    pub(crate) id: u32,
    bytes: FontBytes,
    index: u32,
    pub(crate) font: harfrust::Font,
    coords: Vec<NormalizedCoord>,
    pub(crate) units_per_em: f32,
    /// Above and below the baseline, in ems, both positive.
    pub(crate) ascent: f32,
    pub(crate) descent: f32,
    /// The top of the em square above the baseline, in ems.
    pub(crate) em_top: f32,
    /// The hanging and the ideographic baseline above the alphabetic one, in ems, where the font says.
    pub(crate) hanging: Option<f32>,
    pub(crate) ideographic: Option<f32>,
    pub(crate) has_pictures: bool,
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Face({})", self.id)
    }
}

/// A picture glyph such as an emoji: a PNG and where it goes, in pixels of its own size.
pub(crate) struct GlyphPicture<'a> {
    pub(crate) png: &'a [u8],
    pub(crate) ppem: f32,
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) advance: Option<f32>,
}

impl Face {
    pub(crate) fn new(id: u32, bytes: &FontBytes, index: u32, weight: Option<u16>) -> Option<Rc<Self>> {
        let mut font = harfrust::Font::new(FontBytes::clone(bytes), index)?;
        let data: &[u8] = (**bytes).as_ref();
        let face = FontRef::from_index(data, index).ok()?;
        let mut coords = Vec::new();
        if let Some(weight) = weight {
            let location = face.axes().location([("wght", f32::from(weight))]);
            coords = location.coords().to_vec();
            font = font.instance_builder().normalized_coords(coords.iter().copied()).build();
        }
        let metrics = face.metrics(Size::unscaled(), LocationRef::new(&coords));
        let upem = f32::from(metrics.units_per_em.max(1));
        let (ascent, descent) = (metrics.ascent / upem, -metrics.descent / upem);
        let (typo_ascent, typo_descent) = face.os2().map_or((ascent, descent), |os2| {
            (f32::from(os2.s_typo_ascender()) / upem, -f32::from(os2.s_typo_descender()) / upem)
        });
        let total = typo_ascent + typo_descent;
        let em_top = if total > 0.0 { typo_ascent / total } else { 0.8 };
        let has_pictures = !face.bitmap_strikes().is_empty();
        let base = face.table_data(skrifa::Tag::new(b"BASE"));
        let baseline = |tag| Some(f32::from(super::baseline::find(base.as_ref()?.as_bytes(), tag)?) / upem);
        let (hanging, ideographic) = (baseline(b"hang"), baseline(b"ideo"));
        Some(Rc::new(Self {
            id,
            bytes: FontBytes::clone(bytes),
            index,
            font,
            coords,
            units_per_em: upem,
            ascent,
            descent,
            em_top,
            hanging,
            ideographic,
            has_pictures,
        }))
    }

    fn font_ref(&self) -> Option<FontRef<'_>> {
        FontRef::from_index((*self.bytes).as_ref(), self.index).ok()
    }

    pub(crate) fn covers(&self, c: char) -> bool {
        self.font.charmap().map_unicode(c).is_some_and(|g| g.to_u32() != 0)
    }

    /// Instructions for drawing at a size with vertical hinting.
    pub(crate) fn hinting(&self, size: f32) -> Option<HintingInstance> {
        use skrifa::outline::{Engine, HintingOptions, OutlineGlyphFormat, SmoothMode, Target};
        let target =
            Target::Smooth { mode: SmoothMode::Light, symmetric_rendering: true, preserve_linear_metrics: true };
        let font = self.font_ref()?;
        let outlines = font.outline_glyphs();
        // Light hinting: PostScript outlines have hints of their own for it, TrueType ones are hinted automatically.
        let engine = match outlines.format() {
            Some(OutlineGlyphFormat::Cff | OutlineGlyphFormat::Cff2) => Engine::Interpreter,
            _ => Engine::Auto(None),
        };
        let options = HintingOptions { engine, target };
        HintingInstance::new(&outlines, Size::new(size), LocationRef::new(&self.coords), options).ok()
    }

    /// The glyph's outline at a size, y down, the baseline's start at the origin.
    pub(crate) fn outline(&self, glyph: u32, size: f32, hinting: Option<&HintingInstance>) -> BezPath {
        let mut pen = Pen { path: BezPath::new() };
        if let Some(font) = self.font_ref()
            && let Some(outline) = font.outline_glyphs().get(GlyphId::new(glyph))
        {
            let settings = match hinting {
                Some(instance) => DrawSettings::hinted(instance, false),
                None => DrawSettings::unhinted(Size::new(size), LocationRef::new(&self.coords)),
            };
            if outline.draw(settings, &mut pen).is_err() {
                pen.path.truncate(0);
            }
        }
        pen.path
    }

    /// The glyph's picture, if it has one.
    pub(crate) fn picture(&self, glyph: u32, size: f32) -> Option<GlyphPicture<'_>> {
        if !self.has_pictures {
            return None;
        }
        let bitmap = self.font_ref()?.bitmap_strikes().glyph_for_size(Size::new(size), GlyphId::new(glyph))?;
        let BitmapData::Png(png) = bitmap.data else { return None };
        let ppem = bitmap.ppem_y.max(1.0);
        let bearing = |v: f32| v * ppem / self.units_per_em;
        let left = bearing(bitmap.bearing_x) + bitmap.inner_bearing_x;
        let top = match bitmap.placement_origin {
            Origin::TopLeft => bearing(bitmap.bearing_y) + bitmap.inner_bearing_y,
            Origin::BottomLeft => bearing(bitmap.bearing_y) + bitmap.inner_bearing_y + bitmap.height as f32,
        };
        Some(GlyphPicture { png, ppem, left, top, advance: bitmap.advance })
    }
}

struct Pen {
    path: BezPath,
}

fn at(x: f32, y: f32) -> Point {
    Point::new(f64::from(x), -f64::from(y))
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.push(PathEl::MoveTo(at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.push(PathEl::LineTo(at(x, y)));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.push(PathEl::QuadTo(at(cx, cy), at(x, y)));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.path.push(PathEl::CurveTo(at(ax, ay), at(bx, by), at(x, y)));
    }

    fn close(&mut self) {
        self.path.push(PathEl::ClosePath);
    }
}
