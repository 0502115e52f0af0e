//! A text as a careless eye sees it: quotes, dashes, spaces and widths made plain, blanks at line ends gone.
//!
//! The folded text is only searched, never written: each part of it remembers the bytes it came from, so that a match
//! leads back to the file as it is. White space at the start of a line is left alone, because it means something.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::endings::Ending;

/// A stretch of the folded text and the bytes it stands for.
#[derive(Debug, Clone, Copy)]
struct Piece {
    folded: u32,
    folded_len: u32,
    source: u32,
    source_len: u32,
    /// Folded to something else: it stands for its bytes as a whole, a match cannot begin or end inside.
    whole: bool,
}

/// The folded text.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) text: Vec<u8>,
    pieces: Vec<Piece>,
}

impl Folded {
    /// Folds a text. With `keep_last_blanks`, blanks at the very end stay: the text may go on behind them.
    pub(crate) fn new(bytes: &[u8], keep_last_blanks: bool) -> Self {
        let mut folded = Self::default();
        let mut from = 0;
        while let Some((at, ending)) = Ending::next(bytes, from) {
            folded.line(&bytes[from..at], from, false);
            let next = at + ending.as_bytes().len();
            folded.push(b"\n", at, next - at, ending != Ending::Lf);
            from = next;
        }
        folded.line(&bytes[from..], from, keep_last_blanks);
        folded
    }

    fn line(&mut self, line: &[u8], source: usize, keep_blanks: bool) {
        let mut at = source;
        let mut chunks = line.utf8_chunks().peekable();
        let mut at_start = true;
        while let Some(chunk) = chunks.next() {
            let mut text = chunk.valid();
            let valid_len = text.len();
            if chunks.peek().is_none() && chunk.invalid().is_empty() && !keep_blanks {
                text = text.trim_end();
            }
            let start = if at_start { text.len() - text.trim_start().len() } else { 0 };
            self.push(&text.as_bytes()[..start], at, start, false);
            self.words(&text[start..], at + start);
            at_start = at_start && start == text.len() && chunk.invalid().is_empty();
            at += valid_len;
            // Bytes that are no text match nothing that a caller can write; they only keep their place.
            self.push(chunk.invalid(), at, chunk.invalid().len(), false);
            at += chunk.invalid().len();
        }
    }

    fn words(&mut self, text: &str, source: usize) {
        if text.is_ascii() {
            return self.push(text.as_bytes(), source, text.len(), false);
        }
        let mut from = 0;
        while from < text.len() {
            // As much as is folded together: a character and whatever may combine with it.
            let end = text[from..]
                .char_indices()
                .skip(1)
                .find(|(_, c)| begins_anew(*c))
                .map_or(text.len(), |(offset, _)| from + offset);
            let part = &text[from..end];
            if part.is_ascii() {
                self.push(part.as_bytes(), source + from, part.len(), false);
            } else {
                let plain: String = part.nfkc().map(plain_char).collect();
                self.push(plain.as_bytes(), source + from, part.len(), plain != part);
            }
            from = end;
        }
    }

    fn push(&mut self, folded: &[u8], source: usize, source_len: usize, whole: bool) {
        if source_len == 0 {
            return;
        }
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let piece = Piece {
            folded: narrow(self.text.len()),
            folded_len: narrow(folded.len()),
            source: narrow(source),
            source_len: narrow(source_len),
            whole,
        };
        self.text.extend_from_slice(folded);
        match self.pieces.last_mut() {
            Some(last) if !last.whole && !whole && last.source + last.source_len == piece.source => {
                last.folded_len += piece.folded_len;
                last.source_len += piece.source_len;
            }
            _ => self.pieces.push(piece),
        }
    }

    /// Where in the source a match that begins here begins; `None` inside a piece that is one.
    pub(crate) fn source_start(&self, at: usize) -> Option<usize> {
        let index = self.pieces.partition_point(|piece| (piece.folded + piece.folded_len) as usize <= at);
        let piece = self.pieces.get(index)?;
        match at - piece.folded as usize {
            0 => Some(piece.source as usize),
            _ if piece.whole => None,
            inside => Some(piece.source as usize + inside),
        }
    }

