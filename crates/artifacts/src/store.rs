//! The store itself: save, list, read, delete.
//!
//! The order of a picture's save: both files are written whole under temporary names; then the metadata gets its
//! name, then the picture. The picture's name is the one that others hold, so its rename is the moment from which
//! the artifact exists; a stop before it leaves at most metadata that nobody shows and `sweep` removes. Deleting goes
//! the other way: the picture first.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use cove_core::{ArtifactId, ArtifactRef};
use cove_workspace::Draft;
use serde_json::Value;

use crate::error::ArtifactError;
use crate::folder::{Plain, StoreFolder};
use crate::limits::StoreLimits;
use crate::meta::{Metadata, PictureMeta};
use crate::name::{ArtifactKind, ArtifactName, Entry, meta_name, random_id};
use crate::sweep::sweep;
use crate::tally::{Locked, Tally, Usage};

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A folder of artifacts.
#[derive(Debug)]
pub struct ArtifactStore {
    folder: StoreFolder,
    tally: Tally,
    limits: StoreLimits,
    #[cfg(test)]
    stop_after: Option<Step>,
}

/// A picture that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPicture {
    /// Its id.
    pub id: ArtifactId,
    /// `<uuid>.png`, as results name it.
    pub file_name: String,
}

/// One visible artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its file's name, and in it the id and the kind.
    pub name: ArtifactName,
    /// Bytes of the artifact itself.
    pub bytes: u64,
    /// When it was written.
    pub modified: SystemTime,
}

/// An artifact with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its file's name, and in it the id and the kind.
    pub name: ArtifactName,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// The points of a save at which a process can be stopped and something is different on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    MetaWritten,
    DataWritten,
    MetaPublished,
    DataPublished,
}

impl ArtifactStore {
    /// Opens the folder (and makes it if need be), and clears away what stopped processes left in it.
    pub fn open(dir: impl AsRef<Path>, limits: StoreLimits) -> Result<Self, ArtifactError> {
        let folder = StoreFolder::open(dir.as_ref())?;
        sweep(&folder, SystemTime::now())?;
        let tally = Tally::open(&folder)?;
        Ok(Self {
            folder,
            tally,
            limits,
            #[cfg(test)]
            stop_after: None,
        })
    }

    /// Keeps a picture. When this returns, both files are on the disk.
    pub fn save_picture(&self, png: &[u8], meta: PictureMeta) -> Result<SavedPicture, ArtifactError> {
        if !png.starts_with(PNG_SIGNATURE) {
            return Err(ArtifactError::NotPng);
        }
        let name = ArtifactName { id: random_id()?, kind: ArtifactKind::Picture };
        let metadata = Metadata::new(name.id, meta, jiff::Timestamp::now());
        let meta = serde_json::to_vec_pretty(&metadata).map_err(|error| ArtifactError::NotJson(error.to_string()))?;
        if meta.len() as u64 > StoreLimits::MAX_META_BYTES {
            return Err(ArtifactError::MetaTooLarge {
                bytes: meta.len() as u64,
                max_bytes: StoreLimits::MAX_META_BYTES,
            });
        }
        self.save(name, png, Some(&meta))?;
        Ok(SavedPicture { id: name.id, file_name: name.to_string() })
    }

    /// Keeps a JSON value.
    pub fn save_json(&self, value: &Value) -> Result<ArtifactRef, ArtifactError> {
        let bytes = serde_json::to_vec(value).map_err(|error| ArtifactError::NotJson(error.to_string()))?;
        let name = ArtifactName { id: random_id()?, kind: ArtifactKind::Json };
        self.save(name, &bytes, None)?;
        Ok(ArtifactRef(name.id))
    }

    /// The visible artifacts, the oldest first.
    pub fn list(&self) -> Result<Vec<Listed>, ArtifactError> {
        let mut listed = self.survey()?.0;
        listed.sort_by_key(|artifact| (artifact.modified, artifact.name));
        Ok(listed)
    }

