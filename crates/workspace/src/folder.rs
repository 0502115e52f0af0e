//! A folder, opened once; everything is reached from that handle and nothing above it can be.
//!
//! Where the kernel has `openat2`, it checks each step itself (`RESOLVE_BENEATH`), symlinks included, with no moment
//! between check and use. Where it has not (old kernels, strict filters), `step.rs` takes the steps one by one on
//! handles that are never given up for a name. So does writing through symlinks: a rename needs the last folder's handle.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, fchmod, fstat, openat, openat2, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use crate::draft::{Draft, Owner};
use crate::path::RelPath;
use crate::remove::remove_tree;
use crate::step::{self, Location, Make, Missing, StepOptions};
use crate::unreadable::{UNREADABLE, true_name};

/// `openat2` answers EAGAIN when a rename elsewhere made it unsure; after so many it is a storm, not an accident.
const MAX_RETRIES: usize = 128;

/// For reading, whatever it is: a FIFO does not block, a terminal does not become ours.
pub const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// For looking through a folder.
pub const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// For reaching what is below a folder.
pub(crate) const THROUGH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How paths are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolver {
    /// `openat2`, in the kernel.
    Kernel,
    /// One component at a time, for kernels without it.
    Steps,
}

/// An opened folder that cannot be left. It may be moved or replaced afterwards: it stays the folder it was.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    rules: Rules,
}

#[derive(Debug, Clone, Copy)]
struct Rules {
    resolver: Resolver,
    /// Whether symlinks are followed, as long as they stay inside.
    follow: bool,
    /// Whether it is opened again where its owner has closed it to himself.
    reopen: bool,
    make: Make,
}

impl Folder {
    /// Opens a folder that is there and finds out which resolver works here.
    pub fn open(dir: &Path) -> Result<Self, Errno> {
        rustix::fs::open(dir, THROUGH, Mode::empty()).map(Self::from_fd)
    }

    /// The same for one that is open already.
    #[expect(clippy::disallowed_methods, reason = "this file resolves paths")]
    pub fn from_fd(fd: OwnedFd) -> Self {
        let resolver = match openat2(&fd, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH) {
            Ok(_) => Resolver::Kernel,
            Err(_) => Resolver::Steps,
        };
        let make = Make { mode: Mode::from_raw_mode(0o777), owner: None };
        Self { fd, rules: Rules { resolver, follow: true, reopen: false, make } }
    }

