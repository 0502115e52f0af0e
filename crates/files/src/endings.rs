//! Line endings: a view of a text in which every line ends in LF, and the way back to the bytes.

use std::borrow::Cow;
use std::ops::Range;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    Cr,
}

impl Ending {
    pub(crate) const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Cr => b"\r",
        }
    }

    /// The next line ending at or after `from`: where it is and which.
    pub(crate) fn next(bytes: &[u8], from: usize) -> Option<(usize, Self)> {
        let at = from + memchr::memchr2(b'\n', b'\r', bytes.get(from..)?)?;
        Some((
            at,
            if bytes[at] == b'\n' {
                Self::Lf
            } else if bytes.get(at + 1) == Some(&b'\n') {
                Self::CrLf
            } else {
                Self::Cr
            },
        ))
    }

    fn all(bytes: &[u8]) -> Vec<Self> {
        let mut endings = Vec::new();
        let mut from = 0;
        while let Some((at, ending)) = Self::next(bytes, from) {
            endings.push(ending);
            from = at + ending.as_bytes().len();
        }
        endings
    }
}

/// A text with LF endings only.
pub(crate) struct LfView<'a> {
    pub(crate) text: Cow<'a, [u8]>,
    /// Where in `text` a CRLF became one byte.
    joined: Vec<u32>,
}

impl<'a> LfView<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if memchr::memchr(b'\r', bytes).is_none() {
            return Self { text: Cow::Borrowed(bytes), joined: Vec::new() };
        }
        let mut text = Vec::with_capacity(bytes.len());
        let mut joined = Vec::new();
        let mut from = 0;
        while let Some((at, ending)) = Ending::next(bytes, from) {
            text.extend_from_slice(&bytes[from..at]);
            if ending == Ending::CrLf {
                joined.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            }
            text.push(b'\n');
            from = at + ending.as_bytes().len();
        }
        text.extend_from_slice(&bytes[from..]);
        Self { text: Cow::Owned(text), joined }
    }

    /// The bytes that a range of the view stands for.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.joined.partition_point(|joined| (*joined as usize) < at);
        back(range.start)..back(range.end)
    }
}

/// Text with LF endings only.
pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// The new text with the line endings of the place it goes to.
///
/// A line that the edit leaves as it is keeps its own ending; a new line gets the ending of the replaced ones, or of
/// its neighbours. A file without any line ending takes the text as it came.
pub(crate) fn adapt(old: &str, new: &str, body: &[u8], range: Range<usize>) -> Vec<u8> {
    let replaced = Ending::all(&body[range.clone()]);
    let neighbour = || {
        let after = Ending::next(body, range.end).map(|(_, ending)| ending);
        after.or_else(|| {
            let at = memchr::memrchr2(b'\n', b'\r', &body[..range.start])?;
            let crlf = body[at] == b'\n' && at > 0 && body[at - 1] == b'\r';
            Ending::next(body, if crlf { at - 1 } else { at }).map(|(_, ending)| ending)
        })
    };
    let Some(usual) = replaced.first().copied().or_else(neighbour) else {
        return new.as_bytes().to_vec();
    };
    let (old, new) = (to_lf(old), to_lf(new));
    let old: Vec<&str> = old.split('\n').collect();
    let new: Vec<&str> = new.split('\n').collect();
    let same_before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let same_after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let mut adapted = Vec::new();
    for (index, line) in new.iter().enumerate() {
        adapted.extend_from_slice(line.as_bytes());
        let left = new.len() - 1 - index;
        if left == 0 {
            break;
        }
        let own = if index < same_before || old.len() == new.len() {
            replaced.get(index)
        } else if left <= same_after {
            replaced.len().checked_sub(left).and_then(|at| replaced.get(at))
        } else {
            None
        };
        adapted.extend_from_slice(own.unwrap_or(&usual).as_bytes());
    }
    adapted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_leads_back() {
        let view = LfView::new(b"a\r\nb\nc\rd\r\n");
        assert_eq!(&*view.text, b"a\nb\nc\nd\n");
        assert_eq!(view.source(0..2), 0..3);
        assert_eq!(view.source(2..4), 3..5);
        assert_eq!(view.source(1..8), 1..10);
        assert_eq!(view.source(8..8), 10..10);
    }

    #[test]
    fn new_lines_end_as_their_place_does() {
        let check = |body: &str, old: &str, new: &str, expected: &str| {
            let view = LfView::new(body.as_bytes());
            let at = String::from_utf8(view.text.to_vec()).unwrap().find(&*to_lf(old)).unwrap();
            let range = view.source(at..at + to_lf(old).len());
            let adapted = adapt(old, new, body.as_bytes(), range);
            assert_eq!(String::from_utf8(adapted).unwrap(), expected, "{body:?}");
        };
        check("a\r\nb\r\n", "a", "x\ny", "x\r\ny");
        check("a\nb\n", "a", "x\r\ny", "x\ny");
        check("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc");
        check("a\nb\r\nc\n", "a\nb\nc", "a\nnew\nb\nc", "a\nnew\nb\r\nc");
        check("a", "a", "x\r\ny", "x\r\ny");
        check("z\r\na", "a", "x\ny", "x\r\ny");
        check("z\ra", "a", "x\ny", "x\ry");
    }
}
