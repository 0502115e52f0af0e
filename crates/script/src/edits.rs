//! The splices: what is inserted, replaced and blanked, applied once, with the map back.
//!
//! Nothing else in this crate builds code. Because every change is an edit of the user's text, the map from prepared
//! to user positions falls out of applying them, and a line can only move if an edit contains a newline; blanks keep
//! theirs and no other edit has one.

use std::borrow::Cow;

use crate::lines::terminator;

/// What stands in place of a range of the user's text.
#[derive(Debug)]
enum Text {
    Is(Cow<'static, str>),
    /// Spaces for everything but line ends.
    Blank,
    /// The same, beginning with this character.
    BlankAfter(char),
}

#[derive(Debug)]
struct Edit {
    start: u32,
    end: u32,
    text: Text,
    /// What the text stands for, where that is another place than the edit's own.
    stands_for: Option<u32>,
}

/// A place that was reserved before what follows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved(usize);

/// The edits of one text, in any order; edits at the same offset keep the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    list: Vec<Edit>,
    /// The furthest end of a blank, by which a statement that ends in a type is recognised.
    blank_end: u32,
}

/// A stretch of the prepared text and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Where the stretch begins in the prepared text. It ends where the next one begins.
    pub(crate) out: u32,
    /// Where it begins in the user's text.
    pub(crate) source: u32,
    pub(crate) origin: Origin,
}

/// How a stretch came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Byte for byte the user's.
    Copied,
    /// Character for character as long as the user's, but blank.
    Blanked,
    /// Stands for a stretch of the user's text, as a whole.
    Replaced,
    /// Not in the user's text at all.
    Inserted,
}

/// Two edits want the same text: a fault of this crate, never of the user.
#[derive(Debug)]
pub(crate) struct Overlap(pub(crate) u32);

impl Edits {
    pub(crate) fn insert(&mut self, at: u32, text: impl Into<Cow<'static, str>>) {
        self.list.push(Edit { start: at, end: at, text: Text::Is(text.into()), stands_for: None });
    }

    /// Keeps a place for a text that may be needed, before the edits of what stands behind it.
    pub(crate) fn reserve(&mut self, at: u32) -> Reserved {
        self.insert(at, "");
        Reserved(self.list.len() - 1)
    }

    pub(crate) fn fill(&mut self, place: Reserved, text: &'static str) {
        if let Some(edit) = self.list.get_mut(place.0) {
            edit.text = Text::Is(text.into());
        }
    }

    /// Inserts a text that means another place of the user's.
    pub(crate) fn insert_for(&mut self, at: u32, text: &'static str, meant: u32) {
        self.list.push(Edit { start: at, end: at, text: Text::Is(text.into()), stands_for: Some(meant) });
    }

    pub(crate) fn replace(&mut self, start: u32, end: u32, text: impl Into<Cow<'static, str>>) {
        self.list.push(Edit { start, end, text: Text::Is(text.into()), stands_for: None });
    }

    pub(crate) fn blank(&mut self, start: u32, end: u32) {
        if start < end {
            self.list.push(Edit { start, end, text: Text::Blank, stands_for: None });
            self.blank_end = self.blank_end.max(end);
        }
    }

    /// Blanks, with `first` in place of the first character, which is never a line end: `;` where a blank alone would
    /// join two statements.
    pub(crate) fn blank_after(&mut self, first: char, start: u32, end: u32) {
        if start < end {
            self.list.push(Edit { start, end, text: Text::BlankAfter(first), stands_for: None });
            self.blank_end = self.blank_end.max(end);
        }
    }

    /// Where the last blank so far ends.
    pub(crate) fn blank_end(&self) -> u32 {
        self.blank_end
    }

    /// Tells every range that is replaced or blanked.
    pub(crate) fn replaced(&self, mut tell: impl FnMut(u32, u32)) {
        self.list.iter().filter(|edit| edit.end > edit.start).for_each(|edit| tell(edit.start, edit.end));
    }

    /// `head`, the edited source, `tail`.
    pub(crate) fn apply(mut self, source: &str, head: &str, tail: &str) -> Result<(String, Vec<Segment>), Overlap> {
        self.list.sort_by_key(|edit| edit.start);
        let mut out = String::with_capacity(source.len() + source.len() / 4 + head.len() + tail.len());
        let mut segments = Vec::with_capacity(self.list.len() * 2 + 3);
        let mut note = |out: &String, source: u32, origin: Origin| {
            segments.push(Segment { out: offset(out.len()), source, origin });
        };
        note(&out, 0, Origin::Inserted);
        out.push_str(head);
        let mut at = 0_u32;
        for edit in &self.list {
            if matches!(&edit.text, Text::Is(text) if text.is_empty()) && edit.start == edit.end {
                continue;
            }
            if edit.start < at {
                return Err(Overlap(edit.start));
            }
            if edit.start > at {
                note(&out, at, Origin::Copied);
                out.push_str(source.get(at as usize..edit.start as usize).ok_or(Overlap(at))?);
            }
            let origin = match edit.text {
                Text::Blank | Text::BlankAfter(_) => Origin::Blanked,
                Text::Is(_) if edit.end > edit.start || edit.stands_for.is_some() => Origin::Replaced,
                Text::Is(_) => Origin::Inserted,
            };
            note(&out, edit.stands_for.unwrap_or(edit.start), origin);
            let old = source.get(edit.start as usize..edit.end as usize).ok_or(Overlap(edit.start))?;
            match &edit.text {
                Text::Is(text) => out.push_str(text),
                Text::Blank => blank_into(&mut out, old),
                Text::BlankAfter(first) => {
                    out.push(*first);
                    let skip = old.chars().next().map_or(0, char::len_utf8);
                    blank_into(&mut out, old.get(skip..).unwrap_or_default());
                }
            }
            at = edit.end;
        }
        note(&out, at, Origin::Copied);
        out.push_str(source.get(at as usize..).ok_or(Overlap(at))?);
        note(&out, offset(source.len()), Origin::Inserted);
        out.push_str(tail);
        Ok((out, segments))
    }
}

fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn blank_into(out: &mut String, old: &str) {
    let bytes = old.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = terminator(bytes, at);
        if length > 0 {
            out.push_str(old.get(at..at + length).unwrap_or("\n"));
            at += length;
        } else {
            out.push(' ');
            at += 1;
            while at < bytes.len() && !old.is_char_boundary(at) {
                at += 1;
            }
        }
    }
}
