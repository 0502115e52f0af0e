//! Text to positioned glyphs.
//!
//! Words are shaped one by one and remembered, as browsers do: it is fast for text that repeats, and it is also what
//! the text looks like there, because kerning does not reach across a space unless `fontKerning` asks for it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use harfrust::{
    Buffer, Direction as HbDirection, Feature, Language, Script as HbScript, ShapeOptions, ShaperFont, Tag,
};
use unicode_bidi::{BidiInfo, Level};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::book::{FaceChoice, FontBook, FontChain};
use super::glyphs::FastHash;

/// Most remembered words; then all are forgotten.
const MAX_WORDS: usize = 20_000;
/// Longest text that is remembered.
const MAX_WORD_BYTES: usize = 256;
/// A longer word is shaped in pieces: what shaping takes grows faster than the word.
const MAX_SHAPED_BYTES: usize = 4096;
/// How long the pieces are.
const PIECE_BYTES: usize = 1024;
/// Size of synthesised small capitals.
const SMALL_CAPS_SCALE: f32 = 0.7;

/// How capitals are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Caps {
    #[default]
    Normal,
    Small,
    AllSmall,
    Petite,
    AllPetite,
    Unicase,
    Titling,
}

/// Everything besides the text that decides what a word looks like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Setting {
    pub(crate) chain: u32,
    /// Pixels, as the bits of an `f32`.
    pub(crate) size: u32,
    pub(crate) letter_spacing: u32,
    pub(crate) word_spacing: u32,
    pub(crate) kerning: bool,
    pub(crate) ligatures: bool,
    /// Shape the text as a whole rather than word by word.
    pub(crate) whole: bool,
    pub(crate) caps: Caps,
    /// As the attribute has it; `inherit` is no language.
    pub(crate) lang: Rc<str>,
}

impl Setting {
    fn language(&self) -> &str {
        if &*self.lang == "inherit" { "" } else { &self.lang }
    }
}

/// One glyph: number, and position from the start of its word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedGlyph {
    pub(crate) id: u32,
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// Glyphs of one face and size.
#[derive(Debug)]
pub(crate) struct GlyphRun {
    pub(crate) choice: FaceChoice,
    pub(crate) size: f32,
    pub(crate) glyphs: Vec<PlacedGlyph>,
}

/// A shaped word.
#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) runs: Vec<GlyphRun>,
    pub(crate) advance: f32,
}

/// A shaped line, or what of it is wanted: words and where they start.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) words: Vec<(f64, Rc<Word>)>,
    pub(crate) width: f64,
}

/// Up to here widths add up in single precision, as in browsers and to the same bit; beyond, that would lose pixels.
const SINGLE_PRECISION_PX: f64 = 32_768.0;

fn advanced(x: f64, by: f32) -> f64 {
    if x < SINGLE_PRECISION_PX { f64::from(x as f32 + by) } else { x + f64::from(by) }
}

/// Words shaped before, for each setting and direction.
#[derive(Default)]
pub(crate) struct WordCache {
    settings: HashMap<Setting, usize>,
    words: Vec<HashMap<Box<str>, Rc<Word>, FastHash>>,
    /// The setting of the last word: the next one mostly has the same.
    last: Option<(Setting, usize)>,
    count: usize,
    buffer: Option<Buffer>,
}

impl WordCache {
    pub(crate) fn clear(&mut self) {
        *self = Self { buffer: self.buffer.take(), ..Self::default() };
    }

    /// Where the words of a setting are.
    fn slot(&mut self, setting: &Setting) -> usize {
        if let Some((last, slot)) = &self.last
            && last == setting
        {
            return *slot;
        }
        let next = self.words.len();
        let slot = *self.settings.entry(setting.clone()).or_insert(next);
        if slot == next {
            // Left to right, then right to left.
            self.words.push(HashMap::default());
            self.words.push(HashMap::default());
        }
        self.last = Some((setting.clone(), slot));
        slot
    }
}