    /// One artifact, all of it. A later `delete` does not change what was read.
    pub fn read(&self, id: ArtifactId) -> Result<Artifact, ArtifactError> {
        for kind in [ArtifactKind::Picture, ArtifactKind::Json] {
            let name = ArtifactName { id, kind };
            if let Some((file, plain)) = self.folder.open_file(&name.to_string())?
                && self.has_meta(name)?
            {
                let bytes = self.read_whole(id, file, plain, self.limits.max_artifact_bytes)?;
                return Ok(Artifact { name, bytes });
            }
        }
        Err(ArtifactError::NotFound { id })
    }

    /// The metadata of a picture. JSON artifacts have none and are not found here.
    pub fn meta(&self, id: ArtifactId) -> Result<Metadata, ArtifactError> {
        let picture = ArtifactName { id, kind: ArtifactKind::Picture };
        if self.folder.stat(&picture.to_string())?.is_some()
            && let Some((file, plain)) = self.folder.open_file(&meta_name(id))?
        {
            let bytes = self.read_whole(id, file, plain, StoreLimits::MAX_META_BYTES)?;
            return serde_json::from_slice(&bytes)
                .map_err(|error| ArtifactError::Damaged { id, reason: error.to_string() });
        }
        Err(ArtifactError::NotFound { id })
    }

    /// Removes an artifact. Half an artifact that a stop left behind goes too, though it is not found.
    pub fn delete(&self, id: ArtifactId) -> Result<(), ArtifactError> {
        let mut locked = self.tally.lock(|| self.count())?;
        let names = [ArtifactKind::Picture, ArtifactKind::Json].map(|kind| ArtifactName { id, kind });
        let mut after = locked.usage();
        let mut found = false;
        for name in names {
            if let Some(plain) = self.folder.stat(&name.to_string())? {
                after.bytes = after.bytes.saturating_sub(plain.bytes);
                if self.has_meta(name)? {
                    found = true;
                    after.count = after.count.saturating_sub(1);
                }
            }
        }
        if let Some(plain) = self.folder.stat(&meta_name(id))? {
            after.bytes = after.bytes.saturating_sub(plain.bytes);
        }
        locked.change(after, || {
            for name in names {
                self.folder.remove(&name.to_string())?;
            }
            self.folder.remove(&meta_name(id))
        })?;
        drop(locked);
        self.folder.sync()?;
        if found { Ok(()) } else { Err(ArtifactError::NotFound { id }) }
    }

    fn save(&self, name: ArtifactName, data: &[u8], meta: Option<&[u8]>) -> Result<(), ArtifactError> {
        let bytes = data.len() as u64;
        if bytes > self.limits.max_artifact_bytes {
            return Err(ArtifactError::TooLarge { bytes, max_bytes: self.limits.max_artifact_bytes });
        }
        let all_bytes = bytes + meta.map_or(0, |meta| meta.len() as u64);
        // Asked twice: before, so that a full store does not write first and refuse then; after, because it counts.
        self.room(&mut self.tally.lock(|| self.count())?, all_bytes)?;

        let mut drafts = [None, None];
        if let Some(meta) = meta {
            drafts[0] = Some(self.folder.draft(meta)?);
        }
        self.pass(Step::MetaWritten, &mut drafts)?;
        drafts[1] = Some(self.folder.draft(data)?);
        self.pass(Step::DataWritten, &mut drafts)?;

        let mut locked = self.tally.lock(|| self.count())?;
        let after = self.room(&mut locked, all_bytes)?;
        locked.change(after, || {
            if let Some(meta) = drafts[0].take() {
                self.folder.publish(meta, &meta_name(name.id))?;
            }
            self.pass(Step::MetaPublished, &mut drafts)?;
            if let Some(data) = drafts[1].take()
                && let Err(error) = self.folder.publish(data, &name.to_string())
            {
                let _ = self.folder.remove(&meta_name(name.id));
                return Err(error);
            }
            Ok(())
        })?;
        drop(locked);
        self.pass(Step::DataPublished, &mut drafts)?;
        Ok(self.folder.sync()?)
    }

