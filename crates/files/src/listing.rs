//! Reads the names in a folder, by handle.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, RawDir, statat};
use rustix::io::Errno;

/// One getdents call brings about a thousand names.
const BUFFER_BYTES: usize = 64 << 10;

/// What is in a folder under one name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: FileType,
}

/// A buffer for reading folders, used again for each.
pub(crate) struct Listing {
    buffer: Vec<MaybeUninit<u8>>,
}

impl Listing {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![MaybeUninit::uninit(); BUFFER_BYTES] }
    }

    /// Visits every name but `.`, `..` and our own unfinished files, until `visit` says `false`.
    pub(crate) fn each(&mut self, dir: impl AsFd, mut visit: impl FnMut(Entry<'_>) -> bool) -> Result<(), Errno> {
        let mut entries = RawDir::new(dir.as_fd(), &mut self.buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." || is_draft(name) {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say; a name that is gone by now is nothing.
                FileType::Unknown => match statat(dir.as_fd(), entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            if !visit(Entry { name, kind }) {
                break;
            }
        }
        Ok(())
    }
}

/// The names of files that are being written: nobody should see them come and go.
pub(crate) fn draft_name(random: [u8; 16]) -> String {
    let hex = random.iter().fold(String::with_capacity(32), |mut hex, byte| {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
        hex
    });
    format!(".cove-{hex}.draft")
}

fn is_draft(name: &[u8]) -> bool {
    name.strip_prefix(b".cove-")
        .and_then(|rest| rest.strip_suffix(b".draft"))
        .is_some_and(|hex| hex.len() == 32 && hex.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_drafts_are_hidden() {
        assert!(is_draft(draft_name([0xa5; 16]).as_bytes()));
        for other in [".cove-x.draft", ".cove-.draft", "cove.draft", ".cove"] {
            assert!(!is_draft(other.as_bytes()), "{other}");
        }
    }
}
