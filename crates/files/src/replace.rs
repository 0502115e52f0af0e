//! Puts a whole new file in the place of an old one, in one step.
//!
//! A reader sees the old content or the new, never a part; a failure (a full quota above all) leaves the old one. The
//! file keeps its mode and, where we may, its owner. There is no fsync: a workspace promises order, not power cuts.

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, accessat, fchmod, fchown, fstat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::error::{Asked, FileError};
use crate::listing::draft_name;
use crate::step::Place;

/// A file that can be written: its folder's handle, its name, and what is there now.
pub(crate) struct Target<'a> {
    place: &'a Place,
    name: &'a [u8],
    given: &'a str,
    old: Option<Stat>,
    _turn: MutexGuard<'static, ()>,
}

impl<'a> Target<'a> {
    /// Waits for this file's turn and looks at what is there; anything but a plain file that we may write is refused.
    pub(crate) fn at(place: &'a Place, given: &'a str) -> Result<Self, FileError> {
        let refuse = |errno| FileError::from_errno(errno, Asked::File, given);
        let name = place.name.as_deref().ok_or_else(|| FileError::is_directory(given))?;
        let turn = turn(place, name).map_err(refuse)?;
        let old = match statat(&place.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(refuse(errno)),
        };
        if let Some(old) = &old {
            match FileType::from_raw_mode(old.st_mode) {
                FileType::RegularFile => {}
                FileType::Directory => return Err(FileError::is_directory(given)),
                _ => return Err(FileError::not_plain(given)),
            }
            // A rename asks only for the folder's permission; the file's own counts too.
            accessat(&place.dir, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(refuse)?;
        }
        Ok(Self { place, name, given, old, _turn: turn })
    }

    /// What is there now, opened for reading.
    pub(crate) fn open(&self) -> Result<(File, Stat), FileError> {
        let refuse = |errno| FileError::from_errno(errno, Asked::File, self.given);
        let flags = crate::beneath::READ | OFlags::NOFOLLOW;
        let fd = openat(&self.place.dir, self.name, flags, Mode::empty()).map_err(refuse)?;
        let stat = fstat(&fd).map_err(refuse)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(FileError::not_plain(self.given));
        }
        Ok((File::from(fd), stat))
    }

    /// Whether what is there is still what was seen: another process may write without waiting for its turn.
    pub(crate) fn is_still(&self, seen: &Stat) -> bool {
        let key = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
        statat(&self.place.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| key(&now) == key(seen))
    }

    /// Replaces the content.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        Draft::write(self.place, bytes, self.old.as_ref())
            .and_then(|draft| draft.become_file(self.name, self.old.is_none()))
            .map_err(|errno| FileError::from_errno(errno, Asked::File, self.given))
    }
}

/// The new content under a name of its own; dropped before it is in place, it goes away.
struct Draft<'a> {
    place: &'a Place,
    name: Option<String>,
}

impl<'a> Draft<'a> {
    fn write(place: &'a Place, bytes: &[u8], old: Option<&Stat>) -> Result<Self, Errno> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
        let name = draft_name(random);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&place.dir, &name, flags, Mode::from_raw_mode(0o666))?;
        let draft = Self { place, name: Some(name) };
        let mut file = File::from(fd);
        full_disk::check(bytes.len())?;
        file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        if let Some(old) = old {
            let now = fstat(&file)?;
            if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid) {
                // Only root may give files away; for everybody else the new file is theirs, as with any editor.
                let _ = fchown(&file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
            }
            if now.st_mode != old.st_mode {
                fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
            }
        }
        Ok(draft)
    }

    /// Takes the file's name. Where a file is, the two are exchanged and the old one goes away under the draft's name.
    ///
    /// An exchange does the same as a rename, but ext4 does not wait for the disk in it: 35,000 small files a second
    /// here instead of 1,500.
    fn become_file(mut self, name: &[u8], is_new: bool) -> Result<(), Errno> {
        let Some(draft) = self.name.clone() else { return Ok(()) };
        let dir = &self.place.dir;
        if !is_new {
            match renameat_with(dir, &draft, dir, name, RenameFlags::EXCHANGE) {
                Ok(()) => {
                    return match unlinkat(dir, &draft, AtFlags::empty()) {
                        // Somebody put a folder there meanwhile: it gets its name back, the draft goes.
                        Err(Errno::ISDIR) => {
                            renameat_with(dir, &draft, dir, name, RenameFlags::EXCHANGE)?;
                            Err(Errno::ISDIR)
                        }
                        other => {
                            self.name = None;
                            other
                        }
                    };
                }
                // Gone meanwhile, or a file system that cannot exchange.
                Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => {}
                Err(errno) => return Err(errno),
            }
        }
        renameat(dir, &draft, dir, name)?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(&self.place.dir, name.as_str(), AtFlags::empty());
        }
    }
}

/// Turns of files, by their place: two edits of one file in this process follow each other, so none is lost.
static TURNS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

fn turn(place: &Place, name: &[u8]) -> Result<MutexGuard<'static, ()>, Errno> {
    let folder = fstat(&place.dir)?;
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((folder.st_dev, folder.st_ino, name));
    let index = usize::try_from(hash % TURNS.len() as u64).unwrap_or(0);
    Ok(TURNS[index].lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(not(test))]
mod full_disk {
    pub(super) fn check(_bytes: usize) -> Result<(), rustix::io::Errno> {
        Ok(())
    }
}

/// A disk that is full from some byte on, for tests.
#[cfg(test)]
pub(crate) mod full_disk {
    use std::cell::Cell;

    use rustix::io::Errno;

    thread_local! {
        pub(crate) static ROOM: Cell<Option<(usize, Errno)>> = const { Cell::new(None) };
    }

    pub(super) fn check(bytes: usize) -> Result<(), Errno> {
        match ROOM.get() {
            Some((room, errno)) if bytes > room => Err(errno),
            _ => Ok(()),
        }
    }
}