    /// Where in the source a match that ends here ends.
    pub(crate) fn source_end(&self, at: usize) -> Option<usize> {
        let index = self.pieces.partition_point(|piece| (piece.folded as usize) < at).checked_sub(1)?;
        let piece = self.pieces.get(index)?;
        match at - piece.folded as usize {
            all if all == piece.folded_len as usize => Some((piece.source + piece.source_len) as usize),
            _ if piece.whole => None,
            inside => Some(piece.source as usize + inside),
        }
    }
}

/// Whether what comes before this character is folded the same with and without it.
fn begins_anew(c: char) -> bool {
    let starts = |c: char| canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes;
    if c.is_ascii() || starts(c) {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    first.is_some_and(|first| first != c && starts(first))
}

/// The plain form of what typesetters vary.
fn plain_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => crate::path::plain_space(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        String::from_utf8(Folded::new(text.as_bytes(), false).text).unwrap()
    }

    #[test]
    fn what_varies_is_made_plain() {
        for (text, plain) in [
            ("‘a’ ‚b‛", "'a' 'b'"),
            ("“a”", "\"a\""),
            ("a–b—c−d‑e", "a-b-c-d-e"),
            ("a\u{a0}b\u{3000}c\u{2009}d", "a b c d"),
            ("（，）ＡＢＣ１２３", "(,)ABC123"),
            ("cafe\u{301}", "café"),
            ("ｶﾞ", "ガ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("ﬁn…", "fin..."),
            ("a  \r\nb\t\nc \u{a0}", "a\nb\nc"),
            ("x\r\n\r\ny", "x\n\ny"),
            ("   \n", "\n"),
        ] {
            assert_eq!(folded(text), plain, "{text:?}");
        }
    }

    #[test]
    fn white_space_at_the_start_is_left_alone() {
        for text in ["\u{a0}a", "\t\u{3000}a", "  a\n\u{2003}b"] {
            assert_eq!(folded(text), text);
        }
    }

    /// Folding part by part is the same as folding all at once.
    #[test]
    fn parts_are_cut_where_nothing_combines() {
        let samples =
            ["e\u{301}\u{323}x", "\u{1100}\u{1161}\u{11a8}가", "ｶﾞﾊﾟ\u{3099}", "q\u{307}\u{323}ﬃ\u{301}", "ố\u{1ea1}"];
        for text in samples {
            let whole: String = text.nfkc().map(plain_char).collect();
            assert_eq!(folded(text), whole, "{text:?}");
        }
        // Every block with characters that fold or combine; the rest are ideographs and unassigned.
        let blocks =
            [0..0x3400, 0xa600..0xac00, 0xf900..0x1_0000, 0x1_1000..0x1_1a00, 0x1_d100..0x1_d200, 0x1_f100..0x1_f300];
        for c in blocks.into_iter().flatten().filter_map(char::from_u32).filter(|c| !c.is_whitespace()) {
            let text = format!("カ{c}か");
            let whole: String = text.nfkc().map(plain_char).collect();
            let mut parts = Folded::default();
            parts.words(&text, 0);
            assert_eq!(String::from_utf8(parts.text).unwrap(), whole, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn positions_lead_back() {
        let source = "a “b”  \r\nﬁ";
        let view = Folded::new(source.as_bytes(), false);
        assert_eq!(view.text, b"a \"b\"\nfi");
        assert_eq!((view.source_start(2), view.source_end(3)), (Some(2), Some(5)));
        assert_eq!(view.source_end(5), Some(9), "the blanks behind a match stay out of it");
        assert_eq!(view.source_start(5), Some(11), "and so do those before one");
        assert_eq!(view.source_end(6), Some(13));
        assert_eq!((view.source_start(6), view.source_start(7), view.source_end(7)), (Some(13), None, None));
        assert_eq!(view.source_end(8), Some(source.len()));
    }
}
