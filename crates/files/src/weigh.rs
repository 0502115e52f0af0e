//! What a folder that guests fill takes on disk.
//!
//! Whoever fills it may want it to look small: with folders that cannot be listed, nested deeper than anybody walks, or by
//! the million. So a weight says what could not be counted, and whoever holds it against a limit must take that for too
//! much, never for nothing. A file with many names counts once.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, openat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Levels that are walked; each holds a descriptor. Programs nest a tenth of it.
const MAX_DEPTH: usize = 256;

/// After so many entries the caller is asked whether to go on.
const BREATH: u64 = 512;

/// Why a weight is less than the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncounted {
    /// A folder cannot be read, not even by its owner.
    Unreadable,
    /// Folders are nested deeper than is walked.
    TooDeep,
    /// There are more entries than may be.
    TooMany,
}

impl std::fmt::Display for Uncounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "a folder in it cannot be read",
            Self::TooDeep => "folders in it are nested too deep",
            Self::TooMany => "too many files are in it",
        })
    }
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Weight {
    /// On disk, not as long as files claim to be.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
    /// Set where there is more than was counted.
    pub uncounted: Option<Uncounted>,
    /// Something was not where it had just been seen: it was removed, or moved to where nobody looked any more.
    pub shifted: bool,
}

impl Weight {
    /// The bytes, or more than any limit where not all could be counted.
    pub fn at_least(&self) -> u64 {
        if self.uncounted.is_some() { u64::MAX } else { self.bytes }
    }
}

/// Files and folders that a folder with this limit may hold: as many as it has blocks, and enough for a small one. Inodes
/// are the machine's: one folder must not take them all.
pub fn most_entries(limit_bytes: u64) -> u64 {
    (limit_bytes / 4096).max(20_000)
}

/// One folder that is being walked.
struct Level {
    entries: Dir,
    mode: Mode,
    /// Opened by us for as long as we walk it: its owner had closed it.
    lent: bool,
}

/// Weighs what is below an opened folder. `go_on` is asked now and then: a large folder takes a while. Where it says no, the
/// weight is what was counted until then.
pub fn weigh(root: &OwnedFd, max_entries: u64, mut go_on: impl FnMut() -> bool) -> Weight {
    let (mut weight, mut seen) = (Weight::default(), HashSet::new());
    let mut levels = Vec::new();
    match rustix::fs::fstat(root).and_then(|stat| Level::open(root.as_fd(), c".", Mode::from_raw_mode(stat.st_mode))) {
        Ok(level) => levels.push(level),
        Err(_) => weight.uncounted = Some(Uncounted::Unreadable),
    }
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        let Some(entry) = level.entries.read() else {
            drop(levels.pop());
            continue;
        };
        let Ok(entry) = entry else {
            weight.uncounted = Some(Uncounted::Unreadable);
            drop(levels.pop());
            continue;
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        weight.entries += 1;
        if weight.entries > max_entries {
            weight.uncounted = Some(Uncounted::TooMany);
            return weight;
        }
        if weight.entries.is_multiple_of(BREATH) && !go_on() {
            return weight;
        }
        let stat = match level.stat(name) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                weight.shifted = true;
                continue;
            }
            Err(_) => {
                weight.uncounted = Some(Uncounted::Unreadable);
                continue;
            }
        };
        let folder = FileType::from_raw_mode(stat.st_mode).is_dir();
        if folder || stat.st_nlink == 1 || seen.insert(stat.st_ino) {
            weight.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        }
        if !folder {
            continue;
        }
        if depth >= MAX_DEPTH {
            weight.uncounted = Some(Uncounted::TooDeep);
            continue;
        }
        let opened = level.entries.fd().and_then(|folder| Level::open(folder, name, Mode::from_raw_mode(stat.st_mode)));
        match opened {
            Ok(inner) => levels.push(inner),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => weight.shifted = true,
            Err(Errno::MFILE | Errno::NFILE) => weight.uncounted = Some(Uncounted::TooDeep),
            Err(_) => weight.uncounted = Some(Uncounted::Unreadable),
        }
    }
    weight
}