    /// What the store would hold with this artifact, if it may.
    fn room(&self, locked: &mut Locked<'_>, bytes: u64) -> Result<Usage, ArtifactError> {
        let with = |usage: Usage| Usage { count: usage.count + 1, bytes: usage.bytes.saturating_add(bytes) };
        let fits = |after: Usage| after.count <= self.limits.max_count && after.bytes <= self.limits.max_total_bytes;
        if !fits(with(locked.usage())) {
            // Somebody may have removed files by hand: a refusal is worth a fresh count.
            locked.recount(self.count()?);
        }
        let after = with(locked.usage());
        if fits(after) {
            return Ok(after);
        }
        let StoreLimits { max_count, max_total_bytes, .. } = self.limits;
        let reason = if after.count > max_count {
            format!("it holds {} artifacts; the limit is {max_count}", after.count - 1)
        } else {
            format!("with this artifact it would hold {} bytes; the limit is {max_total_bytes}", after.bytes)
        };
        Err(ArtifactError::Full { reason })
    }

    fn count(&self) -> io::Result<Usage> {
        let (listed, bytes) = self.survey()?;
        Ok(Usage { count: listed.len() as u64, bytes })
    }

    /// The visible artifacts, and the bytes of everything under our names, visible or not.
    fn survey(&self) -> io::Result<(Vec<Listed>, u64)> {
        let mut metas = BTreeMap::new();
        let mut data = Vec::new();
        for name in self.folder.names()? {
            let entry = Entry::parse(&name);
            if matches!(entry, None | Some(Entry::Draft)) {
                continue;
            }
            match (entry, self.folder.stat(&name)?) {
                (Some(Entry::Meta(id)), Some(plain)) => drop(metas.insert(id, plain.bytes)),
                (Some(Entry::Data(name)), Some(Plain { bytes, modified })) => {
                    data.push(Listed { name, bytes, modified });
                }
                _ => {}
            }
        }
        let bytes = data.iter().map(|listed| listed.bytes).chain(metas.values().copied()).sum();
        data.retain(|listed| listed.name.kind == ArtifactKind::Json || metas.contains_key(&listed.name.id));
        Ok((data, bytes))
    }

    fn has_meta(&self, name: ArtifactName) -> io::Result<bool> {
        Ok(name.kind == ArtifactKind::Json || self.folder.stat(&meta_name(name.id))?.is_some())
    }

    fn read_whole(
        &self,
        id: ArtifactId,
        file: impl Read,
        plain: Plain,
        max_bytes: u64,
    ) -> Result<Vec<u8>, ArtifactError> {
        if plain.bytes > max_bytes {
            return Err(ArtifactError::TooLarge { bytes: plain.bytes, max_bytes });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(plain.bytes).unwrap_or(0));
        file.take(plain.bytes).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == plain.bytes {
            Ok(bytes)
        } else {
            Err(ArtifactError::Damaged { id, reason: "the file shrank while it was read".to_owned() })
        }
    }

    /// Where a test stops the process.
    #[cfg_attr(not(test), expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "tests stop here"))]
    fn pass(&self, step: Step, drafts: &mut [Option<Draft<'_>>; 2]) -> io::Result<()> {
        #[cfg(test)]
        if self.stop_after == Some(step) {
            // What a killed process does: it leaves everything as it is.
            drafts.iter_mut().for_each(|draft| std::mem::forget(draft.take()));
            return Err(io::Error::other("stopped"));
        }
        let _ = (step, drafts);
        Ok(())
    }
}

#[cfg(test)]
#[path = "stops.rs"]
mod stops;