/// Shapes one line of text, white space of which has already become plain spaces, from left to right. Each word is shown
/// with where it starts, until the visitor has seen enough. Gives the width as far as it came.
pub(crate) fn each_word(
    book: &FontBook,
    chain: &FontChain,
    setting: &Setting,
    text: &str,
    rtl: bool,
    visit: &mut dyn FnMut(f64, Rc<Word>) -> ControlFlow<()>,
) -> f64 {
    let mut x = 0.0;
    if text.is_empty() || chain.faces.is_empty() {
        return x;
    }
    let mut shape_run = |text: &str, rtl: bool| -> ControlFlow<()> {
        let mut show = |word: &str| {
            let word = shape_word(book, chain, setting, word, rtl);
            let start = x;
            x = advanced(x, word.advance);
            visit(start, word)
        };
        match rtl {
            false => Words { rest: text, whole: setting.whole }.try_for_each(&mut show),
            true => {
                let words: Vec<&str> = Words { rest: text, whole: setting.whole }.collect();
                words.into_iter().rev().try_for_each(&mut show)
            }
        }
    };
    let plain = !rtl && text.chars().all(|c| u32::from(c) < 0x590);
    if plain {
        let _ = shape_run(text, false);
        return x;
    }
    let base = if rtl { Level::rtl() } else { Level::ltr() };
    let bidi = BidiInfo::new(text, Some(base));
    for paragraph in &bidi.paragraphs {
        let (levels, runs) = bidi.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let rtl = levels.get(run.start).is_some_and(Level::is_rtl);
            if shape_run(&text[run], rtl).is_break() {
                return x;
            }
        }
    }
    x
}

/// Shapes one line of text as a whole.
pub(crate) fn shape_line(book: &FontBook, chain: &FontChain, setting: &Setting, text: &str, rtl: bool) -> Line {
    let mut words = Vec::new();
    let width = each_word(book, chain, setting, text, rtl, &mut |start, word| {
        words.push((start, word));
        ControlFlow::Continue(())
    });
    Line { words, width }
}

/// Words and the single spaces between them; or, as a whole, pieces of a length that can be shaped.
struct Words<'a> {
    rest: &'a str,
    whole: bool,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let length = match self.whole {
            true => self.rest.len(),
            false => self.rest.find(' ').map_or(self.rest.len(), |at| at.max(1)),
        };
        let length = if length > MAX_SHAPED_BYTES { piece(&self.rest[..length]) } else { length };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// How much of a text that is too long to be shaped at once is shaped first: up to a space, or a whole character.
fn piece(text: &str) -> usize {
    let most = text.floor_char_boundary(PIECE_BYTES);
    if let Some(space) = text[..most].rfind(' ') {
        return space + 1;
    }
    let mut cursor = GraphemeCursor::new(most, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().filter(|at| *at > 0).unwrap_or(most),
        _ => most,
    }
}

fn shape_word(book: &FontBook, chain: &FontChain, setting: &Setting, text: &str, rtl: bool) -> Rc<Word> {
    let mut buffer = {
        let mut cache = book.words.borrow_mut();
        let slot = cache.slot(setting) + usize::from(rtl);
        if let Some(word) = cache.words[slot].get(text) {
            return Rc::clone(word);
        }
        cache.buffer.take().unwrap_or_default()
    };
    let word = Rc::new(shape_text(book, chain, setting, text, rtl, &mut buffer));
    let mut cache = book.words.borrow_mut();
    cache.buffer = Some(buffer);
    if text.len() <= MAX_WORD_BYTES {
        if cache.count >= MAX_WORDS {
            cache.clear();
        }
        cache.count += 1;
        let slot = cache.slot(setting) + usize::from(rtl);
        cache.words[slot].insert(text.into(), Rc::clone(&word));
    }
    word
}

