//! All fonts of one world, and the choice among them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::face::Face;
use super::glyphs::GlyphCache;
use super::index::{CharSet, FaceRecord, FontIndex};
use super::shape::WordCache;
use super::spec::{Family, FontSpec, FontStyle};
use super::{FontBytes, alias};
use crate::CanvasError;

/// Gives the bytes of a file of an index. A guest answers from what the host mapped or handed over for it.
pub trait FontSource {
    /// The bytes of file number `file`, if it can be had.
    fn open(&self, file: u32) -> Option<FontBytes>;
}

type Opener = Box<dyn FnOnce() -> (FontIndex, Rc<dyn FontSource>)>;

/// Most fonts a script may add to a book.
const MAX_ADDED: usize = 256;

enum Bytes {
    Here(FontBytes),
    File(Rc<dyn FontSource>),
}

struct Entry {
    record: FaceRecord,
    coverage: Rc<CharSet>,
    bytes: Bytes,
    /// Faces made of it, by weight for variable ones.
    faces: HashMap<u16, Option<Rc<Face>>>,
}

/// A face, and what must be made up because no installed face has it.
#[derive(Debug, Clone)]
pub(crate) struct FaceChoice {
    pub(crate) face: Rc<Face>,
    pub(crate) embolden: bool,
    pub(crate) slant: bool,
}

/// The faces of one font description, in the order in which they are asked for a character.
#[derive(Debug)]
pub(crate) struct FontChain {
    pub(crate) id: u32,
    pub(crate) faces: Vec<FaceChoice>,
    style: FaceStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FaceStyle {
    weight: u16,
    italic: bool,
    stretch: u16,
}

#[derive(Default)]
struct Inner {
    opener: Option<Opener>,
    has_builtin: bool,
    entries: Vec<Entry>,
    families: HashMap<String, Vec<usize>>,
    chains: HashMap<(FaceStyle, Vec<Family>), Rc<FontChain>>,
    fallbacks: HashMap<(char, FaceStyle, bool), Option<FaceChoice>>,
    faces_made: u32,
    added: usize,
    chains_made: u32,
    /// Counts changes to what a font description may resolve to.
    generation: u64,
}

/// The fonts a canvas writes with. Shared by all canvases of a world; reads nothing until text is drawn.
#[derive(Default)]
pub struct FontBook {
    inner: RefCell<Inner>,
    pub(crate) glyphs: RefCell<GlyphCache>,
    pub(crate) words: RefCell<WordCache>,
}

impl std::fmt::Debug for FontBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FontBook({} faces)", self.inner.borrow().entries.len())
    }
}

impl FontBook {
    /// A book of the fonts built into the program: a sans and a mono face, so that Latin text never vanishes, and
    /// emoji and symbols in black and white.
    pub(crate) fn builtin() -> Rc<Self> {
        Rc::new(Self::default())
    }

    /// A book over an index and a source for its files.
    pub fn from_index(index: FontIndex, source: Rc<dyn FontSource>) -> Rc<Self> {
        Self::lazy(Box::new(move || (index, source)))
    }

    /// A book whose index is made when text is first drawn.
    pub fn lazy(opener: Opener) -> Rc<Self> {
        let book = Self::default();
        book.inner.borrow_mut().opener = Some(opener);
        Rc::new(book)
    }

    /// Adds a font from its bytes and says which families it brought.
    pub fn add(&self, bytes: &FontBytes) -> Result<Vec<String>, CanvasError> {
        self.add_as(None, bytes)
    }

    /// Adds a font under a name of the caller's choosing, as `FontFace` does.
    pub fn add_as(&self, family: Option<&str>, bytes: &FontBytes) -> Result<Vec<String>, CanvasError> {
        let mut records = FaceRecord::read((**bytes).as_ref(), 0);
        if records.is_empty() {
            return Err(CanvasError::Syntax("the data is not a font".into()));
        }
        let mut inner = self.inner.borrow_mut();
        if inner.added >= MAX_ADDED {
            return Err(CanvasError::Range(format!("more than {MAX_ADDED} fonts were added")));
        }
        inner.added += 1;
        inner.generation += 1;
        inner.chains.clear();
        inner.fallbacks.clear();
        self.words.borrow_mut().clear();
        let mut names = Vec::new();
        for (record, _) in &mut records {
            if let Some(family) = family {
                record.families = vec![family.to_lowercase()];
            }
            names.extend(record.families.iter().cloned());
        }
        for (record, set) in records {
            // A font added by name goes before one installed under the same name.
            inner.insert(record, &Rc::new(set), Bytes::Here(FontBytes::clone(bytes)), true);
        }
        Ok(names)
    }

