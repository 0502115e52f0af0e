//! Cargos as folders: made, weighed, removed.
//!
//! What is in them is a guest's: it is never opened, only weighed and unlinked, by folders that are already open.
//! Every driver whose containers are on this machine keeps its cargos here.

mod image;

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cove_config::{DiskLimit, make_private};
use cove_core::CargoId;
use cove_files::{Pace, Weight, most_entries, outgrown, weigh};
use rustix::fs::{Mode, OFlags};

use crate::{CargoLimit, CargoStore, DriverError, DriverFuture};

pub(crate) use image::image_bytes;

/// Said where a profile wants a hard limit for a cargo that was made without one.
const NOT_HARD: &str = "the profile has `disk: hard`, and this cargo was made without a hard limit: create the sandbox \
                        without `cargo_id`, and copy the files";

const TRASH: &str = ".trash-";

/// What the folder of a cargo's browser begins with.
const BROWSER: &str = ".browser-";

/// Whose cargos these are.
const SIGN: &str = ".records";

pub(crate) const FOLDER: OFlags = cove_workspace::FOLDER.union(OFlags::NOFOLLOW);

/// The folder of all cargos.
#[derive(Debug, Clone)]
pub(crate) struct Cargos {
    root: PathBuf,
    /// Whether the records of this Bay are those of the folder.
    known: bool,
    /// Cargos with a hard limit that were mounted here.
    mounted: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Cargos {
    /// Opens the folder and signs it with the records that know its cargos. Whoever comes with other records (another
    /// database on the same folder) uses it too, but must not take what he does not know for an orphan.
    pub(crate) fn open(root: &Path, records: u64) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        make_private(root)?;
        let (sign, path) = (format!("{records:016x}"), root.join(SIGN));
        let known = match fs::read_to_string(&path) {
            Ok(found) => found == sign,
            Err(_) => fs::write(&path, &sign).is_ok(),
        };
        if !known {
            tracing::warn!(root = %root.display(), "these cargos belong to another database: cargos without a record are not deleted");
        }
        Ok(Self { root: root.canonicalize()?, known, mounted: Arc::default() })
    }

    /// Where a cargo is.
    pub(crate) fn path(&self, id: &CargoId) -> PathBuf {
        self.root.join(id.as_str())
    }

    /// Where its browser's state is: beside the cargo, where no guest comes. It goes with the cargo and counts with it.
    pub(crate) fn browser_path(&self, id: &CargoId) -> PathBuf {
        self.root.join(format!("{BROWSER}{id}"))
    }

    /// Makes a cargo; fine where it is there already and is kept as wished.
    fn make(&self, id: &CargoId, limit: CargoLimit) -> io::Result<()> {
        let (path, image) = (self.path(id), image::image_path(&self.root, id));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return match (image.exists(), limit) {
                    (true, _) => self.mount(&image, &path),
                    (false, CargoLimit::Watched { .. }) => Ok(()),
                    (false, CargoLimit::Hard { .. }) => Err(io::Error::other(NOT_HARD)),
                };
            }
            Err(error) => return Err(error),
        }
        if let CargoLimit::Hard { bytes } = limit {
            if let Err(error) = image::make(&image, &path, bytes) {
                let _ = fs::remove_dir(&path);
                return Err(error);
            }
            self.note_mounted(&path);
        }
        // There from the first day: where it is missing, Gull would look for what an older Cove kept in the workspace.
        DirBuilder::new().mode(0o700).recursive(true).create(self.browser_path(id))?;
        cove_cell::adopt_cargo(&path).map_err(io::Error::other)?;
        Ok(())
    }

    fn mount(&self, image: &Path, folder: &Path) -> io::Result<()> {
        image::mount(image, folder)?;
        self.note_mounted(folder);
        Ok(())
    }

    fn note_mounted(&self, folder: &Path) {
        self.mounted.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    }

    /// Unmounts what was mounted here and is not in use any more.
    pub(crate) fn close(&self) {
        for folder in std::mem::take(&mut *self.mounted.lock().unwrap_or_else(PoisonError::into_inner)) {
            if let Err(error) = image::unmount_if_free(&folder) {
                tracing::warn!(%error, "a cargo with a hard limit stays mounted");
            }
        }
    }

    /// Out of sight at once, then gone; what a kill leaves of it, the next sweep takes.
    fn remove(&self, id: &CargoId) -> io::Result<()> {
        let path = self.path(id);
        let image = image::image_path(&self.root, id);
        if image.exists() {
            self.mounted.lock().unwrap_or_else(PoisonError::into_inner).remove(&path);
            image::remove(&image, &path)?;
        }
        // The browser's state first: without its cargo nobody would look for it.
        self.put_away(&format!("{BROWSER}{id}"))?;
        self.put_away(id.as_str())
    }

    fn put_away(&self, name: &str) -> io::Result<()> {
        let trash = self.root.join(format!("{TRASH}{name}"));
        match fs::rename(self.root.join(name), &trash) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // An older folder of that name is still being removed; beside it, then.
            Err(_) => return remove_tree(&self.root, name),
        }
        remove_tree(&self.root, &format!("{TRASH}{name}"))
    }

    /// Moves all of them into a folder of their own, which is no cargo.
    fn move_aside(&self, stamp: i64) -> io::Result<PathBuf> {
        let aside = self.root.join(format!(".lost-{stamp}"));
        DirBuilder::new().mode(0o700).create(&aside)?;
        for (name, _) in self.found()? {
            fs::rename(self.path(&name), aside.join(name.as_str()))?;
        }
        Ok(aside)
    }

    pub(crate) fn clear_trash(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(TRASH) {
                let _ = remove_tree(&self.root, name);
            } else if image::is_draft(name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// What it takes on disk with its browser's state, and whether all of it could be counted.
    fn weigh(&self, id: &CargoId, limit_bytes: u64) -> io::Result<Weight> {
        let own = weigh(&self.folder(id)?, most_entries(limit_bytes), || true);
        let Ok(browser) = rustix::fs::open(self.browser_path(id), FOLDER, Mode::empty()) else { return Ok(own) };
        let browser = weigh(&browser, most_entries(limit_bytes), || true);
        Ok(Weight {
            bytes: own.bytes + browser.bytes,
            entries: own.entries + browser.entries,
            uncounted: own.uncounted.or(browser.uncounted),
            shifted: own.shifted || browser.shifted,
        })
    }

    /// The cargo itself, opened.
    fn folder(&self, id: &CargoId) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(self.path(id), FOLDER, Mode::empty())?)
    }

    /// All cargos that could be orphans, with how many seconds ago each last changed.
    fn found(&self) -> io::Result<Vec<(CargoId, u64)>> {
        let mut found = Vec::new();
        if !self.known {
            return Ok(found);
        }
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name().into_string().ok();
            if let Some(id) = name.and_then(|name| name.parse().ok()) {
                let changed = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                let age = SystemTime::now().duration_since(changed).unwrap_or_default();
                found.push((id, age.as_secs()));
            }
        }
        Ok(found)
    }
}

