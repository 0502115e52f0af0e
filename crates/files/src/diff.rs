//! The diff of an edit, for people and models: numbered lines, four lines of context.
//!
//! Only the neighbourhood of each change is compared, because the edit knows where it was; a change in a large file
//! costs what the change costs.

use std::ops::Range;
use std::time::{Duration, Instant};

use cove_core::beginning_bytes;
use similar::{ChangeTag, TextDiff};

use crate::truncate::MAX_BYTES;

const CONTEXT_LINES: usize = 4;

/// Comparing takes longer for unlike texts; after this a coarser diff is good enough.
const TIMEOUT: Duration = Duration::from_millis(50);

/// What changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) text: String,
    /// Line of the new file on which the first change is, counted from 1.
    pub(crate) first_changed_line: u64,
}

/// A part of the old content and the part of the new one that stands in its place.
type Change = (Range<usize>, Range<usize>);

/// Shows the changes, which must be in order.
pub(crate) fn diff(old: &[u8], new: &[u8], changes: &[Change]) -> Diff {
    let deadline = Instant::now() + TIMEOUT;
    let hunks = hunks(old, changes);
    let lines = 1 + memchr::memchr_iter(b'\n', old).count().max(memchr::memchr_iter(b'\n', new).count());
    let width = lines.to_string().len();
    let mut text = String::new();
    let mut first_changed_line = None;
    let (mut old_line, mut new_line) = (Counter::new(old), Counter::new(new));
    for (index, (old_part, new_part)) in hunks.iter().enumerate() {
        if index > 0 || old_part.start > 0 {
            text.push_str(&format!(" {:width$} ...\n", ""));
        }
        let (old_base, new_base) = (old_line.at(old_part.start), new_line.at(new_part.start));
        let (was, is) =
            (String::from_utf8_lossy(&old[old_part.clone()]), String::from_utf8_lossy(&new[new_part.clone()]));
        let compared = TextDiff::configure().deadline(deadline).diff_lines(&*was, &*is);
        for change in compared.iter_all_changes() {
            let old_number = old_base + change.old_index().unwrap_or(0);
            let new_number = new_base + change.new_index().unwrap_or(0);
            let (sign, number) = match change.tag() {
                ChangeTag::Equal => (' ', old_number),
                ChangeTag::Delete => ('-', old_number),
                ChangeTag::Insert => ('+', new_number),
            };
            if sign != ' ' && first_changed_line.is_none() {
                first_changed_line = Some(match change.tag() {
                    ChangeTag::Delete => new_base + new_lines_before(&compared, change.old_index().unwrap_or(0)),
                    _ => new_number,
                });
            }
            if text.len() <= MAX_BYTES {
                let line = change.value().trim_end_matches(['\n', '\r']);
                let line: String = line.chars().take(MAX_BYTES).collect();
                text.push_str(&format!("{sign}{number:>width$} {line}\n"));
            }
        }
    }
    if hunks.last().is_some_and(|(part, _)| part.end < old.len()) {
        text.push_str(&format!(" {:width$} ...\n", ""));
    }
    if text.len() > MAX_BYTES {
        let (beginning, _) = beginning_bytes(&text, MAX_BYTES);
        let end = beginning.rfind('\n').unwrap_or(beginning.len());
        text.truncate(end);
        text.push_str("\n[The diff goes on]");
    }
    Diff { text: text.trim_end_matches('\n').to_owned(), first_changed_line: first_changed_line.unwrap_or(1) as u64 }
}

/// How many lines of the new side come before a line of the old side.
fn new_lines_before(compared: &TextDiff<'_, '_, str>, old_index: usize) -> usize {
    let op = compared.ops().iter().find(|op| op.old_range().contains(&old_index));
    op.map_or(0, |op| op.new_range().start)
}

/// Whole lines around the changes; changes that are near each other share a hunk.
fn hunks(old: &[u8], changes: &[Change]) -> Vec<Change> {
    let mut hunks: Vec<Change> = Vec::new();
    for (was, is) in changes {
        let start = lines_back(old, was.start, CONTEXT_LINES);
        let end = lines_on(old, was.end, CONTEXT_LINES);
        // What is behind the last change is the same on both sides, so it has the same length there.
        let new_end = is.end + (end - was.end);
        match hunks.last_mut() {
            Some((old_part, new_part)) if start <= old_part.end => {
                old_part.end = end;
                new_part.end = new_end;
            }
            _ => hunks.push((start..end, is.start - (was.start - start)..new_end)),
        }
    }
    hunks
}

/// The start of the line that is `lines` above the line of `at`.
fn lines_back(text: &[u8], at: usize, lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', &text[..at]).nth(lines).map_or(0, |newline| newline + 1)
}

/// The end of the line that is `lines` below the line of `at`.
fn lines_on(text: &[u8], at: usize, lines: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[at..]).nth(lines).map_or(text.len(), |newline| at + newline + 1)
}

/// Counts lines up to positions that only grow.
struct Counter<'a> {
    text: &'a [u8],
    at: usize,
    lines: usize,
}

impl<'a> Counter<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, lines: 1 }
    }

    fn at(&mut self, at: usize) -> usize {
        self.lines += memchr::memchr_iter(b'\n', &self.text[self.at..at]).count();
        self.at = at;
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_lines() {
        let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 10\n", "line ten\nline ten and a half\n");
        let at = old.find("line 10").unwrap();
        let change = (at..at + 8, at..at + "line ten\nline ten and a half\n".len());
        let shown = diff(old.as_bytes(), new.as_bytes(), &[change]);
        assert_eq!(shown.first_changed_line, 10);
        assert_eq!(
            shown.text,
            "    ...\n  6 line 6\n  7 line 7\n  8 line 8\n  9 line 9\n-10 line 10\n+10 line ten\n+11 line ten and a half\n \
             11 line 11\n 12 line 12\n 13 line 13\n 14 line 14\n 15 line 15\n    ..."
        );
    }

    #[test]
    fn far_changes_are_far_apart() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let new = old.replacen("2\n", "two\n", 1).replace("39\n", "");
        let (two, last) = (old.find("2\n").unwrap(), old.find("39\n").unwrap());
        let changes = [(two..two + 1, two..two + 3), (last..last + 3, last + 2..last + 2)];
        let shown = diff(old.as_bytes(), new.as_bytes(), &changes);
        assert_eq!(shown.first_changed_line, 2);
        assert!(shown.text.starts_with("  1 1\n- 2 2\n+ 2 two\n  3 3\n"), "{}", shown.text);
        assert!(shown.text.contains("\n    ...\n 35 35\n"), "{}", shown.text);
        assert!(shown.text.ends_with("-39 39\n 40 40"), "{}", shown.text);
    }
}
