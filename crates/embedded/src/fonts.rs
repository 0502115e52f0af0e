//! Fonts for guests that may open no file: the host reads them, and only when a guest draws text.
//!
//! The index of the machine's fonts is made once per engine, at the first question. A guest can ask for the index and
//! for files that the index lists, by number: there is no path in its question.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cove_canvas::fonts::system;

/// Larger font files are left out: the largest in use, those with all of Chinese, have 20 to 40 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Files kept in memory between sessions; what is beyond is read again.
const KEEP_BYTES: usize = 96 << 20;

/// What a guest may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The index, as JSON.
    Index,
    /// The file of that number.
    File(u32),
}

impl Question {
    /// Nothing asks for the index, four bytes for a file.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        match payload {
            [] => Some(Self::Index),
            _ => Some(Self::File(u32::from_le_bytes(payload.try_into().ok()?))),
        }
    }
}

struct Known {
    json: Arc<Vec<u8>>,
    paths: Vec<PathBuf>,
}

#[derive(Default)]
struct Kept {
    files: HashMap<u32, Arc<Vec<u8>>>,
    bytes: usize,
}

/// The host's fonts.
#[derive(Default)]
pub(crate) struct HostFonts {
    extra: Vec<PathBuf>,
    known: OnceLock<Known>,
    kept: Mutex<Kept>,
}

impl HostFonts {
    /// The system's fonts and those in `extra`; nothing is read yet.
    pub(crate) fn new(extra: Vec<PathBuf>) -> Self {
        Self { extra, ..Self::default() }
    }

    /// The answer, on a thread that may block; empty when there is none.
    pub(crate) async fn answer(self: &Arc<Self>, question: Question) -> Arc<Vec<u8>> {
        let fonts = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || fonts.read(question)).await;
        read.ok().flatten().unwrap_or_default()
    }

    fn read(&self, question: Question) -> Option<Arc<Vec<u8>>> {
        let known = self.known.get_or_init(|| {
            let mut index = system::index(&system::font_dirs(&self.extra));
            // A guest names files by number and has no use for the host's paths.
            let paths = index.files.iter_mut().map(|path| PathBuf::from(std::mem::take(path))).collect();
            Known { json: Arc::new(serde_json::to_vec(&index).unwrap_or_default()), paths }
        });
        let Question::File(number) = question else { return Some(Arc::clone(&known.json)) };
        if let Some(bytes) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).files.get(&number) {
            return Some(Arc::clone(bytes));
        }
        let path = known.paths.get(usize::try_from(number).ok()?)?;
        std::fs::metadata(path).ok().filter(|file| file.len() <= MAX_FILE_BYTES)?;
        let bytes = Arc::new(std::fs::read(path).ok()?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes.len() <= KEEP_BYTES {
            kept.bytes += bytes.len();
            kept.files.insert(number, Arc::clone(&bytes));
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_no_path() {
        assert_eq!(Question::decode(&[]), Some(Question::Index));
        assert_eq!(Question::decode(&7u32.to_le_bytes()), Some(Question::File(7)));
        assert_eq!(Question::decode(b"/etc/passwd"), None);
    }

    #[tokio::test]
    async fn only_files_of_the_index_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        let fonts = Arc::new(HostFonts::new(vec![folder.path().to_owned()]));
        let index: serde_json::Value = serde_json::from_slice(&fonts.answer(Question::Index).await).unwrap();
        assert!(!index.to_string().contains("secret"), "only fonts are listed");
        assert!(fonts.answer(Question::File(u32::MAX)).await.is_empty());
    }
}
