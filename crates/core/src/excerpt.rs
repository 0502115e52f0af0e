//! Long texts, shortened: both ends are kept, and a note between them says how much is missing; or only the beginning.
//!
//! The beginning says what was asked and the end how it went; the middle of a gigabyte says nothing. Every shortened text is
//! cut here, so that none is cut inside a character and all have the same note.

use std::collections::VecDeque;

/// What stands before and after the number of bytes that were left out.
pub const LEFT_OUT: (&str, &str) = ("\n[… ", " bytes left out …]\n");

/// Characters of a caller's own word that an error repeats: enough to recognise it.
const WORD_CHARS: usize = 64;

/// Both ends of a text that was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BothEnds<'a> {
    /// The beginning.
    pub head: &'a str,
    /// How much lies between, in the unit that was asked for.
    pub left_out: usize,
    /// The end.
    pub tail: &'a str,
}

impl<'a> BothEnds<'a> {
    /// At most so many characters of a text; `None`: it is no longer than that.
    pub fn chars(text: &'a str, max: usize) -> Option<Self> {
        // Bytes first: never fewer than characters, and known without a pass.
        let total = if text.len() <= max { return None } else { text.chars().count() };
        let half = max / 2;
        let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(index, _)| index);
        (total > max).then(|| Self {
            head: &text[..at(half)],
            left_out: total - 2 * half,
            tail: &text[at(total - half)..],
        })
    }

    /// At most so many bytes of a text; `None`: it is no longer than that.
    pub fn bytes(text: &'a str, max: usize) -> Option<Self> {
        if text.len() <= max {
            return None;
        }
        let head = text.floor_char_boundary(max / 2);
        let tail = text.ceil_char_boundary(text.len() - max / 2);
        Some(Self { head: &text[..head], left_out: tail - head, tail: &text[tail..] })
    }
}

/// A text, or its two ends around a line that says how many characters were cut.
pub fn shorten_chars(text: &str, max: usize) -> String {
    match BothEnds::chars(text, max) {
        None => text.to_owned(),
        Some(BothEnds { head, left_out, tail }) => {
            format!("{head}\n… {left_out} characters were cut here …\n{tail}")
        }
    }
}

/// A text, or its two ends around a line that says how many bytes were left out.
pub fn shorten_bytes(text: &str, max: usize) -> String {
    match BothEnds::bytes(text, max) {
        None => text.to_owned(),
        Some(BothEnds { head, left_out, tail }) => format!("{head}{}{left_out}{}{tail}", LEFT_OUT.0, LEFT_OUT.1),
    }
}

/// The first characters of a text, at most so many, and whether more follow.
pub fn beginning_chars(text: &str, max: usize) -> (&str, bool) {
    // Bytes first: never fewer than characters, and known without a pass.
    let end = if text.len() <= max { None } else { text.char_indices().nth(max) };
    end.map_or((text, false), |(end, _)| (&text[..end], true))
}

/// The first whole characters of a text in at most so many bytes, and whether more follow.
pub fn beginning_bytes(text: &str, max: usize) -> (&str, bool) {
    let end = text.floor_char_boundary(max);
    (&text[..end], end < text.len())
}

/// The last characters of a text, at most so many.
pub fn end_chars(text: &str, max: usize) -> &str {
    let begin = max.checked_sub(1).and_then(|before| text.char_indices().rev().nth(before));
    match begin {
        Some((begin, _)) => &text[begin..],
        None if max == 0 => "",
        None => text,
    }
}

/// The last lines of a text that say something, at most so many.
pub fn end_lines(text: &str, max: usize) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(max)..].to_vec()
}

/// A value as people are shown it: at most so many characters, and three dots where more would follow.
pub fn shorten_shown(text: String, max_chars: u64) -> String {
    match beginning_chars(&text, usize::try_from(max_chars).unwrap_or(usize::MAX)) {
        (_, false) => text,
        (beginning, true) => format!("{beginning}..."),
    }
}

/// A caller's word as an error repeats it: its beginning.
pub fn shorten_word(word: &str) -> String {
    beginning_chars(word, WORD_CHARS).0.to_owned()
}

