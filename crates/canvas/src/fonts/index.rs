//! What is known of font files without having them at hand: names, styles, and the characters they cover.

use serde::{Deserialize, Serialize};
use skrifa::{FontRef, MetadataProvider, attribute::Style, string::StringId};

/// Most faces one file may bring: a hostile collection must not fill memory.
pub(super) const MAX_FACES: u32 = 64;

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
    /// Position of its characters in [`FontIndex::coverages`].
    pub coverage: u32,
}

/// A set of characters, as inclusive ranges in order. Written as gaps and lengths: half the text of plain numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// Whether the character is in the set.
    pub fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        let at = self.0.partition_point(|(_, end)| *end < c);
        self.0.get(at).is_some_and(|(start, _)| *start <= c)
    }
}

impl From<Vec<u32>> for CharSet {
    fn from(list: Vec<u32>) -> Self {
        let mut end = 0u32;
        let ranges = list.as_chunks::<2>().0.iter().map(|[gap, length]| {
            let start = end.saturating_add(*gap);
            end = start.saturating_add(*length);
            (start, end)
        });
        Self(ranges.collect())
    }
}

impl From<CharSet> for Vec<u32> {
    fn from(set: CharSet) -> Self {
        let mut last = 0;
        let pair = |(start, end): (u32, u32)| {
            let pair = [start - last, end - start];
            last = end;
            pair
        };
        set.0.into_iter().flat_map(pair).collect()
    }
}

impl FaceRecord {
    /// Reads every face in a file and the characters it covers; unreadable faces are left out.
    pub fn read(bytes: &[u8], file: u32) -> Vec<(Self, CharSet)> {
        let count = match skrifa::raw::FileRef::new(bytes) {
            Ok(skrifa::raw::FileRef::Collection(c)) => c.len().min(MAX_FACES),
            Ok(skrifa::raw::FileRef::Font(_)) => 1,
            Err(_) => 0,
        };
        (0..count).filter_map(|i| Self::read_face(&FontRef::from_index(bytes, i).ok()?, file, i)).collect()
    }

    fn read_face(font: &FontRef<'_>, file: u32, index: u32) -> Option<(Self, CharSet)> {
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
        let record = Self {
            file,
            index,
            families,
            weight: attributes.weight.value().clamp(1.0, 1000.0) as u16,
            weight_range,
            italic: attributes.style != Style::Normal,
            stretch: attributes.stretch.percentage().clamp(50.0, 200.0) as u16,
            coverage: 0,
        };
        Some((record, CharSet(ranges(font.charmap().mappings().map(|(c, _)| c)))))
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
    /// What they cover. Faces share: the sixty faces of a CJK collection cover the same characters.
    pub coverages: Vec<CharSet>,
}

impl FontIndex {
    /// Adds a file and says how many faces it brought.
    pub fn add(&mut self, path: impl Into<String>, bytes: &[u8]) -> usize {
        let records = FaceRecord::read(bytes, self.files.len() as u32);
        self.add_records(path.into(), records)
    }

    /// Adds an open file, of which only what is needed is read, and says how many faces it brought.
    #[cfg(feature = "system-fonts")]
    pub fn add_file(&mut self, path: impl Into<String>, file: &std::fs::File) -> usize {
        let number = self.files.len() as u32;
        let faces = super::sieve::faces(file).into_iter().zip(0..);
        let records =
            faces.filter_map(|(face, index)| FaceRecord::read_face(&FontRef::new(&face?).ok()?, number, index));
        let records = records.collect();
        self.add_records(path.into(), records)
    }

    fn add_records(&mut self, path: String, records: Vec<(FaceRecord, CharSet)>) -> usize {
        let count = records.len();
        if count > 0 {
            self.files.push(path);
        }
        for (mut record, set) in records {
            let at = self.coverages.iter().position(|known| *known == set);
            record.coverage = at.unwrap_or(self.coverages.len()) as u32;
            if at.is_none() {
                self.coverages.push(set);
            }
            self.faces.push(record);
        }
        count
    }

    /// Whether a face has a glyph for the character.
    pub fn covers(&self, face: &FaceRecord, c: char) -> bool {
        self.coverages.get(face.coverage as usize).is_some_and(|set| set.contains(c))
    }
}
