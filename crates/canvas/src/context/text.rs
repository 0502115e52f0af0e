//! `fillText`, `strokeText`, `measureText`.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::rc::Rc;

use super::Context2d;
use super::text_style::{Direction, FontKerning, TextAlign, TextBaseline, TextRendering};
use super::window::{LONG_TEXT_BYTES, Window};
use crate::fonts::FontBook;
use crate::fonts::FontChain;
use crate::fonts::contrast;
use crate::fonts::glyphs::SUBPIXELS;
use crate::fonts::shape::{Line, Setting, Word, each_word, shape_line};
use crate::fonts::spec::FontSpec;
use crate::geometry::hit::FillRule;
use crate::geometry::{Affine, BezPath, Rect, finite, invert};
use crate::raster::shader::Shader;
use crate::raster::target::{Mask, Target};

/// Glyphs larger than this are drawn as outlines: too large to be worth remembering.
const MAX_MASK_SIZE: f64 = 256.0;
/// Most segments that the letters of one text may come to where they are drawn as outlines. Only letters far smaller than
/// a pixel, or all in one place, come to more; the rest of those is left out.
const MAX_OUTLINE_ELEMENTS: usize = 500_000;

/// What `measureText` gives back. All numbers are in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs, reason = "each is the standard's own word")]
pub struct TextMetrics {
    pub width: f64,
    pub actual_bounding_box_left: f64,
    pub actual_bounding_box_right: f64,
    pub actual_bounding_box_ascent: f64,
    pub actual_bounding_box_descent: f64,
    pub font_bounding_box_ascent: f64,
    pub font_bounding_box_descent: f64,
    pub em_height_ascent: f64,
    pub em_height_descent: f64,
    pub hanging_baseline: f64,
    pub alphabetic_baseline: f64,
    pub ideographic_baseline: f64,
}

/// A text ready to be shaped and placed.
struct Prepared<'a> {
    text: Cow<'a, str>,
    chain: Rc<FontChain>,
    setting: Setting,
    rtl: bool,
    metrics: FontLines,
}

impl Prepared<'_> {
    fn each_word(&self, fonts: &FontBook, visit: &mut dyn FnMut(f64, Rc<Word>) -> ControlFlow<()>) -> f64 {
        each_word(fonts, &self.chain, &self.setting, &self.text, self.rtl, visit)
    }

    fn whole(&self, fonts: &FontBook) -> Line {
        shape_line(fonts, &self.chain, &self.setting, &self.text, self.rtl)
    }

    fn width(&self, fonts: &FontBook) -> f64 {
        self.each_word(fonts, &mut |_, _| ControlFlow::Continue(()))
    }

    /// The words of a line that may be seen, and no others.
    fn seen(&self, fonts: &FontBook, window: Window) -> Line {
        let mut line = Line::default();
        line.width = self.each_word(fonts, &mut |start, word| {
            if start > window.to {
                return ControlFlow::Break(());
            }
            if window.sees(start, start + f64::from(word.advance)) {
                line.words.push((start, word));
            }
            ControlFlow::Continue(())
        });
        line
    }
}

/// Heights of the primary font at the current size.
#[derive(Clone, Copy)]
struct FontLines {
    ascent: f64,
    descent: f64,
    em_top: f64,
    em_bottom: f64,
    hanging: f64,
    /// The ideographic baseline above the alphabetic one; below it, usually.
    ideographic: f64,
}

impl FontLines {
    fn new(chain: &FontChain, size: f64) -> Self {
        let Some(face) = chain.faces.first().map(|c| &c.face) else {
            return Self { ascent: 0.0, descent: 0.0, em_top: 0.0, em_bottom: 0.0, hanging: 0.0, ideographic: 0.0 };
        };
        // Browsers keep the em box on a grid of 1/64 pixel and font boxes on whole pixels.
        let em_top = (f64::from(face.em_top) * size * 64.0).floor() / 64.0;
        let (ascent, descent) = ((f64::from(face.ascent) * size).round(), (f64::from(face.descent) * size).round());
        Self {
            ascent,
            descent,
            em_top,
            em_bottom: size - em_top,
            hanging: face.hanging.map_or(ascent * 0.8, |v| f64::from(v) * size),
            ideographic: face.ideographic.map_or(-descent, |v| f64::from(v) * size),
        }
    }

