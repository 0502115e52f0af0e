//! What comes out: code for an engine, and the way back to the user's own text.

use cove_core::Position;

use crate::edits::{Origin, Segment};
use crate::lines;
use crate::options::Language;

/// How an engine counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Unicode scalar values.
    Chars,
    /// UTF-16 code units, as V8 counts.
    Utf16,
}

/// A name that the program uses and the world around it must know, with the first place where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeName {
    /// The name.
    pub name: String,
    /// Whether it is used where no guard (`typeof window !== 'undefined'`) says that it is there.
    pub needed: bool,
    /// Its first use.
    pub position: Position,
}

/// A text ready for an engine.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// One strict-mode script text.
    pub code: String,
    /// What the user wrote.
    pub language: Language,
    /// Names that must come from the world around the program.
    pub free_names: Vec<FreeName>,
    /// Languages (`de-DE`) and time zones (`Europe/Oslo`) that `toLocaleString` and its relatives are asked for by name.
    pub locales: Vec<FreeName>,
    /// Whether there is a `return` outside every function.
    pub returns: bool,
    /// Whether the last expression of a function body was taken for its value.
    pub takes_last: bool,
    /// Names declared at the top level, in order.
    pub declared: Vec<String>,
    pub(crate) source: String,
    pub(crate) segments: Vec<Segment>,
}

impl Prepared {
    /// A place in the prepared text (both from 1) as a place in the user's own source.
    ///
    /// `None` when the place lies in inserted text only, or nowhere at all.
    pub fn locate(&self, line: u32, column: u32, unit: ColumnUnit) -> Option<Position> {
        let range = lines::line_range(&self.code, line)?;
        let text = self.code.get(range.clone())?;
        let wanted = column.checked_sub(1)? as usize;
        let inside = match unit {
            ColumnUnit::Bytes => (wanted <= text.len()).then(|| lines::floor_boundary(text, wanted))?,
            ColumnUnit::Chars => nth(text, wanted, |_| 1)?,
            ColumnUnit::Utf16 => nth(text, wanted, char::len_utf16)?,
        };
        let out = u32::try_from(range.start + inside).ok()?;
        let index = self.segments.partition_point(|segment| segment.out <= out).checked_sub(1)?;
        let segment = self.segments.get(index)?;
        let offset = match segment.origin {
            Origin::Copied => segment.source + (out - segment.out),
            Origin::Blanked => {
                let along = self.code.get(segment.out as usize..out as usize)?.chars().count();
                let rest = self.source.get(segment.source as usize..)?;
                segment.source + u32::try_from(rest.char_indices().nth(along)?.0).ok()?
            }
            Origin::Replaced => segment.source,
            Origin::Inserted => return None,
        };
        (offset as usize <= self.source.len()).then(|| lines::position(&self.source, offset as usize))
    }

    /// The text as the user wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// The byte offset of the character that holds unit number `wanted`.
fn nth(text: &str, wanted: usize, width: impl Fn(char) -> usize) -> Option<usize> {
    let mut seen = 0;
    for (at, char) in text.char_indices() {
        seen += width(char);
        if seen > wanted {
            return Some(at);
        }
    }
    (seen == wanted).then_some(text.len())
}
