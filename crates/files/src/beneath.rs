//! The workspace's folder, opened once; everything is reached from that handle and nothing above it can be.
//!
//! Where the kernel has `openat2`, it checks each step itself (`RESOLVE_BENEATH`), symlinks included, with no moment
//! between check and use. Where it has not (old kernels, strict filters), `step.rs` takes the steps one by one on
//! handles that are never given up for a name. Writing always goes by steps: a rename needs the last folder's handle.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use crate::path::RelPath;
use crate::step::{self, Missing, Place};

/// `openat2` answers EAGAIN when a rename elsewhere made it unsure; after so many it is a storm, not an accident.
const MAX_RETRIES: usize = 128;

/// How paths are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolver {
    /// `openat2`, in the kernel.
    Kernel,
    /// One component at a time, for kernels without it.
    Steps,
}

/// An opened folder that cannot be left.
#[derive(Debug)]
pub(crate) struct Beneath {
    fd: OwnedFd,
    resolver: Resolver,
}

/// How the thing at the end of a path is opened.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Beneath {
    /// Opens the folder and finds out which resolver works here.
    pub(crate) fn open(dir: &Path) -> Result<Self, Errno> {
        let fd = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolver = match openat2(&fd, ".", flags, Mode::empty(), ResolveFlags::BENEATH) {
            Ok(_) => Resolver::Kernel,
            Err(_) => Resolver::Steps,
        };
        Ok(Self { fd, resolver })
    }

    pub(crate) fn with_resolver(self, resolver: Resolver) -> Self {
        Self { resolver, ..self }
    }

    /// A folder below this one as a root of its own.
    pub(crate) fn folder(&self, path: &RelPath) -> Result<Self, Errno> {
        let fd = self.open_at(path.as_str().as_bytes(), FOLDER, true)?;
        Ok(Self { fd, resolver: self.resolver })
    }

    /// Opens what is at the path; symlinks are followed as long as they stay inside.
    pub(crate) fn open_path(&self, path: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.open_at(path.as_str().as_bytes(), flags, true)
    }

    /// Opens a folder below this one on a way without any symlink.
    pub(crate) fn open_folder(&self, below: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_at(below, FOLDER, false)
    }

    /// The folder and the name that a path stands for once all symlinks are followed.
    pub(crate) fn place(&self, path: &RelPath, missing: Missing) -> Result<Place, Errno> {
        step::place(self.fd.as_fd(), path.as_str().as_bytes(), missing, true)
    }

    fn open_at(&self, below: &[u8], flags: OFlags, follow: bool) -> Result<OwnedFd, Errno> {
        let below = if below.is_empty() { b"." } else { below };
        if self.resolver == Resolver::Kernel {
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
    }

    fn open_by_steps(&self, below: &[u8], flags: OFlags, follow: bool) -> Result<OwnedFd, Errno> {
        for _ in 0..MAX_RETRIES {
            let place = step::place(self.fd.as_fd(), below, Missing::Refuse, follow)?;
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
}

impl AsFd for Beneath {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
