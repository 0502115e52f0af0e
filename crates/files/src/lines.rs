//! The lines that `grep` found in one file: matches, the lines around them, and where to stop.

use std::io;

use cove_core::beginning_chars;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::truncate::MAX_BYTES;

/// Longer lines are cut: one line of minified code must not be the whole answer.
const MAX_LINE_CHARS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Match,
    Before,
    After,
    Break,
}

#[derive(Debug)]
struct Line {
    kind: Kind,
    number: u64,
    text: String,
    cut: bool,
}

/// What was found in one file.
#[derive(Debug)]
pub(crate) struct FileLines {
    lines: Vec<Line>,
    pub(crate) matches: u64,
    pub(crate) bytes: usize,
    /// Whether there is another match behind the last one kept.
    pub(crate) more: bool,
    /// Whether the file could not be searched to its end.
    pub(crate) failed: bool,
}

/// What became of a file's lines in the answer.
pub(crate) struct Written {
    pub(crate) matches: u64,
    pub(crate) more: bool,
    pub(crate) cut: bool,
}

impl FileLines {
    /// Writes up to `most` matches with their context, and nothing of the match after.
    pub(crate) fn write(&self, name: &str, most: u64, out: &mut Vec<String>) -> Written {
        let mut written = Written { matches: 0, more: self.more, cut: false };
        for line in &self.lines {
            let full = written.matches == most;
            match line.kind {
                Kind::Match if full => {
                    written.more = true;
                    break;
                }
                Kind::Before | Kind::Break if full => continue,
                Kind::Match => {
                    written.matches += 1;
                    out.push(format!("{name}:{}: {}", line.number, line.text));
                }
                Kind::Break => out.push("--".to_owned()),
                Kind::Before | Kind::After => out.push(format!("{name}-{}- {}", line.number, line.text)),
            }
            written.cut |= line.cut;
        }
        written
    }
}

/// Collects the lines of one file.
pub(crate) struct Lines {
    found: FileLines,
    limit: u64,
    binary: bool,
}

impl Lines {
    pub(crate) fn new(limit: u64) -> Self {
        let found = FileLines { lines: Vec::new(), matches: 0, bytes: 0, more: false, failed: false };
        Self { found, limit, binary: false }
    }

    /// What was found; a binary file holds no lines.
    pub(crate) fn finish(mut self, failed: bool) -> Option<FileLines> {
        self.found.failed = failed;
        // A break before matches that were never shown.
        while self.found.lines.last().is_some_and(|line| line.kind == Kind::Break) {
            self.found.lines.pop();
        }
        (!self.binary && (self.found.matches > 0 || failed)).then_some(self.found)
    }

    fn push(&mut self, kind: Kind, number: Option<u64>, bytes: &[u8]) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // Four bytes per character at most: enough of the line to be cut exactly, however long it is.
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (MAX_LINE_CHARS + 1))]);
        let (beginning, cut) = beginning_chars(&head, MAX_LINE_CHARS);
        let text = format!("{beginning}{}", if cut { "... [truncated]" } else { "" });
        // The shortest name and number before a line have four characters more than nothing.
        self.found.bytes += if kind == Kind::Break { 0 } else { text.len() + 4 };
        self.found.lines.push(Line { kind, number: number.unwrap_or(0), text, cut });
    }

    fn is_full(&self) -> bool {
        self.found.matches >= self.limit || self.found.bytes > MAX_BYTES
    }
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.is_full() {
            self.found.more = true;
            return Ok(false);
        }
        self.found.matches += 1;
        self.push(Kind::Match, found.line_number(), found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let kind = if matches!(context.kind(), SinkContextKind::After) { Kind::After } else { Kind::Before };
        if kind == Kind::After || !self.is_full() {
            self.push(kind, context.line_number(), context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push(Kind::Break, None, b"");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
