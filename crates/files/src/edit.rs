//! `edit`: replaces one text by another, and not a byte besides.
//!
//! The widely copied implementation writes the whole file back the way it searched it: quotes, dashes, blanks and line
//! endings of lines that nobody touched come out changed. Here the match is led back to the file's own bytes, and
//! everything outside of it is copied.

use std::io::Read;
use std::ops::Range;

use cove_workspace::{Missing, Target};
use serde_json::json;

use crate::args::{EditArgs, Replacement};
use crate::diff::{Diff, diff};
use crate::endings::adapt;
use crate::error::{Asked, FileError, FileErrorCode};
use crate::locate::{Haystack, Miss};
use crate::path::rel_path;
use crate::result::ToolResult;
use crate::sniff::Utf16;
use crate::truncate::format_size;
use crate::workspace::Workspace;

/// A file that is edited is held in memory a few times over; larger ones are not edited by hand.
pub(crate) const MAX_EDIT_BYTES: u64 = 16 << 20;

/// Each text is looked for in the whole file; more of them are a program's work.
const MAX_REPLACEMENTS: usize = 500;

/// How often an edit begins again because another process changed the file meanwhile.
const MAX_TRIES: usize = 8;

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Workspace {
    /// Replaces text in a file.
    pub fn edit(&self, args: EditArgs) -> Result<ToolResult, FileError> {
        let given = args.path.clone();
        let replacements = args.replacements()?;
        let path = self.existing(rel_path(&given)?);
        let refuse = |errno| FileError::from_errno(errno, Asked::File, &given);
        for _ in 0..MAX_TRIES {
            let place = self.root.place_followed(&path, Missing::Refuse).map_err(refuse)?;
            let target = Target::at(&place).map_err(refuse)?;
            let (file, seen) = target.open().map_err(refuse)?;
            let size = u64::try_from(seen.st_size).unwrap_or(0);
            if size > MAX_EDIT_BYTES {
                let (size, limit) = (format_size(size), format_size(MAX_EDIT_BYTES));
                return Err(FileError::new(
                    FileErrorCode::FileTooLarge,
                    format!("{given} has {size}; edit takes up to {limit}"),
                ));
            }
            let mut old = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            file.take(size).read_to_end(&mut old).map_err(|error| FileError::from_io(&error, Asked::File, &given))?;
            let preview = preview(&old, &replacements, &given)?;
            if !target.is_still(&seen) {
                continue;
            }
            target.replace(&preview.content).map_err(refuse)?;
            let text = match replacements.len() {
                1 => format!("Successfully replaced text in {given}."),
                many => format!("Successfully replaced {many} texts in {given}."),
            };
            let details = json!({"diff": preview.diff, "firstChangedLine": preview.first_changed_line});
            return Ok(ToolResult::text(text).with_details(details));
        }
        Err(FileError::new(
            FileErrorCode::Conflict,
            format!("{given} is being changed by another process; nothing was changed"),
        ))
    }
}

/// What an edit would make of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    /// The content afterwards.
    pub(crate) content: Vec<u8>,
    /// The diff as `details.diff` shows it.
    pub(crate) diff: String,
    /// Line of the new content on which the first change is, counted from 1.
    pub(crate) first_changed_line: u64,
    /// What was replaced and by what: ranges in the old and in the new content, in order.
    pub(crate) changes: Vec<(Range<usize>, Range<usize>)>,
}

/// Replaces all or nothing, in memory; `given` is the path that messages name.
///
/// Each text is looked for in the content as it was, so the order of the edits says nothing.
pub(crate) fn preview(content: &[u8], replacements: &[Replacement], given: &str) -> Result<Preview, FileError> {
    if replacements.len() > MAX_REPLACEMENTS {
        let message = format!("edit: {} edits at once; the limit is {MAX_REPLACEMENTS}", replacements.len());
        return Err(FileError::invalid_args(message));
    }
    if Utf16::of(content).is_some() {
        let message = format!("{given} is UTF-16 text; edit works on UTF-8. Convert it to UTF-8 first.");
        return Err(FileError::new(FileErrorCode::NotUtf8, message));
    }
    let bom = if content.starts_with(BOM) { BOM.len() } else { 0 };
    let body = &content[bom..];
    let haystack = Haystack::new(body);
    let mut found: Vec<(Range<usize>, usize, Vec<u8>)> = Vec::with_capacity(replacements.len());
    for (index, Replacement { old_text, new_text }) in replacements.iter().enumerate() {
        let which = if replacements.len() > 1 { format!("edits[{index}]: ") } else { String::new() };
        let old = old_text.strip_prefix('\u{feff}').unwrap_or(old_text);
        if old.is_empty() {
            return Err(FileError::invalid_args(format!("{which}`oldText` must not be empty")));
        }
        let range = haystack.locate(old).map_err(|miss| match miss {
            Miss::None => FileError::new(
                FileErrorCode::TextNotFound,
                format!(
                    "{which}Could not find the exact text in {given}. The old text must match exactly including all \
                     whitespace and newlines."
                ),
            ),
            Miss::Many(count) => FileError::new(
                FileErrorCode::NotUnique,
                format!(
                    "{which}Found {count} occurrences of the text in {given}. The text must be unique. Please provide \
                     more context to make it unique."
                ),
            ),
        })?;
        let new = adapt(old, new_text, body, range.clone());
        found.push((range, index, new));
    }
    found.sort_by_key(|(range, index, _)| (range.start, range.end, *index));
    if let Some([(_, first, _), (_, second, _)]) = found.array_windows().find(|[a, b]| b.0.start < a.0.end) {
        let message = format!("edits[{first}] and edits[{second}] overlap in {given}. Merge them into one edit.");
        return Err(FileError::new(FileErrorCode::OverlappingEdits, message));
    }

    let mut new_content = Vec::with_capacity(content.len() + found.iter().map(|(_, _, new)| new.len()).sum::<usize>());
    let mut changes = Vec::with_capacity(found.len());
    new_content.extend_from_slice(&content[..bom]);
    let mut copied = 0;
    for (range, _, new) in &found {
        new_content.extend_from_slice(&body[copied..range.start]);
        let start = new_content.len();
        new_content.extend_from_slice(new);
        changes.push((bom + range.start..bom + range.end, start..new_content.len()));
        copied = range.end;
    }
    new_content.extend_from_slice(&body[copied..]);
    if new_content == content {
        let message = format!("No changes made to {given}. The replacement is the same as the text that is there.");
        return Err(FileError::new(FileErrorCode::NoChange, message));
    }
    let Diff { text, first_changed_line } = diff(content, &new_content, &changes);
    Ok(Preview { content: new_content, diff: text, first_changed_line, changes })
}
