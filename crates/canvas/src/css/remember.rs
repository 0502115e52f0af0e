//! Texts that were parsed before.
//!
//! A drawing sets the same few colours and fonts over and over; looking a text up costs a tenth of parsing it.

use std::collections::HashMap;

use crate::fonts::glyphs::FastHash;

/// Most remembered texts, and the longest one that is.
const MAX_ENTRIES: usize = 256;
const MAX_TEXT_BYTES: usize = 64;

/// Parsed values by their text; also that a text does not parse.
#[derive(Debug)]
pub(crate) struct Remembered<T>(HashMap<Box<str>, Option<T>, FastHash>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Clone> Remembered<T> {
    /// The value of `text`, parsed unless it is remembered.
    pub(crate) fn get(&mut self, text: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        if let Some(value) = self.0.get(text) {
            return value.clone();
        }
        let value = parse(text);
        if text.len() <= MAX_TEXT_BYTES {
            if self.0.len() >= MAX_ENTRIES {
                self.0.clear();
            }
            self.0.insert(text.into(), value.clone());
        }
        value
    }
}
