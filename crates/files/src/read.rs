//! `read`: a part of a text, or a picture, or the plain word that it is neither.
//!
//! A file is read in blocks and only what is shown is kept, so the first lines of a gigabyte cost what the first
//! lines of a page cost. Its end is fixed when it is opened: a file that grows meanwhile does not keep us reading.

use std::fs::File;
use std::io::Read;

use serde_json::json;

use crate::args::ReadArgs;
use crate::edit::MAX_EDIT_BYTES;
use crate::error::{Asked, FileError, FileErrorCode};
use crate::path::rel_path;
use crate::result::ToolResult;
use crate::sniff::{Utf16, image_type, is_binary};
use crate::stop::{Guarded, Stop};
use crate::truncate::{MAX_BYTES, MAX_LINES, TruncatedBy, Truncation, format_size, join_lines};
use crate::workspace::Workspace;

/// A picture this large is more than any model takes.
pub(crate) const MAX_IMAGE_BYTES: u64 = 10 << 20;

/// How far past the shown lines the rest is counted. 16 MiB take about 5 ms; whatever is longer has an unknown number
/// of lines, and the answer says so.
const COUNT_AHEAD_BYTES: u64 = 16 << 20;

const BLOCK_BYTES: usize = 64 << 10;

impl Workspace {
    /// Reads a file.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are made for one call")]
    pub fn read(&self, args: ReadArgs) -> Result<ToolResult, FileError> {
        self.read_until(&args, &Stop::default())
    }

    /// Reads a file, unless that takes too long.
    pub fn read_until(&self, args: &ReadArgs, stop: &Stop) -> Result<ToolResult, FileError> {
        let path = self.existing(rel_path(&args.path)?);
        let (file, stat) = self.open_plain(&path)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::TimedOut => FileError::timeout("Reading"),
            _ => FileError::from_io(&error, Asked::File, path.given()),
        };
        let mut reader = Guarded { inner: file.take(size), stop };
        let mut block = vec![0; BLOCK_BYTES];
        let head = fill(&mut reader, &mut block).map_err(failed)?;

        if let Some(mime) = image_type(&block[..head]) {
            if size > MAX_IMAGE_BYTES {
                let (size, limit) = (format_size(size), format_size(MAX_IMAGE_BYTES));
                return Ok(ToolResult::text(format!("Read image file [{mime}] ({size}, not shown: over {limit})")));
            }
            block.truncate(head);
            reader.read_to_end(&mut block).map_err(failed)?;
            return Ok(ToolResult::image(format!("Read image file [{mime}]"), mime, &block));
        }
        let want = args.limit.map_or(MAX_LINES, |limit| limit.min(MAX_LINES));
        // Held whole while its bytes become a text: as large as a file that is edited, no larger.
        if let Some(order) = Utf16::of(&block[..head]).filter(|_| size <= MAX_EDIT_BYTES) {
            block.truncate(head);
            reader.read_to_end(&mut block).map_err(failed)?;
            let mut scan = Scan::new(args.offset.unwrap_or(1).max(1) - 1, want);
            scan.block(order.decode(&block).as_bytes());
            scan.ended = true;
            return scan.answer(args, size, path.given());
        }
        if is_binary(&block[..head]) {
            return Ok(ToolResult::text(format!("Read binary file ({})", format_size(size))));
        }

        let start = args.offset.unwrap_or(1).max(1) - 1;
        let mut scan = Scan::new(start, want);
        let mut filled = head;
        while filled > 0 && !scan.enough() {
            scan.block(&block[..filled]);
            filled = fill(&mut reader, &mut block).map_err(failed)?;
        }
        scan.ended = filled == 0;
        scan.answer(args, size, path.given())
    }
}

