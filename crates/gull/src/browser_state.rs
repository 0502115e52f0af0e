//! Where the browser's state lies between two starts: its cookies, its profile, and a lock that one Gull at a time holds.
//!
//! Best outside of what guests can write ([`GullOptions::state_dir`]): then nobody can put anything in its way. Below the
//! workspace anything may be there instead of a folder; it is moved aside and told, for a sandbox that does not start
//! because of a file in it would be lost to its owner.
//!
//! [`GullOptions::state_dir`]: crate::GullOptions::state_dir

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use cove_workspace::{CopyRules, copy_tree, is_passable, open_lock, open_up, remove_tree};
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::cargo::Cargo;

/// Where it lies when nobody names another place, below the workspace.
pub(crate) const NAME: &str = ".browser";

/// The browser's profile, below the state.
const DATA: &str = "data";

/// The lock that a Gull and its browser hold, beside it.
const LOCK: &str = "lock";

/// A folder, and no link to one.
const FOLDER: OFlags = cove_workspace::FOLDER.union(OFlags::NOFOLLOW);

/// Things that are moved aside before giving up: the folder itself, and what we need in it.
const OBSTACLES: usize = 8;

/// The browser's state, held by one Gull at a time.
#[derive(Debug)]
pub(crate) struct BrowserState {
    /// The folder of the state.
    pub(crate) folder: Cargo,
    /// The profile, by its path and opened.
    pub(crate) data_path: PathBuf,
    pub(crate) data: OwnedFd,
    /// Whether guests cannot write there.
    pub(crate) is_private: bool,
    /// Whether the browser's user cannot get there by the path: it leads through a folder that is closed to him.
    pub(crate) is_shut: bool,
    _lock: File,
}

/// Where a state may lie.
pub(crate) struct Places<'a> {
    pub(crate) workspace: &'a Cargo,
    pub(crate) workspace_path: &'a Path,
    pub(crate) state_dir: Option<&'a Path>,
    /// Whom the browser runs as, where that is another.
    pub(crate) become_id: Option<u32>,
}

impl BrowserState {
    /// Makes the folder and takes it; refuses where another Gull has it. What had to be moved aside or was left behind is
    /// told in `notes`.
    pub(crate) fn take(places: &Places<'_>, notes: &mut Vec<String>) -> io::Result<Self> {
        let (root, path) = match places.state_dir {
            Some(path) => (private(path, places, notes)?, path.to_owned()),
            None => (in_workspace(places, notes)?, places.workspace_path.join(NAME)),
        };
        let aside = |name: &str, notes: &mut Vec<String>| {
            let shown = format!("{NAME}/{name}");
            move_aside(&root, name, &shown, notes)
        };
        let data = clear_way(notes, |notes| aside(DATA, notes), || folder_in(&root, DATA))?;
        for folder in [&root, &data] {
            File::from(folder.try_clone()?).set_permissions(Permissions::from_mode(0o700))?;
            if let Some(id) = places.become_id {
                fchown(folder, Some(id), Some(id))?;
            }
        }
        let open = || open_lock(&root, LOCK, 0o600);
        let lock = File::from(clear_way(notes, |notes| aside(LOCK, notes), open)?);
        lock.try_lock().map_err(|_| io::Error::other("another browser uses this workspace"))?;
        // Left by a browser that was killed; we hold the lock, so it is nobody's.
        for name in ["SingletonLock", "SingletonCookie", "SingletonSocket"] {
            let _ = unlinkat(&data, name, AtFlags::empty());
        }
        Ok(Self {
            folder: Cargo::from_folder(root)?,
            is_shut: places.become_id.is_some_and(|id| !is_passable(&path, id)),
            data_path: path.join(DATA),
            data,
            is_private: places.state_dir.is_some(),
            _lock: lock,
        })
    }

    /// Throws the profile away; cookies stay.
    pub(crate) fn forget_data(&self) {
        let entries = std::fs::read_dir(format!("/proc/self/fd/{}", self.data.as_raw_fd()));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_tree(&self.data, name.as_os_str())
            } else {
                unlinkat(&self.data, name.as_os_str(), AtFlags::empty())
            };
        }
    }
}