/// A stretch of text in one face, script and size.
struct Segment {
    choice: FaceChoice,
    script: Script,
    text: String,
    small: bool,
}

fn segments(book: &FontBook, chain: &FontChain, setting: &Setting, text: &str) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    for cluster in text.graphemes(true) {
        let Some(first) = cluster.chars().next() else { continue };
        let small = is_small(setting.caps, first);
        let mut shown: String = if small { cluster.to_uppercase() } else { cluster.to_string() };
        let lead = shown.chars().next().unwrap_or(first);
        let emoji = is_emoji(cluster);
        let Some(choice) = book.face_for(chain, lead, emoji, setting.language()) else { continue };
        // A hand without its skin's colour is still a hand; with a box beside it, it is not.
        if emoji && shown.contains(is_skin_tone) {
            shown.retain(|c| c == lead || !is_skin_tone(c) || choice.face.covers(c));
        }
        let script = lead.script();
        let neutral = |s: Script| matches!(s, Script::Common | Script::Inherited | Script::Unknown);
        if let Some(last) = out.last_mut()
            && last.choice.face.id == choice.face.id
            && last.small == small
            && (last.script == script || neutral(script) || neutral(last.script))
        {
            if neutral(last.script) {
                last.script = script;
            }
            last.text.push_str(&shown);
            continue;
        }
        out.push(Segment { choice, script, text: shown, small });
    }
    out
}

fn is_small(caps: Caps, c: char) -> bool {
    match caps {
        Caps::Small | Caps::Petite => c.is_lowercase(),
        Caps::AllSmall | Caps::AllPetite => c.is_alphabetic(),
        Caps::Unicase => c.is_uppercase(),
        Caps::Normal | Caps::Titling => false,
    }
}

fn shape_text(
    book: &FontBook,
    chain: &FontChain,
    setting: &Setting,
    text: &str,
    rtl: bool,
    buffer: &mut Buffer,
) -> Word {
    let mut word = Word::default();
    let mut segments = segments(book, chain, setting, text);
    if rtl {
        segments.reverse();
    }
    let mut features = Vec::new();
    if !setting.kerning {
        features.push(Feature::new(Tag::new(b"kern"), 0, ..));
    }
    if !setting.ligatures {
        features.push(Feature::new(Tag::new(b"liga"), 0, ..));
        features.push(Feature::new(Tag::new(b"clig"), 0, ..));
    }
    if setting.caps == Caps::Titling {
        features.push(Feature::new(Tag::new(b"titl"), 1, ..));
    }
    let base_size = f32::from_bits(setting.size);
    let (letter, space) = (f32::from_bits(setting.letter_spacing), f32::from_bits(setting.word_spacing));
    for segment in segments {
        let size = if segment.small { base_size * SMALL_CAPS_SCALE } else { base_size };
        shape_segment(&segment, size, &features, rtl, setting.language(), buffer);
        let scale = size / segment.choice.face.units_per_em;
        let mut glyphs = Vec::with_capacity(buffer.len());
        let infos = buffer.glyph_infos();
        for (i, (info, position)) in infos.iter().zip(buffer.glyph_positions()).enumerate() {
            let mut advance = position.x_advance as f32 * scale;
            if segment.choice.face.has_pictures
                && let Some(picture) = segment.choice.face.picture(info.glyph_id, size)
            {
                advance = picture.advance.map_or(advance, |a| a * size / picture.ppem).round();
            }
            glyphs.push(PlacedGlyph {
                id: info.glyph_id,
                x: word.advance + position.x_offset as f32 * scale,
                y: -(position.y_offset as f32) * scale,
            });
            word.advance += advance;
            // Spacing goes after the last glyph of each cluster.
            if infos.get(i + 1).is_none_or(|next| next.cluster != info.cluster) {
                word.advance += letter;
                if segment.text.as_bytes().get(info.cluster as usize) == Some(&b' ') {
                    word.advance += space;
                }
            }
        }
        word.runs.push(GlyphRun { choice: segment.choice, size, glyphs });
    }
    word
}

