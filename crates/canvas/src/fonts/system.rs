//! The machine's own fonts: found, indexed and mapped. Host side only; a guest gets the index and the bytes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::map::map_file;
use super::{FontBook, FontBytes, FontIndex, FontSource};

/// Most font files that are looked at, so that a strange folder cannot hold up a start.
const MAX_FILES: usize = 4096;
/// How deep font folders are followed.
const MAX_DEPTH: usize = 6;

/// The folders fontconfig looks into by default, then `extra` ones; earlier ones win.
pub fn font_dirs(extra: &[PathBuf]) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = extra.to_vec();
    dirs.push("/usr/share/fonts".into());
    dirs.push("/usr/local/share/fonts".into());
    if let Some(home) = std::env::var_os("HOME") {
        dirs.push(Path::new(&home).join(".local/share/fonts"));
        dirs.push(Path::new(&home).join(".fonts"));
    }
    dirs
}

/// Font files below the folders, in a stable order.
pub fn font_files(dirs: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for dir in dirs {
        collect(dir, 0, &mut files);
    }
    files
}

fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    if depth > MAX_DEPTH || files.len() >= MAX_FILES {
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, depth + 1, files);
        } else if is_font(&path) && !files.contains(&path) && files.len() < MAX_FILES {
            files.push(path);
        }
    }
}

fn is_font(path: &Path) -> bool {
    path.extension()
        .and_then(|e| e.to_str())
        .is_some_and(|e| ["ttf", "otf", "ttc", "otc"].iter().any(|k| e.eq_ignore_ascii_case(k)))
}

/// Indexes every font below the given folders.
pub fn index(dirs: &[PathBuf]) -> FontIndex {
    let mut index = FontIndex::default();
    for path in font_files(dirs) {
        if let (Some(text), Ok(file)) = (path.to_str(), File::open(&path)) {
            index.add_file(text, &file);
        }
    }
    index
}

/// Maps files of an index when they are first used.
pub struct MappedFiles {
    files: Vec<String>,
    open: RefCell<HashMap<u32, Option<FontBytes>>>,
}

impl MappedFiles {
    /// A source for the files of `index`.
    pub fn new(index: &FontIndex) -> Self {
        Self { files: index.files.clone(), open: RefCell::default() }
    }
}

impl FontSource for MappedFiles {
    fn open(&self, file: u32) -> Option<FontBytes> {
        let path = self.files.get(file as usize)?;
        self.open.borrow_mut().entry(file).or_insert_with(|| map_file(Path::new(path))).clone()
    }
}

/// A book of the machine's fonts and those in `extra` folders. The folders are read when text is first drawn.
pub fn system_book(extra: &[PathBuf]) -> Rc<FontBook> {
    let dirs = font_dirs(extra);
    FontBook::lazy(Box::new(move || {
        let index = index(&dirs);
        let source: Rc<dyn FontSource> = Rc::new(MappedFiles::new(&index));
        (index, source)
    }))
}
