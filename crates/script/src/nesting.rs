//! How deep a text can possibly nest, told without parsing it.
//!
//! The parser, the early-error checks and the walk all recurse with the tree, so the stack they need must be known
//! before they start. This scan reads the text once, token by token, and gives an upper bound: brackets nest exactly;
//! between brackets every token that can open another level (an operator, a keyword, a template) counts one until its
//! statement is certainly over. The bound may be far too high and costs nothing then; it may never be too low.
//!
//! The one thing a scan cannot always tell is a division from a regular expression. Where it matters both readings
//! are followed side by side, and the bound is the larger one. Most wrong readings end soon, at a bracket that does
//! not fit, where the parser would have stopped too; others meet the right one again and become one with it. If there
//! are too many, the rest of the text is taken loosely: every opening counts and no closing does.

use crate::scan::{Scan, Step};
use crate::text;

/// A bound on nesting, in units. One unit is one token; a bracket counts `BRACKET`.
pub(crate) type Units = u64;

/// How much more stack a bracket takes than another token, for it goes through every storey of the grammar.
pub(crate) const BRACKET: Units = 4;

/// The most brackets that may be open at once.
///
/// Deep parentheses make the parser try each of them as the parameters of an arrow function first, which takes the
/// square of the depth and more: a thousand take a second, eight hundred are still eight times what linters allow.
pub(crate) const MAX_BRACKETS: usize = 800;

/// How many readings are followed side by side. The densest libraries need four.
const MAX_READINGS: usize = 16;

/// How often a text may be split into two readings. The densest libraries need a few dozen.
const MAX_SPLITS: usize = 4 << 10;

/// What the scan found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nesting {
    /// An upper bound on the nesting.
    pub(crate) units: Units,
    /// How many brackets are open at most.
    pub(crate) brackets: usize,
    /// Where that is.
    pub(crate) deepest: u32,
}

impl Nesting {
    /// Counts a reading that got as far as it could; of `rest` nothing is known.
    fn add(&mut self, scan: &Scan<'_>, rest: &str) {
        let inner: Units = scan.frames.iter().map(|frame| frame.total() + BRACKET).sum();
        let opened = rest.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{' | b'`')).count();
        self.units = self.units.max(inner + loose(rest));
        let brackets = scan.deepest.0 - 1 + opened;
        if brackets >= self.brackets {
            (self.brackets, self.deepest) = (brackets, text::offset(scan.deepest.1));
        }
    }
}

/// An upper bound on the nesting of `source`.
pub(crate) fn bound(source: &str) -> Nesting {
    let mut found = Nesting::default();
    let mut readings = vec![Scan::new(source)];
    let (mut splits, mut whole) = (0, false);
    // The one that is behind goes on, so that readings which agree again are seen to meet.
    while let Some(behind) = (0..readings.len()).min_by_key(|index| readings[*index].at()) {
        let alone = readings.len() == 1;
        let room = splits < MAX_SPLITS && readings.len() < MAX_READINGS;
        let scan = &mut readings[behind];
        let step = if alone { scan.run() } else { scan.step() };
        if scan.frames.len() > MAX_BRACKETS + 1 {
            found.add(scan, "");
            return found;
        }
        match step {
            Step::Read if alone => continue,
            Step::Read => {
                let meets = |other: &usize| *other != behind && readings[*other].meets(&readings[behind]);
                if let Some(other) = (0..readings.len()).find(meets) {
                    let done = readings.swap_remove(behind.max(other));
                    readings[behind.min(other)].absorb(&done);
                }
                continue;
            }
            Step::Split(other) if room => {
                splits += 1;
                readings.push(*other);
                continue;
            }
            Step::End => {
                whole = true;
                found.add(scan, "");
            }
            Step::Dead if !alone || whole => found.add(scan, ""),
            // Too many readings, or none that is known; and where none is left the parser stops, or nearly: be safe.
            Step::Split(_) | Step::Dead | Step::Lost => {
                readings.iter().for_each(|scan| found.add(scan, scan.rest()));
                return found;
            }
        }
        readings.swap_remove(behind);
    }
    found
}

/// The bound, in units, for a text of which nothing is known: everything opens, nothing closes.
pub(crate) fn loose(source: &str) -> Units {
    let bytes = source.bytes();
    let weight = |byte: u8| match byte {
        b'(' | b'[' | b'{' | b'`' | b'<' => BRACKET + 2,
        // Keywords have white space around them, if nothing else.
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => 0,
        _ => 2,
    };
    bytes.map(weight).sum()
}

/// What opened a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    Top,
    /// `(`; true for the head of `if`, `for`, `while`, `with`.
    Paren(bool),
    Square,
    Brace,
    /// `${` in a template.
    Template,
}

/// One open bracket. Counts are of the statement being read; `bound` is of those before it.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) open: Open,
    /// A sum of what is open up to here: two scans with the same one very likely have the same brackets open.
    pub(crate) trail: u64,
    bound: Units,
    /// Tokens since the last comma.
    pub(crate) run: Units,
    /// The deepest bracket since the last comma.
    pub(crate) child: Units,
    /// The longest run of the statement: what stood before a comma may still be open after it.
    longest: Units,
    /// The deepest run with its brackets.
    deepest: Units,
    /// `<`, which may be a bracket of types and is never seen to close.
    pub(crate) angles: Units,
}

impl Frame {
    pub(crate) fn new(open: Open, below: u64) -> Self {
        let kind = match open {
            Open::Top => 1,
            Open::Paren(false) => 2,
            Open::Paren(true) => 3,
            Open::Square => 4,
            Open::Brace => 5,
            Open::Template => 6,
        };
        let trail = (below ^ kind).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        Self { open, trail, bound: 0, run: 0, child: 0, longest: 0, deepest: 0, angles: 0 }
    }

    /// Takes each count that is larger in `other`.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let larger = |mine: &mut Units, theirs: Units| *mine = (*mine).max(theirs);
        larger(&mut self.bound, other.bound);
        larger(&mut self.run, other.run);
        larger(&mut self.child, other.child);
        larger(&mut self.longest, other.longest);
        larger(&mut self.deepest, other.deepest);
        larger(&mut self.angles, other.angles);
    }

    pub(crate) fn comma(&mut self) {
        self.longest = self.longest.max(self.run);
        self.deepest = self.deepest.max(self.run + self.child);
        self.run = 0;
        self.child = 0;
    }

    pub(crate) fn end_statement(&mut self) {
        self.bound = self.total();
        (self.run, self.child, self.longest, self.deepest, self.angles) = (0, 0, 0, 0, 0);
    }

    pub(crate) fn total(&self) -> Units {
        let longest = self.longest.max(self.run);
        let deepest = self.deepest.max(self.run + self.child);
        self.bound.max(longest + deepest + self.angles)
    }
}
