//! Fonts for guests that may open no file: the host reads them, and only when a guest draws text.
//!
//! The index of the machine's fonts is made once per engine, at the first request. A guest can ask for the index and
//! for files that the index lists, by number: there is no path in its request. The answer says where in the
//! [font store](crate::font_store) it lies, so that all sessions share it; where there is no font store, or it is full, the
//! bytes themselves are the answer.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cove_canvas::fonts::system;

use crate::font_store::{self, FontLocation};

/// Larger font files are left out: the largest in use, those with all of Chinese, have 20 to 40 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The longest request.
pub(crate) const MAX_FONT_REQUEST_BYTES: usize = 5;

/// What a guest may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FontItem {
    /// The index, as JSON.
    Index,
    /// The file of that number.
    File(u32),
}

/// A request: for what, and whether the guest can see the font store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FontRequest {
    pub(crate) item: FontItem,
    pub(crate) sees_store: bool,
}

impl FontRequest {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.sees_store)];
        if let FontItem::File(number) = self.item {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    /// One byte asks for the index, five for a file.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (sees_store, number) = payload.split_first()?;
        let item = match number {
            [] => FontItem::Index,
            _ => FontItem::File(u32::from_le_bytes(number.try_into().ok()?)),
        };
        Some(Self { item, sees_store: *sees_store == 1 })
    }
}

/// What the host answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FontReply {
    /// There is no such item.
    Nothing,
    /// It lies there.
    Stored(FontLocation),
    /// Here it is.
    Bytes(Arc<Vec<u8>>),
}

impl FontReply {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Stored(location) => {
                out.push(1);
                out.extend(location.encode());
            }
            Self::Bytes(bytes) => {
                out.push(0);
                out.extend_from_slice(bytes);
            }
        }
    }

    pub(crate) fn decode(payload: &[u8]) -> Self {
        match payload.split_first() {
            Some((0, bytes)) => Self::Bytes(Arc::new(bytes.to_vec())),
            Some((1, location)) => FontLocation::decode(location).map_or(Self::Nothing, Self::Stored),
            _ => Self::Nothing,
        }
    }
}

/// How many font files the machine has in the usual folders.
pub fn system_font_files() -> usize {
    system::font_files(&system::font_dirs(&[])).len()
}

struct Known {
    json: Arc<Vec<u8>>,
    paths: Vec<PathBuf>,
}

/// The host's fonts.
#[derive(Default)]
pub(crate) struct HostFonts {
    dirs: Vec<PathBuf>,
    known: OnceLock<Known>,
    stored_index: OnceLock<Option<FontLocation>>,
}

impl HostFonts {
    /// The fonts in `extra` and, unless they are left out, the system's; nothing is read yet.
    pub(crate) fn new(extra: Vec<PathBuf>, with_system: bool) -> Self {
        let dirs = if with_system { system::font_dirs(&extra) } else { extra };
        Self { dirs, ..Self::default() }
    }

    /// The answer, on a thread that may block.
    pub(crate) async fn answer(self: &Arc<Self>, request: FontRequest) -> FontReply {
        let fonts = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || fonts.read(request)).await;
        read.ok().flatten().unwrap_or(FontReply::Nothing)
    }

    fn read(&self, request: FontRequest) -> Option<FontReply> {
        let known = self.known();
        if let Some(location) = request.sees_store.then(|| self.stored(request.item, known)).flatten() {
            return Some(FontReply::Stored(location));
        }
        let bytes = match request.item {
            FontItem::Index => Arc::clone(&known.json),
            FontItem::File(number) => {
                let mut bytes = Vec::new();
                open(known, number)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
                Arc::new(bytes)
            }
        };
        Some(FontReply::Bytes(bytes))
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let mut index = system::index(&self.dirs);
            // A guest names files by number and has no use for the host's paths.
            let paths = index.files.iter_mut().map(|path| PathBuf::from(std::mem::take(path))).collect();
            Known { json: Arc::new(serde_json::to_vec(&index).unwrap_or_default()), paths }
        })
    }

    /// Where something lies; it is put there if it does not lie there yet.
    fn stored(&self, item: FontItem, known: &Known) -> Option<FontLocation> {
        match item {
            FontItem::Index => {
                let add = || font_store::add(known.json.as_slice(), known.json.len() as u64);
                *self.stored_index.get_or_init(add)
            }
            FontItem::File(number) => font_store::add_file(&open(known, number)?, MAX_FILE_BYTES),
        }
    }
}

/// A file of the index.
fn open(known: &Known, number: u32) -> Option<File> {
    let file = File::open(known.paths.get(usize::try_from(number).ok()?)?).ok()?;
    file.metadata().is_ok_and(|about| about.is_file() && about.len() <= MAX_FILE_BYTES).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(item: FontItem, sees_store: bool) -> FontRequest {
        FontRequest { item, sees_store }
    }

    #[test]
    fn a_question_names_no_path() {
        for item in [FontItem::Index, FontItem::File(7)] {
            for sees_store in [false, true] {
                let request = ask(item, sees_store);
                assert_eq!(FontRequest::decode(&request.encode()), Some(request));
                assert!(request.encode().len() <= MAX_FONT_REQUEST_BYTES);
            }
        }
        for noise in [&b""[..], b"12", b"/etc/passwd"] {
            assert_eq!(FontRequest::decode(noise), None);
        }
    }

    #[test]
    fn a_reply_is_a_location_or_bytes() {
        let location = FontLocation { offset: 4096, bytes: 9 };
        for answer in [FontReply::Nothing, FontReply::Stored(location), FontReply::Bytes(Arc::new(b"font".to_vec()))] {
            let mut bytes = Vec::new();
            answer.encode(&mut bytes);
            assert_eq!(FontReply::decode(&bytes), answer);
        }
        for noise in [&b"\x01123"[..], b"\x02", b"\xff\xff"] {
            assert_eq!(FontReply::decode(noise), FontReply::Nothing);
        }
    }

    #[tokio::test]
    async fn only_files_of_the_index_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        let fonts = Arc::new(HostFonts::new(vec![folder.path().to_owned()], true));
        let FontReply::Bytes(json) = fonts.answer(ask(FontItem::Index, false)).await else { panic!("no index") };
        let index: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert!(!index.to_string().contains("secret"), "only fonts are listed");
        for sees_store in [false, true] {
            assert_eq!(fonts.answer(ask(FontItem::File(u32::MAX), sees_store)).await, FontReply::Nothing);
        }
    }

    /// Asked for ten times, the index lies in one place; without a font store the same comes as bytes.
    #[tokio::test]
    async fn a_thing_is_shelved_once() {
        let folder = tempfile::tempdir().unwrap();
        let fonts = Arc::new(HostFonts::new(vec![folder.path().to_owned()], false));
        let first = fonts.answer(ask(FontItem::Index, true)).await;
        let FontReply::Stored(location) = first else { panic!("{first:?}") };
        for _ in 0..9 {
            assert_eq!(fonts.answer(ask(FontItem::Index, true)).await, FontReply::Stored(location));
        }
        let FontReply::Bytes(json) = fonts.answer(ask(FontItem::Index, false)).await else { panic!("no bytes") };
        assert_eq!(json.len() as u64, location.bytes);
    }
}
