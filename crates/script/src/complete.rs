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
    let end = crate::lines::position(source, source.len());
    refusal.position != Some(end)
}