/// A folder where no guest comes. On its first day it takes over what an older Cove kept in the workspace.
fn private(path: &Path, places: &Places<'_>, notes: &mut Vec<String>) -> io::Result<OwnedFd> {
    let is_new = match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(error),
    };
    let root = rustix::fs::open(path, FOLDER, Mode::empty())?;
    if is_new
        && let Ok(old) = places.workspace.existing_folder(NAME)
        && let Err(error) = copy_tree(&old, &root, taken_over(places.become_id))
    {
        notes.push(format!("not all of the browser's earlier state could be taken over: {error}"));
    }
    Ok(root)
}

fn in_workspace(places: &Places<'_>, notes: &mut Vec<String>) -> io::Result<OwnedFd> {
    let root = places.workspace;
    clear_way(notes, |notes| move_aside(root, NAME, NAME, notes), || folder_in(root, NAME))
}

/// Opens a folder, made if need be, and opened up if its owner has shut it.
fn folder_in(parent: impl AsFd + Copy, name: &str) -> Result<OwnedFd, Errno> {
    match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => {
            rustix::fs::mkdirat(parent, name, Mode::RWXU)?;
            openat(parent, name, FOLDER, Mode::empty())
        }
        Err(Errno::ACCESS) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let shut = openat(parent, name, flags, Mode::empty())?;
            open_up(&shut, Mode::empty())?;
            openat(parent, name, FOLDER, Mode::empty())
        }
        other => other,
    }
}

/// What is taken over of the state that an older Cove kept in the workspace: a profile has four levels, some hundred files
/// and, without its cache, some megabytes.
fn taken_over(owner: Option<u32>) -> CopyRules {
    let leave_out = |name: &[u8]| name == LOCK.as_bytes() || name.starts_with(b"Singleton");
    CopyRules { max_depth: 16, max_entries: 10_000, max_bytes: 256 << 20, owner, leave_out }
}

/// Opens something, and moves aside what is in its way.
fn clear_way(
    notes: &mut Vec<String>,
    aside: impl Fn(&mut Vec<String>) -> io::Result<()>,
    open: impl Fn() -> Result<OwnedFd, Errno>,
) -> io::Result<OwnedFd> {
    for _ in 0..OBSTACLES {
        match open() {
            Ok(opened) => return Ok(opened),
            Err(Errno::NOSPC | Errno::DQUOT | Errno::ROFS | Errno::MFILE | Errno::NFILE | Errno::NOMEM) => break,
            Err(_) => aside(notes)?,
        }
    }
    Ok(open()?)
}

