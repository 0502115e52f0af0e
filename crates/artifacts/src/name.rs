//! Names of files in the store: an id and a kind, nothing else can be written or read.
//!
//! Whoever gets a name from outside (a URL, a model) parses it here; `../x` or an upper-case UUID is not a name.

use std::fmt;
use std::io;
use std::str::FromStr;

use cove_core::{ArtifactId, IdError};
use serde::{Deserialize, Serialize};

/// What an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactKind {
    /// A PNG with metadata beside it.
    Picture,
    /// A JSON value.
    Json,
}

impl ArtifactKind {
    /// With its dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Picture => ".png",
            Self::Json => ".json",
        }
    }

    /// The type that a web server sends it as.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Picture => "image/png",
            Self::Json => "application/json",
        }
    }
}

/// The name of an artifact's file: `<uuid>.png` or `<uuid>.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactName {
    /// Which artifact.
    pub id: ArtifactId,
    /// Which kind.
    pub kind: ArtifactKind,
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.id, self.kind.extension())
    }
}

impl FromStr for ArtifactName {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let name = |kind: ArtifactKind| Some((text.strip_suffix(kind.extension())?, kind));
        let (id, kind) = name(ArtifactKind::Picture).or_else(|| name(ArtifactKind::Json)).ok_or(IdError::Uuid)?;
        Ok(Self { id: id.parse()?, kind })
    }
}

/// Every file that this store may find in its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An artifact's own bytes.
    Data(ArtifactName),
    /// The metadata of a picture.
    Meta(ArtifactId),
    /// Not finished, or left behind by a stop.
    Draft,
}

impl Entry {
    /// What a name in the folder means; `None` when the file is not ours.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(id) = name.strip_suffix(".meta") {
            return id.parse().ok().map(Self::Meta);
        }
        if cove_workspace::is_draft(name.as_bytes()) || is_older_draft(name) {
            return Some(Self::Draft);
        }
        name.parse().ok().map(Self::Data)
    }
}

/// Whether a name is a draft's as Cove named them before all drafts had the same names.
fn is_older_draft(name: &str) -> bool {
    let id = name.strip_prefix(".cove-").and_then(|rest| rest.strip_suffix(".draft"));
    id.is_some_and(|id| id.parse::<ArtifactId>().is_ok())
}

pub(crate) fn meta_name(id: ArtifactId) -> String {
    format!("{id}.meta")
}

/// An id out of the system's randomness.
pub(crate) fn random_id() -> io::Result<ArtifactId> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    Ok(ArtifactId::from_random(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "a1b2c3d4-e5f6-4890-abcd-ef1234567890";

    #[test]
    fn names_have_one_spelling() {
        for good in [format!("{ID}.png"), format!("{ID}.json")] {
            assert_eq!(good.parse::<ArtifactName>().unwrap().to_string(), good);
        }
        for near in [
            String::new(),
            ".png".to_owned(),
            ID.to_owned(),
            format!("{ID}.PNG"),
            format!("{ID}.meta"),
            format!("{ID}.png.json"),
            format!("../{ID}.png"),
            format!("./{ID}.png"),
            format!("{ID}.png\0"),
            format!("{}.png", ID.to_uppercase()),
            "../../etc/passwd".to_owned(),
        ] {
            assert!(near.parse::<ArtifactName>().is_err(), "{near:?} was taken for a name");
        }
    }

    #[test]
    fn only_our_own_files_are_recognised() {
        let id: ArtifactId = ID.parse().unwrap();
        assert_eq!(Entry::parse(&meta_name(id)), Some(Entry::Meta(id)));
        assert_eq!(Entry::parse(&format!(".cove-{id}.draft")), Some(Entry::Draft));
        for foreign in [".cove-x.draft", ".cove-.draft", "x.meta", "notes.json", ".cove-artifacts.lock", ".", ".."] {
            assert_eq!(Entry::parse(foreign), None, "{foreign} was taken for ours");
        }
    }
}