    /// Whether a family of this name (or a stand-in for it) is there.
    pub fn has_family(&self, name: &str) -> bool {
        let mut inner = self.inner.borrow_mut();
        inner.prepare();
        !inner.family(name, false).is_empty()
    }

    /// Changes whenever a font is added: what was resolved before may resolve differently now.
    pub(crate) fn generation(&self) -> u64 {
        self.inner.borrow().generation
    }

    pub(crate) fn chain(&self, spec: &FontSpec) -> Rc<FontChain> {
        let style = FaceStyle { weight: spec.weight, italic: spec.style != FontStyle::Normal, stretch: spec.stretch };
        let mut inner = self.inner.borrow_mut();
        let key = (style, spec.families.clone());
        if let Some(chain) = inner.chains.get(&key) {
            return Rc::clone(chain);
        }
        inner.prepare();
        let mut faces: Vec<FaceChoice> = Vec::new();
        let last = alias::LAST_RESORT.iter().map(|n| Family { name: (*n).to_string(), generic: false });
        let mut found = false;
        for family in spec.families.iter().cloned().chain(last) {
            let entries = inner.family(&family.name.to_lowercase(), family.generic);
            if let Some(choice) = inner.choose(&entries, style) {
                found = true;
                if faces.iter().all(|f| f.face.id != choice.face.id) {
                    faces.push(choice);
                }
            }
            // One last resort is enough; further characters go through the fallback.
            if found && faces.len() > spec.families.len() {
                break;
            }
        }
        if faces.is_empty() {
            inner.add_builtin();
            let entries = inner.family("cove sans", false);
            faces.extend(inner.choose(&entries, style));
        }
        let id = inner.chains_made;
        inner.chains_made = inner.chains_made.wrapping_add(1);
        let chain = Rc::new(FontChain { id, faces, style });
        if inner.chains.len() > 512 {
            inner.chains.clear();
            self.words.borrow_mut().clear();
        }
        inner.chains.insert(key, Rc::clone(&chain));
        chain
    }

    /// The face for a character: the first of the chain that has it, then whoever has it.
    pub(crate) fn face_for(&self, chain: &FontChain, c: char, emoji: bool, lang: &str) -> Option<FaceChoice> {
        if !emoji && let Some(choice) = chain.faces.iter().find(|f| f.face.covers(c)) {
            return Some(choice.clone());
        }
        let mut inner = self.inner.borrow_mut();
        let key = (c, chain.style, emoji);
        let found = match inner.fallbacks.get(&key) {
            Some(found) => found.clone(),
            None => {
                let found = inner.fallback(c, emoji, chain.style, lang);
                if inner.fallbacks.len() > 20_000 {
                    inner.fallbacks.clear();
                }
                inner.fallbacks.insert(key, found.clone());
                found
            }
        };
        found
            .or_else(|| chain.faces.iter().find(|f| f.face.covers(c)).cloned())
            .or_else(|| chain.faces.first().cloned())
    }
}

impl Inner {
    fn prepare(&mut self) {
        if let Some(opener) = self.opener.take() {
            let (index, source) = opener();
            let coverages: Vec<Rc<CharSet>> = index.coverages.into_iter().map(Rc::new).collect();
            let nothing = Rc::default();
            for record in index.faces {
                let coverage = coverages.get(record.coverage as usize).unwrap_or(&nothing);
                self.insert(record, coverage, Bytes::File(Rc::clone(&source)), false);
            }
        }
    }

    /// Brings in the built-in fonts. Only when something is missing without them: reading what they cover takes time
    /// that a run on a machine with fonts need not spend.
    fn add_builtin(&mut self) {
        if self.has_builtin {
            return;
        }
        self.has_builtin = true;
        for (family, bytes) in [
            ("cove sans", epaint_default_fonts::UBUNTU_LIGHT),
            ("cove mono", epaint_default_fonts::HACK_REGULAR),
            ("cove emoji", epaint_default_fonts::NOTO_EMOJI_REGULAR),
            ("cove symbols", epaint_default_fonts::EMOJI_ICON),
        ] {
            for (mut record, set) in FaceRecord::read(bytes, 0) {
                record.families.push(family.to_string());
                record.weight = 400;
                self.insert(record, &Rc::new(set), Bytes::Here(Arc::new(bytes)), false);
            }
        }
    }

