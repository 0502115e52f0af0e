//! Finds the one place in a file that an edit means.
//!
//! First the text as it is written, with line endings aside; only when it is not there at all, the text as a careless
//! eye sees it. A text that occurs twice is refused rather than guessed at.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem::Finder;

use crate::endings::{LfView, to_lf};
use crate::fold::Folded;

/// Above this size only the exact text is looked for: folding needs several times the file's size.
const MAX_FOLDED_BYTES: usize = 8 << 20;

/// Bytes compared for matches that turn out to begin inside of a character, before we give up. Only made-up files
/// come near it.
const MAX_WASTED_BYTES: usize = 64 << 20;

/// Why there is not one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    None,
    Many(usize),
}

/// A file's content, in the forms in which it is searched.
pub(crate) struct Haystack<'a> {
    body: &'a [u8],
    lf: LfView<'a>,
    folded: OnceCell<Option<Folded>>,
}

impl<'a> Haystack<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self { body, lf: LfView::new(body), folded: OnceCell::new() }
    }

    /// The bytes that `old` stands for.
    pub(crate) fn locate(&self, old: &str) -> Result<Range<usize>, Miss> {
        let old = to_lf(old);
        let exact = Needle { text: old.as_bytes(), at_line_end: false };
        let found = search(&self.lf.text, exact, |range| Some(self.lf.source(range)));
        match found.count {
            0 => self.locate_folded(&old),
            1 => found.first.ok_or(Miss::None),
            exact => Err(Miss::Many(match self.locate_folded(&old) {
                Err(Miss::Many(folded)) => folded.max(exact),
                _ => exact,
            })),
        }
    }

    fn locate_folded(&self, old: &str) -> Result<Range<usize>, Miss> {
        let fold = || (self.body.len() <= MAX_FOLDED_BYTES).then(|| Folded::new(self.body, false));
        let Some(folded) = self.folded.get_or_init(fold) else { return Err(Miss::None) };
        let kept = Folded::new(old.as_bytes(), true).text;
        if kept.trim_ascii().is_empty() {
            return Err(Miss::None);
        }
        let trimmed = Folded::new(old.as_bytes(), false).text;
        let back = |range: Range<usize>| Some(folded.source_start(range.start)?..folded.source_end(range.end)?);
        let mut found = search(&folded.text, Needle { text: &kept, at_line_end: false }, back);
        if trimmed != kept {
            // Blanks that end the wanted text: they are in the middle of a line (searched above) or at its end, where
            // the file's own blanks, however many, belong to the match.
            let to_line_end = |range: Range<usize>| {
                let end =
                    if range.end == folded.text.len() { self.body.len() } else { folded.source_start(range.end)? };
                Some(folded.source_start(range.start)?..end)
            };
            let at_end = search(&folded.text, Needle { text: &trimmed, at_line_end: true }, to_line_end);
            found.count += at_end.count;
            found.first = found.first.or(at_end.first);
        }
        match (found.count, found.first) {
            (1, Some(range)) => Ok(range),
            (0, _) | (_, None) => Err(Miss::None),
            (many, _) => Err(Miss::Many(many)),
        }
    }
}

#[derive(Clone, Copy)]
struct Needle<'a> {
    text: &'a [u8],
    at_line_end: bool,
}

#[derive(Default)]
struct Search {
    first: Option<Range<usize>>,
    count: usize,
}

/// Counts the places, and leads the first one back to the source. `aaa` holds `aa` twice: that is not one place.
fn search(text: &[u8], needle: Needle<'_>, back: impl Fn(Range<usize>) -> Option<Range<usize>>) -> Search {
    let mut found = Search::default();
    if needle.text.is_empty() {
        return found;
    }
    let finder = Finder::new(needle.text);
    let mut from = 0;
    let mut wasted = 0;
    while let Some(offset) = text.get(from..).and_then(|rest| finder.find(rest)) {
        let range = from + offset..from + offset + needle.text.len();
        let fits = !needle.at_line_end || matches!(text.get(range.end), None | Some(b'\n'));
        match fits.then(|| back(range.clone())).flatten() {
            Some(source) => {
                found.count += 1;
                // The second place may overlap the first; from then on a count without overlaps is what people expect.
                from = if found.first.is_none() { range.start + 1 } else { range.end };
                found.first.get_or_insert(source);
            }
            None => {
                wasted += needle.text.len();
                if wasted > MAX_WASTED_BYTES {
                    return Search::default();
                }
                from = range.start + 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, old: &str, expected: Result<&str, Miss>) {
        let found = Haystack::new(body.as_bytes()).locate(old);
        assert_eq!(found.map(|range| &body[range]), expected, "{old:?} in {body:?}");
    }

    #[test]
    fn the_exact_text_comes_first() {
        check("one two three", "two", Ok("two"));
        check("‘a’ and 'a'", "'a'", Ok("'a'"));
        check("one", "four", Err(Miss::None));
        check("foo foo foo", "foo", Err(Miss::Many(3)));
        check("aaa", "aa", Err(Miss::Many(2)));
        check("a\r\nb\r\nc", "a\nb", Ok("a\r\nb"));
        check("a\nb\nc", "a\r\nb", Ok("a\nb"));
        check("a\nb\r\nx\na\r\nb\n", "a\nb\n", Err(Miss::Many(2)));
        check("é\r\nü", "\nü", Ok("\r\nü"));
    }

    #[test]
    fn then_what_looks_the_same() {
        check("say “hi” – now", "\"hi\" - now", Ok("“hi” – now"));
        check("x （ＡＢＣ） y", "(ABC)", Ok("（ＡＢＣ）"));
        check("un cafe\u{301} noir", "café", Ok("cafe\u{301}"));
        check("line one   \nline two  \nline three\n", "line one\nline two\n", Ok("line one   \nline two  \n"));
        check("a ‘x’   \nb", "a 'x'", Ok("a ‘x’"));
        check("a ‘x’   \nb", "a 'x' ", Ok("a ‘x’   "));
        check("a ‘x’ y", "a 'x' ", Ok("a ‘x’ "));
        check("a ‘x’   \nb", "a 'x'      ", Ok("a ‘x’   "));
        check("a ‘x’\nb", "a 'x'  ", Ok("a ‘x’"));
        check("a ‘x’y\nb", "a 'x'  ", Err(Miss::None));
        check("‘a’ ‘a’", "'a'", Err(Miss::Many(2)));
    }

    #[test]
    fn but_not_everything() {
        check("\u{a0}\u{a0}indented", "  indented", Err(Miss::None));
        check("\tx “y”", "    x \"y\"", Err(Miss::None));
        check("oﬃce", "of", Err(Miss::None));
        check("oﬃce", "office", Ok("oﬃce"));
        check("a  \n  \nb", "   \t ", Err(Miss::None));
        check("un “cafe\u{301}”", "\"cafe", Err(Miss::None));
        check("x", "", Err(Miss::None));
    }

    /// A file made so that every match is inside of a character ends in time.
    #[test]
    fn made_up_files_end_in_time() {
        let body = "…".repeat(100_000);
        check(&body, &format!("{}x", ".".repeat(10_000)), Err(Miss::None));
        check(&body, &".".repeat(10_001), Err(Miss::None));
    }
}