fn move_aside(parent: impl AsFd + Copy, name: &str, shown: &str, notes: &mut Vec<String>) -> io::Result<()> {
    let other = format!("{name}.moved-{}", crate::secret::hex(4)?);
    renameat(parent, name, parent, &other)?;
    notes.push(format!(
        "something was in the way of the browser's own files; it was moved from {shown} to {shown}{}",
        other.strip_prefix(name).unwrap_or_default()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Puts something in the way of the state.
    type Obstacle = fn(&Path);

    fn take(workspace: &Path, state_dir: Option<&Path>) -> (io::Result<BrowserState>, Vec<String>) {
        let cargo = Cargo::open(workspace).unwrap();
        let mut notes = Vec::new();
        let places = Places { workspace: &cargo, workspace_path: workspace, state_dir, become_id: None };
        (BrowserState::take(&places, &mut notes), notes)
    }

    /// Whatever a guest has put there, the folder is to be had, and what was there is not lost.
    #[test]
    fn nothing_is_in_the_way_for_good() {
        let put: [(&str, Obstacle); 9] = [
            ("a symlink", |place| symlink("/x", place.join(NAME)).unwrap()),
            ("a symlink to itself", |place| symlink(NAME, place.join(NAME)).unwrap()),
            ("a symlink to a folder", |place| symlink("/usr", place.join(NAME)).unwrap()),
            ("a file", |place| std::fs::write(place.join(NAME), "x").unwrap()),
            ("a pipe", |place| {
                rustix::fs::mknodat(rustix::fs::CWD, place.join(NAME), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
                    .unwrap();
            }),
            ("a shut folder", |place| DirBuilder::new().mode(0o000).create(place.join(NAME)).unwrap()),
            ("a symlink for the profile", |place| {
                std::fs::create_dir(place.join(NAME)).unwrap();
                symlink("/usr", place.join(NAME).join(DATA)).unwrap();
            }),
            ("a folder for the lock", |place| std::fs::create_dir_all(place.join(NAME).join("lock")).unwrap()),
            ("a symlink for the lock", |place| {
                std::fs::create_dir(place.join(NAME)).unwrap();
                symlink("/etc/passwd", place.join(NAME).join("lock")).unwrap();
            }),
        ];
        for (what, put) in put {
            let place = tempfile::tempdir().unwrap();
            put(place.path());
            let shut = what == "a shut folder";
            let (browser_state, notes) = take(place.path(), None);
            let browser_state = browser_state.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(notes.len(), usize::from(!shut), "{what}: {notes:?}");
            assert!(notes.iter().all(|note| !note.contains(place.path().to_str().unwrap())), "{notes:?}");
            assert!(browser_state.data_path.is_dir() && !browser_state.is_private, "{what}");
            let mode = std::fs::symlink_metadata(place.path().join(NAME)).unwrap().permissions().mode();
            assert_eq!(mode & 0o170_777, 0o040_700, "{what}");
            drop(browser_state);
            let (again, notes) = take(place.path(), None);
            assert!(again.is_ok() && notes.is_empty(), "{what}: {notes:?}");
        }
    }

    #[test]
    fn one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let (first, _) = take(place.path(), None);
        let first = first.unwrap();
        assert!(take(place.path(), None).0.unwrap_err().to_string().contains("another browser"));
        drop(first);
        assert!(take(place.path(), None).0.is_ok());
    }

    /// An older Cove kept its state in the workspace; plain files of it come along once, and nothing else ever.
    #[test]
    fn earlier_state_is_taken_over_once() {
        let place = tempfile::tempdir().unwrap();
        let (workspace, state) = (place.path().join("w"), place.path().join("s"));
        let old = workspace.join(NAME).join("data/Default/Local Storage");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(old.join("000003.log"), "kept").unwrap();
        std::fs::write(workspace.join(NAME).join("cookies.json"), "[]").unwrap();
        symlink("/etc/passwd", old.join("planted")).unwrap();
        std::fs::write(place.path().join("outside"), "s").unwrap();
        std::fs::hard_link(place.path().join("outside"), old.join("linked")).unwrap();
        let (browser_state, notes) = take(&workspace, Some(&state));
        assert!(browser_state.is_ok_and(|browser_state| browser_state.is_private) && notes.is_empty(), "{notes:?}");
        let new = state.join("data/Default/Local Storage");
        assert_eq!(std::fs::read_to_string(new.join("000003.log")).unwrap(), "kept");
        assert_eq!(std::fs::read_to_string(state.join("cookies.json")).unwrap(), "[]");
        assert!(!new.join("planted").exists() && !new.join("linked").exists());
        assert!(old.exists(), "the guest's own files are its own");
        // A second start looks at nothing there, whatever a guest has made of it.
        std::fs::write(old.join("late"), "x").unwrap();
        assert!(take(&workspace, Some(&state)).0.is_ok());
        assert!(!new.join("late").exists());
    }

    #[test]
    fn a_closed_folder_above_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let open = place.path().join("open/inner");
        std::fs::create_dir_all(&open).unwrap();
        let chmod = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        chmod(place.path(), 0o711);
        chmod(&place.path().join("open"), 0o711);
        assert!(is_passable(&open, 4_000_000));
        chmod(place.path(), 0o700);
        assert!(!is_passable(&open, 4_000_000));
        assert!(is_passable(&open, rustix::process::geteuid().as_raw()));
    }
}