fn shape_segment(segment: &Segment, size: f32, features: &[Feature], rtl: bool, lang: &str, buffer: &mut Buffer) {
    buffer.clear();
    buffer.push_str(&segment.text);
    buffer.set_direction(if rtl { HbDirection::RightToLeft } else { HbDirection::LeftToRight });
    if let Ok(script) = segment.script.short_name().parse::<HbScript>() {
        buffer.set_script(Some(script));
    }
    if !lang.is_empty() {
        buffer.set_language(Language::new(lang));
    }
    let font = ShaperFont::new(&segment.choice.face.font);
    let options = ShapeOptions::new().features(features).point_size(Some(size));
    if harfrust::shape(&font, buffer, options).is_err() {
        buffer.clear();
    }
}

fn is_skin_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

/// Whether a cluster wants a colour picture: an emoji by nature or by its variation selector.
fn is_emoji(cluster: &str) -> bool {
    let mut chars = cluster.chars();
    let Some(first) = chars.next() else { return false };
    if u32::from(first) < 0x80 && !cluster.contains('\u{20e3}') {
        return false;
    }
    if cluster.contains('\u{fe0e}') {
        return false;
    }
    cluster.contains('\u{fe0f}') || has_emoji_presentation(first)
}

fn has_emoji_presentation(c: char) -> bool {
    matches!(u32::from(c),
        0x231a..=0x231b | 0x23e9..=0x23ec | 0x23f0 | 0x23f3 | 0x25fd..=0x25fe | 0x2614..=0x2615 | 0x2648..=0x2653
        | 0x267f | 0x2693 | 0x26a1 | 0x26aa..=0x26ab | 0x26bd..=0x26be | 0x26c4..=0x26c5 | 0x26ce | 0x26d4 | 0x26ea
        | 0x26f2..=0x26f3 | 0x26f5 | 0x26fa | 0x26fd | 0x2705 | 0x270a..=0x270b | 0x2728 | 0x274c | 0x274e
        | 0x2753..=0x2755 | 0x2757 | 0x2795..=0x2797 | 0x27b0 | 0x27bf | 0x2b1b..=0x2b1c | 0x2b50 | 0x2b55
        | 0x1f004 | 0x1f0cf | 0x1f18e | 0x1f191..=0x1f19a | 0x1f1e6..=0x1f1ff | 0x1f201 | 0x1f21a | 0x1f22f
        | 0x1f232..=0x1f236 | 0x1f238..=0x1f23a | 0x1f250..=0x1f251 | 0x1f300..=0x1f320 | 0x1f32d..=0x1f335
        | 0x1f337..=0x1f37c | 0x1f37e..=0x1f393 | 0x1f3a0..=0x1f3ca | 0x1f3cf..=0x1f3d3 | 0x1f3e0..=0x1f3f0 | 0x1f3f4
        | 0x1f3f8..=0x1f43e | 0x1f440 | 0x1f442..=0x1f4fc | 0x1f4ff..=0x1f53d | 0x1f54b..=0x1f54e | 0x1f550..=0x1f567
        | 0x1f57a | 0x1f595..=0x1f596 | 0x1f5a4 | 0x1f5fb..=0x1f64f | 0x1f680..=0x1f6c5 | 0x1f6cc | 0x1f6d0..=0x1f6d2
        | 0x1f6d5..=0x1f6d7 | 0x1f6dc..=0x1f6df | 0x1f6eb..=0x1f6ec | 0x1f6f4..=0x1f6fc | 0x1f7e0..=0x1f7eb | 0x1f7f0
        | 0x1f90c..=0x1f93a | 0x1f93c..=0x1f945 | 0x1f947..=0x1f9ff | 0x1fa70..=0x1faff)
}
