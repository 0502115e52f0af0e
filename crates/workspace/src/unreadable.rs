//! Names that are no text: they are listed with signs in the place of what cannot be read, and so are asked for by those.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, openat, statat};

use crate::folder::FOLDER;
use crate::listing::Listing;

/// Stands for bytes that are no text.
pub(crate) const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// The name of what is listed under this one: itself, or the only one that reads like it.
pub(crate) fn true_name(dir: impl AsFd, name: &str) -> Vec<u8> {
    let asked = || name.as_bytes().to_owned();
    if !name.contains(UNREADABLE) || statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return asked();
    }
    let mut alike = Vec::new();
    let listed = openat(dir, ".", FOLDER, Mode::empty()).and_then(|dir| {
        Listing::new().each(dir, |entry| {
            if String::from_utf8_lossy(entry.name) == name {
                alike.push(entry.name.to_owned());
            }
            alike.len() < 2
        })
    });
    match (listed, alike.pop(), alike.pop()) {
        (Ok(()), Some(only), None) => only,
        _ => asked(),
    }
}