    fn insert(&mut self, record: FaceRecord, coverage: &Rc<CharSet>, bytes: Bytes, first: bool) {
        let at = self.entries.len();
        for family in &record.families {
            let list = self.families.entry(family.clone()).or_default();
            if first {
                list.insert(0, at);
            } else {
                list.push(at);
            }
        }
        self.entries.push(Entry { record, coverage: Rc::clone(coverage), bytes, faces: HashMap::new() });
    }

    /// Entries of a family or of the first stand-in that is installed.
    fn family(&mut self, name: &str, generic: bool) -> Vec<usize> {
        if !generic && let Some(list) = self.families.get(name) {
            return list.clone();
        }
        let stand_ins = alias::candidates(name, generic);
        if !stand_ins.iter().any(|n| self.families.contains_key(*n)) && stand_ins.iter().any(|n| n.starts_with("cove "))
        {
            self.add_builtin();
        }
        stand_ins.iter().find_map(|n| self.families.get(*n)).cloned().unwrap_or_default()
    }

    /// The CSS choice among the faces of one family: width, then slant, then weight.
    fn choose(&mut self, entries: &[usize], style: FaceStyle) -> Option<FaceChoice> {
        let distance = |at: &usize| {
            let r = &self.entries[*at].record;
            let stretch = r.stretch.abs_diff(style.stretch);
            let slant = u16::from(r.italic != style.italic);
            (stretch, slant, weight_distance(r, style.weight))
        };
        let best = *entries.iter().min_by_key(|at| distance(at))?;
        self.make(best, style)
    }

    fn make(&mut self, at: usize, style: FaceStyle) -> Option<FaceChoice> {
        let entry = self.entries.get_mut(at)?;
        let variable = entry.record.weight_range.map(|(low, high)| style.weight.clamp(low, high));
        let key = variable.unwrap_or(0);
        if !entry.faces.contains_key(&key) {
            let bytes = match &entry.bytes {
                Bytes::Here(bytes) => Some(FontBytes::clone(bytes)),
                Bytes::File(source) => source.open(entry.record.file),
            };
            let face = bytes.and_then(|b| Face::new(self.faces_made, &b, entry.record.index, variable));
            self.faces_made += 1;
            entry.faces.insert(key, face);
        }
        let face = Rc::clone(entry.faces.get(&key)?.as_ref()?);
        let weight = variable.unwrap_or(entry.record.weight);
        Some(FaceChoice {
            embolden: style.weight >= 600 && weight < 600 && !face.has_pictures,
            slant: style.italic && !entry.record.italic && !face.has_pictures,
            face,
        })
    }

    fn fallback(&mut self, c: char, emoji: bool, style: FaceStyle, lang: &str) -> Option<FaceChoice> {
        use unicode_script::UnicodeScript;
        self.prepare();
        let script = alias::cjk(c.script(), lang);
        let preferred = if emoji { alias::candidates("emoji", true) } else { &[] };
        for name in preferred.iter().chain(script).chain(alias::FALLBACK) {
            let Some(list) = self.families.get(*name) else { continue };
            let covering: Vec<usize> =
                list.iter().copied().filter(|at| self.entries[*at].coverage.contains(c)).collect();
            if let Some(choice) = self.choose(&covering, style) {
                return Some(choice);
            }
        }
        let any = |inner: &Self| -> Vec<usize> {
            (0..inner.entries.len()).filter(|at| inner.entries[*at].coverage.contains(c)).collect()
        };
        let mut found = any(self);
        if found.is_empty() {
            self.add_builtin();
            found = any(self);
        }
        self.choose(&found, style)
    }
}

/// How far a face's weight is from the wanted one, by the rules of CSS: heavy looks for heavier first.
fn weight_distance(record: &FaceRecord, wanted: u16) -> u32 {
    if record.weight_range.is_some_and(|(low, high)| (low..=high).contains(&wanted)) {
        return 0;
    }
    let (have, wanted) = (u32::from(record.weight), u32::from(wanted));
    let distance = have.abs_diff(wanted);
    let wrong_way = match wanted {
        400..=500 => have > 500,
        w if w < 400 => have > wanted,
        _ => have < wanted,
    };
    if wrong_way { distance + 1000 } else { distance }
}