/// Fills the block as far as the file goes: short reads must not decide what kind of file it is.
fn fill(reader: &mut Guarded<'_, std::io::Take<File>>, block: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match reader.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Where the reader is: skipping to the first line, taking lines, or counting the rest.
struct Scan {
    start: u64,
    want: u64,
    newlines: u64,
    taken: Vec<u8>,
    taken_newlines: u64,
    first_line_bytes: u64,
    first_line_ended: bool,
    complete: bool,
    counted_ahead: u64,
    ended: bool,
}

impl Scan {
    fn new(start: u64, want: u64) -> Self {
        Self {
            start,
            want,
            newlines: 0,
            taken: Vec::new(),
            taken_newlines: 0,
            first_line_bytes: 0,
            first_line_ended: false,
            complete: false,
            counted_ahead: 0,
            ended: false,
        }
    }

    fn enough(&self) -> bool {
        self.complete && self.counted_ahead >= COUNT_AHEAD_BYTES
    }

    fn block(&mut self, block: &[u8]) {
        let before = self.newlines;
        self.newlines += memchr::memchr_iter(b'\n', block).count() as u64;
        if self.complete {
            self.counted_ahead += block.len() as u64;
        }
        if self.newlines < self.start || self.complete && self.first_line_ended {
            return;
        }
        // The rest of this block that belongs to the lines asked for.
        let skip = self.start.saturating_sub(before);
        let from = match usize::try_from(skip).unwrap_or(usize::MAX).checked_sub(1) {
            None => 0,
            Some(nth) => memchr::memchr_iter(b'\n', block).nth(nth).map_or(block.len(), |at| at + 1),
        };
        let mut rest = &block[from..];
        if !self.first_line_ended {
            let end = memchr::memchr(b'\n', rest);
            self.first_line_bytes += end.unwrap_or(rest.len()) as u64;
            self.first_line_ended = end.is_some();
        }
        if self.complete {
            return;
        }
        for at in memchr::memchr_iter(b'\n', rest) {
            self.taken_newlines += 1;
            if self.taken_newlines == self.want {
                rest = &rest[..at];
                self.complete = true;
                break;
            }
        }
        self.taken.extend_from_slice(rest);
        // One byte over the limit says as much as a gigabyte over it.
        if self.taken.len() > MAX_BYTES {
            self.complete = true;
        }
    }

    fn answer(self, args: &ReadArgs, size: u64, given: &str) -> Result<ToolResult, FileError> {
        if self.newlines < self.start {
            let (offset, total) = (self.start + 1, self.newlines + 1);
            let message = format!("Offset {offset} is beyond end of file ({total} lines total)");
            return Err(FileError::new(FileErrorCode::OffsetBeyondEnd, format!("{message}: {given}")));
        }
        let total_lines = self.ended.then_some(self.newlines + 1);
        let lines: Vec<_> = self.taken.split(|byte| *byte == b'\n').map(String::from_utf8_lossy).collect();
        let (text, shown) = join_lines(&lines);
        let shown = shown as u64;
        let first = self.start + 1;
        let next = first + shown;
        let truncation = |by, first_line_exceeds_limit| Truncation {
            truncated: true,
            truncated_by: Some(by),
            total_lines,
            total_bytes: size,
            output_lines: shown,
            output_bytes: text.len() as u64,
            first_line_exceeds_limit,
            max_lines: MAX_LINES,
            max_bytes: MAX_BYTES as u64,
        };
        let limit = format_size(MAX_BYTES as u64);
        if shown == 0 {
            let more = if self.first_line_ended || self.ended { "" } else { "more than " };
            let notice = format!(
                "[Line {first} is {more}{}, exceeds {limit} limit. Use grep, or read with offset, or run code on the file.]",
                format_size(self.first_line_bytes)
            );
            let details = json!({"truncation": truncation(TruncatedBy::Bytes, true), "plainBytes": 0});
            return Ok(ToolResult::text(notice).with_details(details));
        }
        let of = match total_lines {
            Some(total) => total.to_string(),
            None => format!("more than {} in a file of {}", self.newlines, format_size(size)),
        };
        let last = next - 1;
        let asked_for_fewer = args.limit.is_some_and(|limit| limit <= shown);
        if shown < lines.len() as u64 {
            let notice =
                format!("[Showing lines {first}-{last} of {of} ({limit} limit). Use offset={next} to continue.]");
            let truncation = truncation(TruncatedBy::Bytes, false);
            let details = json!({"truncation": truncation, "plainBytes": text.len(), "nextOffset": next});
            return Ok(ToolResult::text(format!("{text}\n\n{notice}")).with_details(details));
        }
        match total_lines {
            Some(total) if last >= total => Ok(ToolResult::text(text)),
            _ if asked_for_fewer => {
                let more = total_lines.map_or("More".to_owned(), |total| format!("{} more", total - last));
                let notice = format!("[{more} lines in file. Use offset={next} to continue.]");
                let details = json!({"plainBytes": text.len(), "nextOffset": next});
                Ok(ToolResult::text(format!("{text}\n\n{notice}")).with_details(details))
            }
            _ => {
                let notice = format!("[Showing lines {first}-{last} of {of}. Use offset={next} to continue.]");
                let truncation = truncation(TruncatedBy::Lines, false);
                let details = json!({"truncation": truncation, "plainBytes": text.len(), "nextOffset": next});
                Ok(ToolResult::text(format!("{text}\n\n{notice}")).with_details(details))
            }
        }
    }
}
