//! Where characters, words and sentences end.

use icu_segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu_segmenter::{GraphemeClusterSegmenter, SentenceSegmenter, WordSegmenter};
use serde::Deserialize;

use crate::data::Library;
use crate::error::Result;

/// What a text is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words of ECMA-402")]
pub enum Granularity {
    Grapheme,
    Word,
    Sentence,
}

/// `Intl.Segmenter`.
#[derive(Debug)]
pub struct Segmenter {
    locale: String,
    granularity: Granularity,
}

/// One piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it ends, in units of UTF-16.
    pub end: usize,
    /// Whether it is a word, not marks or blanks.
    pub is_word: bool,
}

impl Segmenter {
    /// Makes one.
    pub fn new(library: &Library, locales: &[String], granularity: Granularity) -> Result<Self> {
        Ok(Self { locale: library.choose(locales)?.tag, granularity })
    }

    /// The locale that was chosen.
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// The pieces of a text.
    pub fn segments(&self, text: &str) -> Vec<Segment> {
        let ends: Vec<(usize, bool)> = match self.granularity {
            Granularity::Grapheme => {
                GraphemeClusterSegmenter::new().segment_str(text).map(|end| (end, false)).collect()
            }
            Granularity::Sentence => {
                let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
                segmenter.segment_str(text).map(|end| (end, false)).collect()
            }
            Granularity::Word => {
                let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
                let words = segmenter.segment_str(text).iter_with_word_type();
                words.map(|(end, kind)| (end, kind.is_word_like())).collect()
            }
        };
        let mut made = Vec::with_capacity(ends.len());
        let (mut bytes, mut units) = (0, 0);
        for (end, is_word) in ends {
            // The first boundary is the beginning, which ends nothing.
            if end > bytes {
                units += text.get(bytes..end).map_or(0, |piece| piece.encode_utf16().count());
                bytes = end;
                made.push(Segment { end: units, is_word });
            }
        }
        made
    }
}
