//! Code frames: three lines of the user's own text and a caret.
//!
//! Only a window around the place is ever given to the renderer: a frame of a ten-megabyte line stays a few hundred
//! bytes, and line terminators that the renderer does not know cannot shift the caret.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use cove_core::Position;

use crate::lines;

/// How much of a long line is shown on either side of the caret, in characters: together a line of a wide terminal.
const AROUND_CHARS: usize = 60;

/// A plain-text frame: the line of `position`, the lines before and after it, and a caret with `label`.
///
/// ```
/// let position = cove_core::Position { line: 2, column: 9 };
/// let frame = cove_script::code_frame("let a = 1\nlet b = ;\nlet c", position, "Unexpected token", "cell.js");
/// assert!(frame.contains("2 | let b = ;\n  |         ^ Unexpected token"));
/// ```
pub fn code_frame(source: &str, position: Position, label: &str, file_name: &str) -> String {
    let first = position.line.saturating_sub(1).max(1);
    let column = position.column.max(1) as usize - 1;
    let mut window = String::new();
    let mut caret = 0..0;
    let mut cut_before = 0;
    for line in first..=position.line.saturating_add(1) {
        let Some(range) = lines::line_range(source, line) else { break };
        let text = source.get(range).unwrap_or_default();
        if line > first {
            window.push('\n');
        }
        if line == position.line {
            let (shown, cut, at) = around(text, column);
            cut_before = cut;
            let start = window.len() + at;
            window.push_str(&shown);
            let width = shown.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            caret = start..start + width;
        } else {
            window.push_str(&around(text, AROUND_CHARS).0);
        }
    }
    let label = if cut_before > 0 { format!("{label} (column {})", position.column) } else { label.to_owned() };
    let label: String = label.replace(['\n', '\r', '\u{2028}', '\u{2029}'], " ");
    let snippet = Snippet::source(window)
        .line_start(first as usize)
        .fold(false)
        .annotation(AnnotationKind::Primary.span(caret).label(label));
    let group = Group::with_level(Level::ERROR).element(snippet.path(file_name.to_owned()));
    let rendered = Renderer::plain().render(&[group]);
    correct_column(&rendered, file_name, position)
}

/// The part of a line around a column: what is shown, how many characters were cut before it, and the byte offset of
/// the column in what is shown. Tabs and control characters are shown as single spaces so that the caret stays put.
fn around(line: &str, column: usize) -> (String, usize, usize) {
    let from = column.saturating_sub(AROUND_CHARS);
    let mut shown = String::new();
    let mut at = None;
    let mark = if from > 0 { "…" } else { "" };
    shown.push_str(mark);
    let mut rest = line.chars().skip(from);
    for index in from..column + AROUND_CHARS {
        if index == column {
            at = Some(shown.len());
        }
        let Some(char) = rest.next() else { break };
        shown.push(if char.is_control() || is_invisible(char) { ' ' } else { char });
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    let at = at.unwrap_or(shown.len());
    (shown, from, at)
}

/// Characters that would turn or hide the text around them in a terminal.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// The renderer names the column inside the window it was given; the user wants the column in the text.
fn correct_column(rendered: &str, file_name: &str, position: Position) -> String {
    let mut out = String::with_capacity(rendered.len());
    for (index, line) in rendered.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        match line.split_once("--> ") {
            Some((head, rest)) if head.trim().is_empty() && rest.starts_with(file_name) => {
                out.push_str(head);
                out.push_str("--> ");
                out.push_str(&format!("{file_name}:{}:{}", position.line, position.column));
            }
            _ => out.push_str(line.trim_end()),
        }
    }
    out
}
