//! Whether a text is whole, for someone who types it line by line.

use crate::{Mode, PrepareOptions, prepare};

/// False when the text only lacks more input: an open bracket, an unfinished comment or template.
///
/// ```
/// assert!(cove_script::is_complete("1 + 1"));
/// assert!(!cove_script::is_complete("function f() {"));
/// assert!(cove_script::is_complete("let = = 3"));
/// ```
pub fn is_complete(source: &str) -> bool {
    let Err(refusal) = prepare(source, &PrepareOptions::new(Mode::Cell)) else { return true };
    let Some(position) = refusal.position else { return true };
    let at_end = position == crate::lines::position(source, source.len());
    let inside = match refusal.message.as_str() {
        "Unterminated multiline comment" => true,
        // A string must end on its line; a template need not.
        "Unterminated string" => {
            let line = crate::lines::line_range(source, position.line).and_then(|range| source.get(range));
            line.and_then(|line| line.chars().nth(position.column as usize - 1)).is_some_and(|c| matches!(c, '`' | '}'))
        }
        _ => false,
    };
    !(at_end || inside)
}