impl Level {
    fn open(parent: BorrowedFd<'_>, name: &std::ffi::CStr, mode: Mode) -> rustix::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (folder, lent) = match openat(parent, name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                let path = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let closed = openat(parent, name, path, Mode::empty())?;
                lend(closed.as_fd(), mode)?;
                (openat(CWD, by_number(closed.as_fd()), flags.difference(OFlags::NOFOLLOW), Mode::empty())?, true)
            }
            other => (other?, false),
        };
        // Not anew by its name: a folder that is not to be searched does not even know itself.
        Ok(Self { entries: Dir::new(folder)?, mode, lent })
    }

    /// What an entry is; a folder that can be listed but not searched is opened for it.
    fn stat(&mut self, name: &std::ffi::CStr) -> rustix::io::Result<rustix::fs::Stat> {
        let folder = self.entries.fd()?;
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::ACCESS) if !self.lent => {
                lend(folder, self.mode)?;
                let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
                self.lent = true;
                stat
            }
            other => other,
        }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        if let (true, Ok(folder)) = (self.lent, self.entries.fd()) {
            let _ = chmodat(CWD, by_number(folder), self.mode & PERMISSIONS, AtFlags::empty());
        }
    }
}

const PERMISSIONS: Mode = Mode::from_raw_mode(0o7777);

/// Opens a folder to its owner, whose process this is. By its handle: nobody can swap what it names.
fn lend(folder: BorrowedFd<'_>, mode: Mode) -> rustix::io::Result<()> {
    chmodat(CWD, by_number(folder), (mode & PERMISSIONS) | Mode::RUSR | Mode::XUSR, AtFlags::empty())
}

fn by_number(folder: BorrowedFd<'_>) -> CString {
    CString::new(format!("/proc/self/fd/{}", folder.as_raw_fd())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn of(path: &std::path::Path, max_entries: u64) -> Weight {
        weigh(&std::fs::File::open(path).unwrap().into(), max_entries, || true)
    }

    #[test]
    fn what_is_there_is_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/c"), vec![1; 1 << 20]).unwrap();
        for name in ["x", "y", "z"] {
            std::fs::hard_link(dir.path().join("a/b/c"), dir.path().join(name)).unwrap();
        }
        symlink("/usr", dir.path().join("link")).unwrap();
        let weight = of(dir.path(), 100);
        assert!((1 << 20..2 << 20).contains(&weight.bytes), "{weight:?}");
        assert_eq!((weight.entries, weight.uncounted), (7, None));
        assert_eq!(of(dir.path(), 6).uncounted, Some(Uncounted::TooMany));
        assert_eq!(of(dir.path(), 6).at_least(), u64::MAX);
    }

    #[test]
    fn closed_folders_are_counted_and_closed_again() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o333, 0o444, 0o000] {
            let closed = dir.path().join(format!("{mode:o}"));
            std::fs::create_dir_all(closed.join("in")).unwrap();
            std::fs::write(closed.join("in/f"), vec![1; 1 << 20]).unwrap();
            std::fs::set_permissions(&closed, PermissionsExt::from_mode(mode)).unwrap();
        }
        let weight = of(dir.path(), 100);
        for mode in [0o333, 0o444, 0o000] {
            let closed = dir.path().join(format!("{mode:o}"));
            assert_eq!(closed.metadata().unwrap().permissions().mode() & 0o777, mode);
            std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).unwrap();
        }
        assert!(weight.bytes >= 3 << 20 && weight.uncounted.is_none(), "{weight:?}");
    }

    #[test]
    fn too_deep_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut at: OwnedFd = std::fs::File::open(dir.path()).unwrap().into();
        for _ in 0..MAX_DEPTH + 5 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", OFlags::RDONLY, Mode::empty()).unwrap();
        }
        assert_eq!(of(dir.path(), 10_000).uncounted, Some(Uncounted::TooDeep));
    }
}
