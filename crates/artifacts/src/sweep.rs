//! Clears away what a stop left behind, once, when a store is opened.
//!
//! Two things only, both named by us and both old: drafts, and metadata whose picture never came. A picture without
//! metadata stays: nothing in this crate leaves one, so it is somebody's.

use std::io;
use std::time::{Duration, SystemTime};

use crate::folder::StoreFolder;
use crate::name::{ArtifactKind, ArtifactName, Entry};

/// No write takes an hour; whatever is older belongs to a process that is gone.
pub(crate) const STALE_AFTER: Duration = Duration::from_secs(3600);

/// Removes stale files as of `now`.
pub(crate) fn sweep(folder: &StoreFolder, now: SystemTime) -> io::Result<()> {
    for name in folder.names()? {
        let left_behind = match Entry::parse(&name) {
            Some(Entry::Draft) => true,
            Some(Entry::Meta(id)) => {
                let picture = ArtifactName { id, kind: ArtifactKind::Picture };
                folder.stat(&picture.to_string())?.is_none()
            }
            Some(Entry::Data(_)) | None => false,
        };
        let stale = |modified| now.duration_since(modified).is_ok_and(|age| age > STALE_AFTER);
        if left_behind && folder.stat(&name)?.is_some_and(|file| stale(file.modified)) {
            folder.remove(&name)?;
        }
    }
    Ok(())
}
