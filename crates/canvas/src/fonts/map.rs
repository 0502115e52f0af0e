//! Font files as memory mappings: paged in as glyphs are used, shared between processes.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::FontBytes;

/// Maps a file for reading.
pub(super) fn map_file(path: &Path) -> Option<FontBytes> {
    let file = File::open(path).ok()?;
    // SAFETY: the mapping is private and read-only. A font file that is truncated while mapped would fault the
    // process; font folders are written by package managers, which replace files instead of changing them.
    let map = unsafe { memmap2::Mmap::map(&file) }.ok()?;
    Some(Arc::new(map))
}
