//! What is known of font files without having them at hand: names, styles, and the characters they cover.

use serde::{Deserialize, Serialize};
use skrifa::{FontRef, MetadataProvider, attribute::Style, string::StringId};

/// Most faces one file may bring: a hostile collection must not fill memory.
const MAX_FACES: u32 = 64;

/// One face of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaceRecord {
    /// Position of its file in [`FontIndex::files`].
    pub file: u32,
    /// Position of the face in its file.
    pub index: u32,
    /// Family names, lower case.
    pub families: Vec<String>,
    /// 100 to 900.
    pub weight: u16,
    /// Weights a variable face reaches.
    pub weight_range: Option<(u16, u16)>,
    /// Italic or oblique.
    pub italic: bool,
    /// Width in percent.
    pub stretch: u16,
    /// Covered characters as inclusive ranges, in order.
    pub coverage: Vec<(u32, u32)>,
}

impl FaceRecord {
    /// Whether the face has a glyph for the character.
    pub fn covers(&self, c: char) -> bool {
        let c = u32::from(c);
        let at = self.coverage.partition_point(|(_, end)| *end < c);
        self.coverage.get(at).is_some_and(|(start, _)| *start <= c)
    }

    /// Reads the records of every face in a file; unreadable faces are left out.
    pub fn read(bytes: &[u8], file: u32) -> Vec<Self> {
        let count = match skrifa::raw::FileRef::new(bytes) {
            Ok(skrifa::raw::FileRef::Collection(c)) => c.len().min(MAX_FACES),
            Ok(skrifa::raw::FileRef::Font(_)) => 1,
            Err(_) => 0,
        };
        (0..count).filter_map(|i| Self::read_face(&FontRef::from_index(bytes, i).ok()?, file, i)).collect()
    }

    fn read_face(font: &FontRef<'_>, file: u32, index: u32) -> Option<Self> {
        let mut families: Vec<String> = Vec::new();
        for id in [StringId::TYPOGRAPHIC_FAMILY_NAME, StringId::FAMILY_NAME] {
            for name in font.localized_strings(id) {
                let name = name.chars().collect::<String>().to_lowercase();
                if !name.is_empty() && !families.contains(&name) && families.len() < 16 {
                    families.push(name);
                }
            }
        }
        if families.is_empty() {
            return None;
        }
        let attributes = font.attributes();
        let weight_range = font
            .axes()
            .iter()
            .find(|a| a.tag() == skrifa::Tag::new(b"wght"))
            .map(|a| (a.min_value() as u16, a.max_value() as u16));
        Some(Self {
            file,
            index,
            families,
            weight: attributes.weight.value().clamp(1.0, 1000.0) as u16,
            weight_range,
            italic: attributes.style != Style::Normal,
            stretch: attributes.stretch.percentage().clamp(50.0, 200.0) as u16,
            coverage: ranges(font.charmap().mappings().map(|(c, _)| c)),
        })
    }
}

fn ranges(chars: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut all: Vec<u32> = chars.collect();
    all.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::new();
    for c in all {
        match out.last_mut() {
            Some((_, end)) if c <= end.saturating_add(1) => *end = c.max(*end),
            _ => out.push((c, c)),
        }
    }
    out
}

/// Every face of a set of files: what a host gives to a guest together with the files themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FontIndex {
    /// Where each file is; only the host reads this.
    pub files: Vec<String>,
    /// The faces in them.
    pub faces: Vec<FaceRecord>,
}

impl FontIndex {
    /// Adds a file and says how many faces it brought.
    pub fn add(&mut self, path: impl Into<String>, bytes: &[u8]) -> usize {
        let records = FaceRecord::read(bytes, self.files.len() as u32);
        let count = records.len();
        if count > 0 {
            self.files.push(path.into());
            self.faces.extend(records);
        }
        count
    }
}
