//! A file that is being written: it has a name of its own until it is whole, and goes away if it never is.

use std::io::{self, Write};

use cove_core::ArtifactId;

use crate::folder::Folder;
use crate::name::draft_name;

/// Whole and on the disk, but not under its name yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    folder: &'a Folder,
    name: Option<String>,
}

impl<'a> Draft<'a> {
    /// Writes the bytes under a temporary name and waits until they are on the disk.
    pub(crate) fn write(folder: &'a Folder, bytes: &[u8]) -> io::Result<Self> {
        let name = draft_name(random_id()?);
        let mut file = folder.create_new(&name)?;
        let draft = Self { folder, name: Some(name) };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// Gives the file its name. From here on readers see it, all of it.
    pub(crate) fn publish(&mut self, name: &str) -> io::Result<()> {
        if let Some(draft) = self.name.as_deref() {
            self.folder.rename(draft, name)?;
            self.name = None;
        }
        Ok(())
    }

    /// What a killed process does: leaves everything as it is.
    #[cfg(test)]
    pub(crate) fn abandon(&mut self) {
        self.name = None;
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nothing to be done about a failure here: the next `open` clears the file away.
            let _ = self.folder.remove(name);
        }
    }
}

/// An id out of the system's randomness.
pub(crate) fn random_id() -> io::Result<ArtifactId> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    Ok(ArtifactId::from_random(random))
}