    /// The same, with the way of resolving paths chosen by the caller instead of by what the kernel can do.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Resolver) -> Self {
        self.rules.resolver = resolver;
        self
    }

    /// The same, but no symlink is followed, wherever it leads. One that is a path's last name can be replaced.
    #[must_use]
    pub fn without_symlinks(mut self) -> Self {
        self.rules.follow = false;
        self
    }

    /// The same, but opened again whenever its owner, who is this process's user, has closed it to himself.
    #[must_use]
    pub fn reopening(mut self) -> Self {
        self.rules.reopen = true;
        self
    }

    /// The same, with these permissions for folders that are made on the way.
    #[must_use]
    pub fn with_folder_mode(mut self, mode: u32) -> Self {
        self.rules.make.mode = Mode::from_raw_mode(mode);
        self
    }

    /// The same, and what is made in it belongs to this user and group. Only root can give things away, and only root
    /// has to: for everybody else nothing changes.
    #[must_use]
    pub fn giving_to(mut self, uid: u32, gid: u32) -> Self {
        let owner: Owner = (Uid::from_raw(uid), Gid::from_raw(gid));
        self.rules.make.owner = rustix::process::geteuid().is_root().then_some(owner);
        self
    }

    /// A second handle with the same rules.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, rules: self.rules })
    }

    /// A folder below this one as a root of its own.
    pub fn folder(&self, path: &RelPath) -> Result<Self, Errno> {
        Ok(Self { fd: self.open_path(path, FOLDER)?, rules: self.rules })
    }

    /// Opens what is at the path.
    pub fn open_path(&self, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let text = path.as_str();
        match self.open_at(text.as_bytes(), flags, self.rules.follow) {
            Err(Errno::NOENT) if text.contains(UNREADABLE) => {
                self.open_at(&self.true_path(text)?, flags, self.rules.follow)
            }
            other => other,
        }
    }

    /// Opens a folder below this one on a way without any symlink; the bytes are names joined by `/`.
    pub fn open_folder(&self, below: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_at(below, FOLDER, false)
    }

    /// Opens a plain file; anything else is refused before a byte is read: `EISDIR` for a folder, `ENXIO` for the rest.
    pub fn open_file(&self, path: &RelPath, flags: OFlags) -> Result<(File, Stat), Errno> {
        let fd = self.open_path(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC)?;
        let stat = fstat(&fd)?;
        plain(&stat)?;
        Ok((File::from(fd), stat))
    }

    /// The folder that holds what the path names, and its name there, which may be a symlink's.
    pub fn place(&self, path: &RelPath, missing: Missing) -> Result<Location, Errno> {
        let Some((above, name)) = path.split() else {
            return Ok(Location { dir: self.open_path(path, THROUGH)?, name: None });
        };
        let named = |dir| Location { dir, name: Some(name.as_bytes().to_owned()) };
        match self.open_path(&path.found_as(above.to_owned()), THROUGH) {
            Err(Errno::NOENT) if missing == Missing::Create => self.steps(path, missing, false),
            opened => opened.map(named),
        }
    }

    /// The same once the symlink that the path's last name may be is followed, too: the name is no symlink's.
    pub fn place_followed(&self, path: &RelPath, missing: Missing) -> Result<Location, Errno> {
        self.steps(path, missing, true)
    }

    /// Begins a new file with these permissions.
    pub fn draft(&self, mode: u32) -> Result<Draft<'_>, Errno> {
        self.insist(|| Draft::create_for(self.fd.as_fd(), mode, self.rules.make.owner))
    }

    /// Begins a new file beside what it will replace.
    pub fn draft_at<'a>(&self, place: &'a Location, mode: u32) -> Result<Draft<'a>, Errno> {
        Draft::create_for(place.dir.as_fd(), mode, self.rules.make.owner)
    }

    /// Gives a draft its name; missing folders are made. A plain file of that name is replaced in one step and its
    /// permissions are kept, unless others are given. So is a symlink, whatever it leads to; a folder is `EISDIR`.
    pub fn publish(&self, draft: Draft<'_>, path: &RelPath, mode: Option<u32>) -> Result<(), Errno> {
        let place = self.place(path, Missing::Create)?;
        let name = place.name.as_deref().ok_or(Errno::ISDIR)?;
        let before = statat(&place.dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kept = match before.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_mode)) {
            Some((FileType::Directory, _)) => return Err(Errno::ISDIR),
            Some((FileType::RegularFile, mode)) => Some(mode),
            Some(_) | None => None,
        };
        if let Some(mode) = mode.or(kept) {
            fchmod(&draft, Mode::from_raw_mode(mode & 0o777))?;
        }
        draft.publish(&place.dir, name)
    }

    /// Removes a file, a link or a whole folder; not this one itself, which is `EBUSY`.
    pub fn remove(&self, path: &RelPath) -> Result<(), Errno> {
        let place = self.place(path, Missing::Refuse)?;
        let Some((_, name)) = path.split() else { return Err(Errno::BUSY) };
        let name = true_name(&place.dir, name);
        let is_folder = || {
            statat(&place.dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
        };
        self.insist(|| match unlinkat(&place.dir, name.as_slice(), AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) if is_folder() => remove_tree(&place.dir, name.as_slice()),
            other => other,
        })
    }

    /// Removes what is no folder (`EISDIR` for one), or a folder that is empty (`ENOTDIR`, `ENOTEMPTY`).
    pub fn remove_one(&self, path: &RelPath, folder: bool) -> Result<(), Errno> {
        let place = self.place(path, Missing::Refuse)?;
        let Some((_, name)) = path.split() else { return Err(Errno::BUSY) };
        let flags = if folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        self.insist(|| unlinkat(&place.dir, true_name(&place.dir, name), flags))
    }

    /// Gives a file, a link or a folder another name, in one step; a file of that name is replaced.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> Result<(), Errno> {
        let (Some((_, old)), Some((_, new))) = (from.split(), to.split()) else { return Err(Errno::BUSY) };
        let (source, target) = (self.place(from, Missing::Refuse)?, self.place(to, Missing::Refuse)?);
        let (old, new) = (true_name(&source.dir, old), true_name(&target.dir, new));
        self.insist(|| renameat(&source.dir, old.as_slice(), &target.dir, new.as_slice()))
    }

    /// Makes a folder; `EEXIST` where something has that name.
    pub fn make_folder(&self, path: &RelPath, missing: Missing) -> Result<(), Errno> {
        let place = self.place(path, missing)?;
        let name = place.name.as_deref().ok_or(Errno::EXIST)?;
        self.insist(|| self.rules.make.folder(place.dir.as_fd(), name))
    }

    /// What is at the path; of a symlink that is its last name where it leads, or the link itself.
    pub fn stat(&self, path: &RelPath, follow: bool) -> Result<Stat, Errno> {
        match path.split().filter(|_| !follow) {
            None => fstat(self.open_path(path, OFlags::PATH | OFlags::CLOEXEC)?),
            Some((_, name)) => {
                let place = self.place(path, Missing::Refuse)?;
                statat(&place.dir, true_name(&place.dir, name), AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    /// Waits until the names themselves are on the disk.
    pub fn sync(&self) -> Result<(), Errno> {
        match rustix::fs::fsync(openat(&self.fd, ".", FOLDER, Mode::empty())?) {
            // Some file systems cannot sync a folder; they have nothing to offer here.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            other => other,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this file resolves paths")]
    fn open_at(&self, below: &[u8], flags: OFlags, follow: bool) -> Result<OwnedFd, Errno> {
        let below = if below.is_empty() { b"." } else { below };
        self.insist(|| {
            if self.rules.resolver == Resolver::Kernel {
                let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                resolve.set(ResolveFlags::NO_SYMLINKS, !follow);
                for _ in 0..MAX_RETRIES {
                    match openat2(&self.fd, below, flags, Mode::empty(), resolve) {
                        Err(Errno::AGAIN | Errno::INTR) => {}
                        other => return other,
                    }
                }
            }
            self.open_by_steps(below, flags, follow)
        })
    }

    fn open_by_steps(&self, below: &[u8], flags: OFlags, follow: bool) -> Result<OwnedFd, Errno> {
        for _ in 0..MAX_RETRIES {
            let place = step::place(self.fd.as_fd(), below, StepOptions { follow, follow_last: true, make: None })?;
            let Some(name) = &place.name else {
                return openat(&place.dir, ".", flags, Mode::empty());
            };
            match openat(&place.dir, name.as_slice(), flags | OFlags::NOFOLLOW, Mode::empty()) {
                // It became a symlink since the last look.
                Err(Errno::LOOP) if follow => {}
                other => return other,
            }
        }
        Err(Errno::LOOP)
    }

    fn steps(&self, path: &RelPath, missing: Missing, follow_last: bool) -> Result<Location, Errno> {
        let make = (missing == Missing::Create).then_some(self.rules.make);
        let gait = StepOptions { follow: self.rules.follow, follow_last, make };
        self.insist(|| step::place(self.fd.as_fd(), path.as_str().as_bytes(), gait))
    }

    /// The path of what is listed under these names.
    fn true_path(&self, text: &str) -> Result<Vec<u8>, Errno> {
        let mut found = Vec::new();
        for name in text.split('/') {
            let dir = self.open_at(&found, THROUGH, self.rules.follow)?;
            if !found.is_empty() {
                found.push(b'/');
            }
            found.extend(true_name(&dir, name));
        }
        Ok(found)
    }

    /// Does it, and once more where the folder had been closed to its owner and is open again.
    fn insist<T>(&self, work: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
        match work() {
            Err(Errno::ACCESS) if self.reopen() => work(),
            other => other,
        }
    }

    fn reopen(&self) -> bool {
        if !self.rules.reopen {
            return false;
        }
        let Ok(stat) = fstat(&self.fd) else { return false };
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        !mode.contains(Mode::RWXU) && open_up(&self.fd, mode).is_ok()
    }
}

/// Opens a folder to its owner, whose process this is, beside what `mode` says. By its handle, which need not be one for
/// reading: nobody can swap what it names.
pub fn open_up(folder: &OwnedFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode | Mode::RWXU)
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Refuses what is no plain file.
pub(crate) fn plain(stat: &Stat) -> Result<(), Errno> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR),
        _ => Err(Errno::NXIO),
    }
}