/// What a program writes, kept within bounds while it comes.
#[derive(Debug, Clone, Default)]
pub struct Excerpt {
    most: (usize, usize),
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Excerpt {
    /// Keeps so many bytes of the beginning, and of the end.
    pub fn new(head_bytes: usize, tail_bytes: usize) -> Self {
        Self { most: (head_bytes.max(1), tail_bytes.max(1)), ..Self::default() }
    }

    /// Keeps half of `bytes` of the beginning, and half of the end.
    pub fn halves(bytes: usize) -> Self {
        Self::new(bytes / 2, bytes / 2)
    }

    /// Adds what comes.
    pub fn push(&mut self, bytes: &[u8]) {
        let (head_bytes, tail_bytes) = self.most;
        let room = head_bytes.saturating_sub(self.head.len()).min(bytes.len());
        let (first, mut rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        if let Some(over) = rest.len().checked_sub(tail_bytes) {
            self.left_out += over as u64;
            rest = &rest[over..];
        }
        let over = (self.tail.len() + rest.len()).saturating_sub(tail_bytes);
        self.tail.drain(..over);
        self.left_out += over as u64;
        self.tail.extend(rest);
    }

    /// Adds what another one with the same bounds has kept. Its head fills ours, so what it left out is in the middle.
    pub fn append(&mut self, other: &Self) {
        self.push(&other.head);
        self.left_out += other.left_out;
        let (a, b) = other.tail.as_slices();
        self.push(a);
        self.push(b);
    }

    /// Whether something was left out.
    pub fn is_truncated(&self) -> bool {
        self.left_out > 0
    }

    /// The text, with a note in the place of what was left out.
    pub fn text(&self) -> String {
        let (a, b) = self.tail.as_slices();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[&self.head, a, b].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), [a, b].concat());
        // The tail begins where it happens to begin; half a character is worth nothing.
        let start = tail.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
        let tail = String::from_utf8_lossy(&tail[start..]);
        format!("{head}{}{}{}{tail}", LEFT_OUT.0, self.left_out, LEFT_OUT.1)
    }

    /// Gives what was kept so far, and begins again with the same bounds.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self { most: self.most, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_both_ends_and_whole_characters() {
        assert_eq!((shorten_chars("abc", 3).as_str(), shorten_bytes("short", 5).as_str()), ("abc", "short"));
        assert_eq!(shorten_chars("äöü", 3), "äöü");
        assert_eq!(shorten_chars("äöüäöü", 4), "äö\n… 2 characters were cut here …\nöü");
        let folded = shorten_chars(&"x".repeat(1_000_000), 100);
        assert!(folded.len() < 200 && folded.contains("999900 characters"));
        let kept = shorten_bytes(&format!("é{}ü", "ß".repeat(100)), 11);
        assert_eq!(kept, "éß\n[… 196 bytes left out …]\nßü");
        assert_eq!(shorten_word(&"€".repeat(100)), "€".repeat(64));
    }

    #[test]
    fn beginnings_are_whole_characters() {
        for (text, max, chars, bytes) in [
            ("", 0, ("", false), ("", false)),
            ("äöü", 3, ("äöü", false), ("ä", true)),
            ("äöü", 2, ("äö", true), ("ä", true)),
        ] {
            assert_eq!((beginning_chars(text, max), beginning_bytes(text, max)), (chars, bytes), "{text} {max}");
        }
        assert_eq!(beginning_bytes("äöü", 6), ("äöü", false));
        assert_eq!((shorten_shown("añb".into(), 2), shorten_shown("añb".into(), 3)), ("añ...".into(), "añb".into()));
    }

    #[test]
    fn ends_are_whole_characters_and_lines() {
        for (text, max, expected) in
            [("", 2, ""), ("äöü", 0, ""), ("äöü", 2, "öü"), ("äöü", 3, "äöü"), ("äöü", 9, "äöü")]
        {
            assert_eq!(end_chars(text, max), expected, "{text} {max}");
        }
        assert_eq!(end_lines("a\n\nb\n c\n \n", 2), ["b", " c"]);
        assert_eq!(end_lines("a\n", 2), ["a"]);
    }

    #[test]
    fn head_and_tail_of_a_stream_are_kept() {
        for step in [1, 3, 7, 100] {
            let mut kept = Excerpt::halves(10);
            let text: String = ('a'..='z').collect();
            for part in text.as_bytes().chunks(step) {
                kept.push(part);
            }
            assert_eq!(kept.text(), "abcde\n[… 16 bytes left out …]\nvwxyz", "in steps of {step}");
            assert!(kept.is_truncated());
        }
        let mut uneven = Excerpt::new(2, 4);
        uneven.push(b"begin, and the end");
        assert_eq!(uneven.text(), "be\n[… 12 bytes left out …]\n end");
    }

    #[test]
    fn a_stream_that_fits_is_whole() {
        let mut kept = Excerpt::halves(12);
        for part in ["ab", "", "cdefgh", "ijkl"] {
            kept.push(part.as_bytes());
        }
        assert_eq!((kept.text().as_str(), kept.is_truncated()), ("abcdefghijkl", false));
        assert_eq!(kept.take().text(), "abcdefghijkl");
        assert_eq!(kept.text(), "");
        let mut split = Excerpt::halves(8);
        split.push("äöüß€uro€".as_bytes());
        assert!(split.text().ends_with("o€"), "{}", split.text());
    }
}