    /// How far the alphabetic baseline lies below the anchor.
    fn shift(&self, baseline: TextBaseline) -> f64 {
        match baseline {
            TextBaseline::Alphabetic => 0.0,
            TextBaseline::Top => self.em_top,
            TextBaseline::Hanging => self.hanging,
            TextBaseline::Middle => (self.em_top - self.em_bottom) / 2.0,
            TextBaseline::Ideographic => self.ideographic,
            TextBaseline::Bottom => -self.em_bottom,
        }
    }
}

impl Context2d {
    fn is_rtl(&self) -> bool {
        self.state.text.direction == Direction::Rtl
    }

    /// The faces for a font, remembered from the last call: text is mostly drawn in runs of one font.
    fn font_chain(&self, spec: &FontSpec) -> Rc<FontChain> {
        let fresh = self.fonts.generation();
        let mut last = self.last_chain.borrow_mut();
        if let Some((same, at, chain)) = &*last
            && *at == fresh
            && same == spec
        {
            return Rc::clone(chain);
        }
        let chain = self.fonts.chain(spec);
        *last = Some((spec.clone(), fresh, Rc::clone(&chain)));
        chain
    }

    fn prepare<'a>(&self, text: &'a str) -> Prepared<'a> {
        let style = &self.state.text;
        let spec = style.resolved();
        let chain = self.font_chain(&spec);
        let blank = ['\t', '\n', '\u{b}', '\u{c}', '\r'];
        let text: Cow<'a, str> = if text.contains(blank) { text.replace(blank, " ").into() } else { text.into() };
        let letter = style.letter_spacing.px(spec.size) as f32;
        let careful = matches!(style.rendering, TextRendering::OptimizeLegibility | TextRendering::GeometricPrecision);
        let setting = Setting {
            chain: chain.id,
            size: (spec.size as f32).to_bits(),
            letter_spacing: letter.to_bits(),
            word_spacing: (style.word_spacing.px(spec.size) as f32).to_bits(),
            kerning: style.kerning != FontKerning::None
                && (style.rendering != TextRendering::OptimizeSpeed || style.kerning == FontKerning::Normal),
            ligatures: letter == 0.0 && style.rendering != TextRendering::OptimizeSpeed,
            whole: careful || style.kerning == FontKerning::Normal,
            caps: style.resolved_caps(),
            lang: Rc::clone(&style.lang),
        };
        let metrics = FontLines::new(&chain, spec.size);
        Prepared { text, chain, setting, rtl: self.is_rtl(), metrics }
    }

    /// From the anchor to the start of a line, as a share of its width.
    fn anchor_shift(&self) -> f64 {
        match (self.state.text.align, self.is_rtl()) {
            (TextAlign::Left, _) | (TextAlign::Start, false) | (TextAlign::End, true) => 0.0,
            (TextAlign::Right, _) | (TextAlign::End, false) | (TextAlign::Start, true) => -1.0,
            (TextAlign::Center, _) => -0.5,
        }
    }

    /// Draws filled text; `max_width` condenses it.
    pub fn fill_text(&mut self, text: &str, x: f64, y: f64, max_width: Option<f64>) {
        self.draw_text(text, x, y, max_width, false);
    }

    /// Draws the outline of text.
    pub fn stroke_text(&mut self, text: &str, x: f64, y: f64, max_width: Option<f64>) {
        self.draw_text(text, x, y, max_width, true);
    }

    fn draw_text(&mut self, text: &str, x: f64, y: f64, max_width: Option<f64>, stroke: bool) {
        if !finite(&[x, y])
            || max_width.is_some_and(|w| w.is_nan() || w <= 0.0)
            || invert(&self.state.transform).is_none()
        {
            return;
        }
        let text = self.prepare(text);
        let fonts = Rc::clone(&self.fonts);
        let shift = self.anchor_shift();
        let line = (text.text.len() <= LONG_TEXT_BYTES).then(|| text.whole(&fonts));
        let width = match &line {
            Some(line) => line.width,
            None if shift != 0.0 || max_width.is_some() => text.width(&fonts),
            None => 0.0,
        };
        let squeeze = match max_width {
            Some(limit) if width > limit => limit / width,
            _ => 1.0,
        };
        let dy = text.metrics.shift(self.state.text.baseline);
        let place = self.state.transform
            * Affine::translate((x + width * shift * squeeze, y + dy))
            * Affine::scale_non_uniform(squeeze, 1.0);
        let window = self.window(&place, stroke);
        let line = match (line, window) {
            (Some(line), _) => line,
            (None, Some(window)) => text.seen(&fonts, window),
            (None, None) => return,
        };
        if text.text.is_empty() || text.chain.faces.is_empty() {
            return;
        }
        let geometric = self.state.text.rendering == TextRendering::GeometricPrecision;
        let [a, b, c, d, ..] = place.as_coeffs();
        if stroke {
            let outline = self.text_outline(&line, &place, !geometric && b == 0.0 && c == 0.0 && a == 1.0 && d == 1.0);
            self.stroke_device_path(&outline);
            return;
        }
        let shader = self.shader_for(&self.state.fill);
        let upright = b == 0.0 && c == 0.0 && a > 0.0 && (a - d).abs() <= 1e-6 * a;
        let size = self.state.text.font.size * a;
        if upright && !geometric && size <= MAX_MASK_SIZE {
            self.draw_glyph_masks(&line, &place, shader);
        } else {
            let outline = self.text_outline(&line, &place, false);
            if !outline.is_empty() || self.state.op.is_unbounded() {
                self.draw_path(&outline, FillRule::NonZero, shader);
            }
        }
        self.draw_pictures(&line, &place);
    }

    /// All glyphs of a line as one outline in device space.
    fn text_outline(&self, line: &Line, place: &Affine, hinted: bool) -> BezPath {
        let mut out = BezPath::new();
        let mut cache = self.fonts.glyphs.borrow_mut();
        for (start, word) in &line.words {
            for run in &word.runs {
                for glyph in &run.glyphs {
                    let at = Affine::translate((start + f64::from(glyph.x), f64::from(glyph.y)));
                    let path = cache.outline(&run.choice, glyph.id, run.size, hinted);
                    if out.elements().len() + path.elements().len() > MAX_OUTLINE_ELEMENTS {
                        return out;
                    }
                    let place = *place * at;
                    out.extend(path.iter().map(|element| place * element));
                }
            }
        }
        out
    }

    fn draw_glyph_masks(&mut self, line: &Line, place: &Affine, shader: Option<Shader>) {
        let fonts = Rc::clone(&self.fonts);
        let bounds = if self.needs_bounds() { line_bounds(&fonts, line, place) } else { Rect::ZERO };
        self.draw(bounds, shader, &mut |target, _, shader| paint_masks(&fonts, line, place, target, shader));
    }

    fn draw_pictures(&mut self, line: &Line, place: &Affine) {
        let has = |w: &crate::fonts::shape::Word| w.runs.iter().any(|r| r.choice.face.has_pictures);
        if !line.words.iter().any(|(_, w)| has(w)) {
            return;
        }
        let saved = self.state.transform;
        let smoothing = (self.state.smoothing, self.state.quality);
        self.state.smoothing = true;
        self.state.quality = super::ImageSmoothingQuality::Medium;
        for (start, word) in &line.words {
            for run in word.runs.iter().filter(|r| r.choice.face.has_pictures) {
                for glyph in &run.glyphs {
                    let picture = self.fonts.glyphs.borrow_mut().picture(&run.choice, glyph.id, run.size);
                    let Some(picture) = picture else { continue };
                    self.state.transform = *place * Affine::translate((start + f64::from(glyph.x), f64::from(glyph.y)));
                    let r = picture.place;
                    let drawn = self.draw_image_scaled(&picture.image, r.x0, r.y0, r.width(), r.height());
                    self.record(drawn);
                }
            }
        }
        self.state.transform = saved;
        (self.state.smoothing, self.state.quality) = smoothing;
    }

    /// Measures text as it would be drawn.
    pub fn measure_text(&self, text: &str) -> TextMetrics {
        let text = self.prepare(text);
        let mut ink: Option<Rect> = None;
        let width = text.each_word(&self.fonts, &mut |start, word| {
            let mut cache = self.fonts.glyphs.borrow_mut();
            for run in &word.runs {
                for glyph in &run.glyphs {
                    let b = cache.bounds(&run.choice, glyph.id, run.size);
                    if b.width() <= 0.0 || b.height() <= 0.0 {
                        continue;
                    }
                    let (x, y) = (start + f64::from(glyph.x), f64::from(glyph.y));
                    let b = Rect::new(b.x0.floor() + x, b.y0.floor() + y, b.x1.ceil() + x, b.y1.ceil() + y);
                    ink = Some(ink.map_or(b, |i| i.union(b)));
                }
            }
            ControlFlow::Continue(())
        });
        let ink = ink.unwrap_or(Rect::ZERO);
        let m = text.metrics;
        let (dx, dy) = (width * self.anchor_shift(), m.shift(self.state.text.baseline));
        TextMetrics {
            width,
            actual_bounding_box_left: -(ink.x0 + dx),
            actual_bounding_box_right: ink.x1 + dx,
            actual_bounding_box_ascent: -(ink.y0 + dy),
            actual_bounding_box_descent: ink.y1 + dy,
            font_bounding_box_ascent: m.ascent - dy,
            font_bounding_box_descent: m.descent + dy,
            em_height_ascent: m.em_top - dy,
            em_height_descent: m.em_bottom + dy,
            hanging_baseline: m.hanging - dy,
            alphabetic_baseline: -dy,
            ideographic_baseline: m.ideographic - dy,
        }
    }
}

