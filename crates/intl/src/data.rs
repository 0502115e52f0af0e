//! The compiled-in data of CLDR: an index, and pieces that are unpacked when somebody asks.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::rc::Rc;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{IntlError, Result};

static BLOB: &[u8] = include_bytes!("../data/locales.bin");

/// How many unpacked sections are kept. One has at most about 300 KiB.
const MAX_KEPT: usize = 16;

#[derive(Deserialize)]
pub(crate) struct Index {
    pub(crate) locales: HashMap<String, Entry>,
    /// Locales whose data is their parent's: `en-US`.
    pub(crate) defaults: Vec<String>,
    world: (usize, usize),
}

#[derive(Deserialize)]
pub(crate) struct Entry {
    parent: Option<String>,
    #[serde(flatten)]
    sections: BTreeMap<String, (usize, usize)>,
}

/// The index, and where the pieces begin.
pub(crate) fn index() -> Result<&'static (Index, usize)> {
    static INDEX: OnceLock<Option<(Index, usize)>> = OnceLock::new();
    let read = || {
        let length = usize::try_from(u32::from_le_bytes(*BLOB.first_chunk::<4>()?)).ok()?;
        let index = serde_json::from_slice(BLOB.get(4..4 + length)?).ok()?;
        Some((index, 4 + length))
    };
    INDEX.get_or_init(read).as_ref().ok_or_else(|| IntlError::Data("all languages".to_owned()))
}

fn piece(start: usize, (at, length): (usize, usize)) -> Option<Value> {
    let mut text = Vec::new();
    DeflateDecoder::new(BLOB.get(start + at..start + at + length)?).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Gives the data of locales and keeps what was asked for lately.
#[derive(Default)]
pub struct Library {
    kept: RefCell<HashMap<(String, &'static str), Rc<Value>>>,
    world: RefCell<Option<Rc<Value>>>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("kept", &self.kept.borrow().len()).finish_non_exhaustive()
    }
}

impl Library {
    /// An empty one; nothing is read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A section of a locale that the index has.
    pub(crate) fn section(&self, locale: &str, name: &'static str) -> Result<Rc<Value>> {
        let key = (locale.to_owned(), name);
        if let Some(found) = self.kept.borrow().get(&key) {
            return Ok(Rc::clone(found));
        }
        let made = Rc::new(read(locale, name)?);
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, Rc::clone(&made));
        Ok(made)
    }

    /// What belongs to no language: digits, zones, hours of regions.
    pub(crate) fn world(&self) -> Result<Rc<Value>> {
        if let Some(found) = &*self.world.borrow() {
            return Ok(Rc::clone(found));
        }
        let (index, start) = index()?;
        let made = Rc::new(piece(*start, index.world).ok_or_else(|| IntlError::Data("the world".to_owned()))?);
        *self.world.borrow_mut() = Some(Rc::clone(&made));
        Ok(made)
    }
}

fn read(locale: &str, name: &str) -> Result<Value> {
    let (index, start) = index()?;
    let broken = || IntlError::Data(locale.to_owned());
    let entry = index.locales.get(locale).ok_or_else(broken)?;
    let mut whole = match &entry.parent {
        Some(parent) => read(parent, name)?,
        None => Value::Null,
    };
    if let Some(place) = entry.sections.get(name) {
        merge(&mut whole, piece(*start, *place).ok_or_else(broken)?);
    }
    Ok(whole)
}

fn merge(whole: &mut Value, own: Value) {
    match (whole, own) {
        (Value::Object(whole), Value::Object(own)) => {
            for (key, value) in own {
                if value.is_null() {
                    whole.remove(&key);
                } else {
                    merge(whole.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (whole, own) => *whole = own,
    }
}

/// The value at the end of a path.
pub(crate) fn at<'a>(tree: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(tree, |at, key| at.get(key))
}

/// The text at the end of a path.
pub(crate) fn text<'a>(tree: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(tree, path)?.as_str()
}
