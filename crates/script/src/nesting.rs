//! How deep a text can possibly nest, told without parsing it.
//!
//! The parser, the early-error checks and the walk all recurse with the tree, so the stack they need must be known
//! before they start. This scan reads the text once, token by token, and gives an upper bound: brackets nest exactly;
//! between brackets every token that can open another level (an operator, a keyword, a template) counts one until its
//! statement is certainly over. The bound may be far too high and costs nothing then; it may never be too low.
//!
//! The one thing a scan cannot always tell is a division from a regular expression. Where it is not certain and it
//! matters, the rest of the text is taken loosely: every opening counts and no closing does.

use crate::scan::Scan;
use crate::text;

/// A bound on nesting, in units. One unit is one token; a bracket counts `BRACKET`.
pub(crate) type Units = u64;

/// How much more stack a bracket takes than another token, for it goes through every storey of the grammar.
pub(crate) const BRACKET: Units = 4;

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

/// An upper bound on the nesting of `source`.
pub(crate) fn bound(source: &str) -> Nesting {
    let mut scan = Scan::new(source);
    scan.run();
    let mut inner = loose(scan.rest());
    let opened = scan.rest().bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{' | b'`')).count();
    while let Some(frame) = scan.frames.pop() {
        inner += frame.total();
        inner += BRACKET;
    }
    Nesting { units: inner, brackets: scan.deepest.0 - 1 + opened, deepest: text::offset(scan.deepest.1) }
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
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) open: Open,
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
    pub(crate) fn new(open: Open) -> Self {
        Self { open, bound: 0, run: 0, child: 0, longest: 0, deepest: 0, angles: 0 }
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