fn line_bounds(fonts: &FontBook, line: &Line, place: &Affine) -> Rect {
    let mut cache = fonts.glyphs.borrow_mut();
    let mut all: Option<Rect> = None;
    for (start, word) in &line.words {
        for run in &word.runs {
            for glyph in &run.glyphs {
                let b = cache.bounds(&run.choice, glyph.id, run.size);
                let b = b + vello_common::kurbo::Vec2::new(start + f64::from(glyph.x), f64::from(glyph.y));
                all = Some(all.map_or(b, |a| a.union(b)));
            }
        }
    }
    place.transform_rect_bbox(all.unwrap_or(Rect::ZERO)).inflate(2.0, 2.0)
}

/// Copies remembered glyphs to where they belong: a quarter of a pixel across, whole pixels down.
fn paint_masks(fonts: &FontBook, line: &Line, place: &Affine, target: &mut Target<'_>, shader: &mut Shader) {
    let [scale, _, _, _, e, f] = place.as_coeffs();
    let light = match shader {
        Shader::Solid(px) => contrast::level(*px),
        _ => contrast::MIDDLE,
    };
    let mut cache = fonts.glyphs.borrow_mut();
    for (start, word) in &line.words {
        for run in &word.runs {
            let size = run.size * scale as f32;
            for glyph in &run.glyphs {
                if run.choice.face.has_pictures && cache.picture(&run.choice, glyph.id, run.size).is_some() {
                    continue;
                }
                let x = (start + f64::from(glyph.x)) * scale + e + 0.5 / SUBPIXELS;
                let y = f64::from(glyph.y) * scale + f + 0.5;
                if x.abs() > 1e6 || y.abs() > 1e6 {
                    continue;
                }
                let sub = ((x - x.floor()) * SUBPIXELS) as u8;
                let mask = cache.mask(&run.choice, glyph.id, size, sub, light);
                target.mask(
                    &Mask {
                        x: x.floor() as i32 + mask.left - target.origin.0,
                        y: y.floor() as i32 + mask.top - target.origin.1,
                        width: mask.width,
                        coverage: &mask.coverage,
                    },
                    shader,
                );
            }
        }
    }
}
