//! Fonts for guests that may open no file: the host reads them, and only when a guest draws text.
//!
//! The index of the machine's fonts is made once per engine, at the first question. A guest can ask for the index and
//! for files that the index lists, by number: there is no path in its question. The answer says where on the
//! [shelf](crate::shelf) the thing lies, so that all sessions share it; where there is no shelf, or no room on it, the
//! bytes themselves are the answer.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cove_canvas::fonts::system;

use crate::shelf::{self, Place};

/// Larger font files are left out: the largest in use, those with all of Chinese, have 20 to 40 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The longest question.
pub(crate) const MAX_QUESTION_BYTES: usize = 5;

/// What a guest may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    /// The index, as JSON.
    Index,
    /// The file of that number.
    File(u32),
}

/// A question: for what, and whether the guest can see the shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) thing: Thing,
    pub(crate) sees_shelf: bool,
}

impl Question {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.sees_shelf)];
        if let Thing::File(number) = self.thing {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    /// One byte asks for the index, five for a file.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (sees_shelf, number) = payload.split_first()?;
        let thing = match number {
            [] => Thing::Index,
            _ => Thing::File(u32::from_le_bytes(number.try_into().ok()?)),
        };
        Some(Self { thing, sees_shelf: *sees_shelf == 1 })
    }
}

/// What the host answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// There is no such thing.
    Nothing,
    /// It lies there.
    Shelved(Place),
    /// Here it is.
    Bytes(Arc<Vec<u8>>),
}

impl Answer {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Shelved(place) => {
                out.push(1);
                out.extend(place.encode());
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
            Some((1, place)) => Place::decode(place).map_or(Self::Nothing, Self::Shelved),
            _ => Self::Nothing,
        }
    }
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
    shelved_index: OnceLock<Option<Place>>,
}

impl HostFonts {
    /// The fonts in `extra` and, unless they are left out, the system's; nothing is read yet.
    pub(crate) fn new(extra: Vec<PathBuf>, with_system: bool) -> Self {
        let dirs = if with_system { system::font_dirs(&extra) } else { extra };
        Self { dirs, ..Self::default() }
    }

    /// The answer, on a thread that may block.
    pub(crate) async fn answer(self: &Arc<Self>, question: Question) -> Answer {
        let fonts = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || fonts.read(question)).await;
        read.ok().flatten().unwrap_or(Answer::Nothing)
    }

    fn read(&self, question: Question) -> Option<Answer> {
        let known = self.known();
        if let Some(place) = question.sees_shelf.then(|| self.shelved(question.thing, known)).flatten() {
            return Some(Answer::Shelved(place));
        }
        let bytes = match question.thing {
            Thing::Index => Arc::clone(&known.json),
            Thing::File(number) => {
                let mut bytes = Vec::new();
                open(known, number)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
                Arc::new(bytes)
            }
        };
        Some(Answer::Bytes(bytes))
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let mut index = system::index(&self.dirs);
            // A guest names files by number and has no use for the host's paths.
            let paths = index.files.iter_mut().map(|path| PathBuf::from(std::mem::take(path))).collect();
            Known { json: Arc::new(serde_json::to_vec(&index).unwrap_or_default()), paths }
        })
    }

    /// Where a thing lies; it is put there if it does not lie there yet.
    fn shelved(&self, thing: Thing, known: &Known) -> Option<Place> {
        match thing {
            Thing::Index => {
                let place = || shelf::place(known.json.as_slice(), known.json.len() as u64);
                *self.shelved_index.get_or_init(place)
            }
            Thing::File(number) => shelf::place_file(&open(known, number)?, MAX_FILE_BYTES),
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

    fn ask(thing: Thing, sees_shelf: bool) -> Question {
        Question { thing, sees_shelf }
    }

    #[test]
    fn a_question_names_no_path() {
        for thing in [Thing::Index, Thing::File(7)] {
            for sees_shelf in [false, true] {
                let question = ask(thing, sees_shelf);
                assert_eq!(Question::decode(&question.encode()), Some(question));
                assert!(question.encode().len() <= MAX_QUESTION_BYTES);
            }
        }
        for noise in [&b""[..], b"12", b"/etc/passwd"] {
            assert_eq!(Question::decode(noise), None);
        }
    }

    #[test]
    fn an_answer_is_a_place_or_bytes() {
        let place = Place { offset: 4096, bytes: 9 };
        for answer in [Answer::Nothing, Answer::Shelved(place), Answer::Bytes(Arc::new(b"font".to_vec()))] {
            let mut bytes = Vec::new();
            answer.encode(&mut bytes);
            assert_eq!(Answer::decode(&bytes), answer);
        }
        for noise in [&b"\x01123"[..], b"\x02", b"\xff\xff"] {
            assert_eq!(Answer::decode(noise), Answer::Nothing);
        }
    }

    #[tokio::test]
    async fn only_files_of_the_index_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        let fonts = Arc::new(HostFonts::new(vec![folder.path().to_owned()], true));
        let Answer::Bytes(json) = fonts.answer(ask(Thing::Index, false)).await else { panic!("no index") };
        let index: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert!(!index.to_string().contains("secret"), "only fonts are listed");
        for sees_shelf in [false, true] {
            assert_eq!(fonts.answer(ask(Thing::File(u32::MAX), sees_shelf)).await, Answer::Nothing);
        }
    }

    /// Asked for ten times, a thing lies in one place; without a shelf the same thing comes as bytes.
    #[tokio::test]
    async fn a_thing_is_shelved_once() {
        let folder = tempfile::tempdir().unwrap();
        let fonts = Arc::new(HostFonts::new(vec![folder.path().to_owned()], false));
        let first = fonts.answer(ask(Thing::Index, true)).await;
        let Answer::Shelved(place) = first else { panic!("{first:?}") };
        for _ in 0..9 {
            assert_eq!(fonts.answer(ask(Thing::Index, true)).await, Answer::Shelved(place));
        }
        let Answer::Bytes(json) = fonts.answer(ask(Thing::Index, false)).await else { panic!("no bytes") };
        assert_eq!(json.len() as u64, place.bytes);
    }
}
