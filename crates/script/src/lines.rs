//! Lines and columns, counted as JavaScript counts them.
//!
//! A line ends at LF, CR, CRLF, U+2028 or U+2029: that is what engines count, and a code frame that disagrees with
//! the engine by one line is worse than none.

use cove_core::Position;

/// The length in bytes of the line terminator at `at`, or 0.
pub(crate) fn terminator(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
        Some(0xE2) if bytes.get(at + 1) == Some(&0x80) && matches!(bytes.get(at + 2), Some(0xA8 | 0xA9)) => 3,
        _ => 0,
    }
}

/// Whether a line ends somewhere in `text`.
pub(crate) fn has_terminator(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| terminator(bytes, at) > 0)
}

/// The largest character boundary at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Walks a text forwards and tells the position of offsets asked in rising order.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, line_start: 0 }
    }

    /// The position of `offset`, which must not lie before the last one asked for.
    pub(crate) fn position(&mut self, offset: usize) -> Position {
        let offset = floor_boundary(self.text, offset);
        let bytes = self.text.as_bytes();
        while self.at < offset {
            let length = terminator(bytes, self.at);
            if length == 0 {
                self.at += 1;
            } else if self.at + length <= offset {
                self.at += length;
                self.line += 1;
                self.line_start = self.at;
            } else {
                break; // between CR and LF: still the end of the old line
            }
        }
        let column = self.text.get(self.line_start..offset).map_or(0, |line| line.chars().count());
        Position { line: self.line, column: u32::try_from(column).unwrap_or(u32::MAX - 1) + 1 }
    }
}

/// The offset of a position, or the end of its line.
pub(crate) fn offset_of(text: &str, position: Position) -> Option<usize> {
    let range = line_range(text, position.line)?;
    let line = text.get(range.clone())?;
    let along = line.char_indices().nth((position.column as usize).checked_sub(1)?).map_or(line.len(), |(at, _)| at);
    Some(range.start + along)
}

/// The position of one offset.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    Cursor::new(text).position(offset)
}

/// The byte range of a line (without its terminator), if there is such a line.
pub(crate) fn line_range(text: &str, line: u32) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let (mut at, mut now, mut start) = (0, 1, 0);
    while at < bytes.len() {
        let length = terminator(bytes, at);
        if length == 0 {
            at += 1;
            continue;
        }
        if now == line {
            return Some(start..at);
        }
        at += length;
        now += 1;
        start = at;
    }
    (now == line).then_some(start..bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every terminator JavaScript knows, and a column that counts characters.
    #[test]
    fn positions_count_like_javascript() {
        let text = "a\nb\rc\r\nd\u{2028}é\u{2029}😀x";
        let place = |needle: &str| {
            let Position { line, column } = position(text, text.find(needle).unwrap());
            (line, column)
        };
        assert_eq!(place("a"), (1, 1));
        assert_eq!(place("b"), (2, 1));
        assert_eq!(place("c"), (3, 1));
        assert_eq!(place("d"), (4, 1));
        assert_eq!(place("é"), (5, 1));
        assert_eq!(place("x"), (6, 2));
        assert_eq!(line_range(text, 4).map(|range| &text[range]), Some("d"));
        assert_eq!(line_range(text, 6).map(|range| &text[range]), Some("😀x"));
        assert_eq!(line_range(text, 7), None);
        assert_eq!(line_range("a\n", 2), Some(2..2));
    }
}