/// The same from where nobody may wait for a disk.
impl CargoStore for Cargos {
    fn backend(&self, disk: DiskLimit) -> &'static str {
        match disk {
            DiskLimit::Watched => "local+watch",
            DiskLimit::Hard => "local+image",
        }
    }

    fn no_hard_limit(&self) -> Option<&'static str> {
        image::obstacle()
    }

    fn prepare(&self, id: &CargoId, limit: CargoLimit) -> DriverFuture<'_, Result<(), DriverError>> {
        let (cargos, id) = (self.clone(), id.clone());
        Box::pin(on_disk(move || cargos.make(&id, limit)))
    }

    fn delete(&self, id: &CargoId) -> DriverFuture<'_, Result<(), DriverError>> {
        let (cargos, id) = (self.clone(), id.clone());
        Box::pin(on_disk(move || cargos.remove(&id)))
    }

    fn weight(&self, id: &CargoId, limit_bytes: u64) -> DriverFuture<'_, Result<Weight, DriverError>> {
        let (cargos, id) = (self.clone(), id.clone());
        Box::pin(on_disk(move || cargos.weigh(&id, limit_bytes)))
    }

    fn list(&self) -> DriverFuture<'_, Result<Vec<(CargoId, u64)>, DriverError>> {
        let cargos = self.clone();
        Box::pin(on_disk(move || cargos.found()))
    }

    fn set_aside(&self, stamp: i64) -> DriverFuture<'_, Result<String, DriverError>> {
        let cargos = self.clone();
        Box::pin(on_disk(move || Ok(cargos.move_aside(stamp)?.display().to_string())))
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn is_known(&self) -> bool {
        self.known
    }
}

/// Does what may wait for a disk.
pub(crate) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, DriverError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(DriverError::from),
        Err(error) => Err(DriverError::other(error.to_string())),
    }
}

/// Comes back when a cargo is over its limit and still grows.
pub(crate) async fn overgrown(cargos: &Cargos, id: &CargoId, limit_bytes: u64) {
    let Ok(pace) = cargos.folder(id).map(|folder| Pace::new(folder, limit_bytes)) else { return };
    let (cargos, id) = (cargos.clone(), id.clone());
    // A cargo that cannot be looked at is one that may hold anything.
    outgrown(pace, limit_bytes, move || cargos.weigh(&id, limit_bytes).map_or(u64::MAX, |weight| weight.at_least()))
        .await;
}

fn remove_tree(root: &Path, name: &str) -> io::Result<()> {
    let root = rustix::fs::open(root, FOLDER, Mode::empty())?;
    Ok(cove_workspace::remove_tree(&root, name)?)
}

#[cfg(test)]
mod tests {
    use cove_core::PrefixedId as _;

    use super::*;

    #[test]
    fn a_cargo_is_made_weighed_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let cargos = Cargos::open(root.path(), 1).unwrap();
        let id = &CargoId::from_random([7; 6]);
        cargos.make(id, CargoLimit::Watched { bytes: 1 << 30 }).unwrap();
        cargos.make(id, CargoLimit::Watched { bytes: 1 << 30 }).unwrap();
        let path = cargos.path(id);
        fs::write(path.join("a"), vec![1; 1 << 20]).unwrap();
        fs::write(cargos.browser_path(id).join("b"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink("/usr", path.join("link")).unwrap();
        let mut deep = path;
        for _ in 0..200 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        let weight = cargos.weigh(id, 1 << 30).unwrap();
        assert!((2 << 20..5 << 20).contains(&weight.bytes) && weight.uncounted.is_none(), "{weight:?}");
        assert_eq!(cargos.found().unwrap().len(), 1);
        cargos.remove(id).unwrap();
        cargos.remove(id).unwrap();
        let left: Vec<_> = fs::read_dir(root.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [SIGN]);
        // Under other records nothing here is anybody's orphan.
        cargos.make(id, CargoLimit::Watched { bytes: 1 << 30 }).unwrap();
        assert_eq!(Cargos::open(root.path(), 2).unwrap().found().unwrap(), []);
        assert_eq!(Cargos::open(root.path(), 1).unwrap().found().unwrap().len(), 1);
        assert!(Path::new("/usr").exists());
    }
}
