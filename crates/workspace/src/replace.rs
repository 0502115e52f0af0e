//! Puts a whole new file in the place of an old one, in one step.
//!
//! The file keeps its mode and, where we may, its owner. There is no fsync: a workspace promises order, not power cuts.

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, accessat, fchmod, fchown, fstat, openat, statat,
};
use rustix::io::Errno;

use crate::draft::Draft;
use crate::folder::{READ, plain};
use crate::step::Location;

/// A file that can be written: its folder's handle, its name, and what is there now.
#[derive(Debug)]
pub struct Target<'a> {
    place: &'a Location,
    name: &'a [u8],
    old: Option<Stat>,
    _turn: MutexGuard<'static, ()>,
}

impl<'a> Target<'a> {
    /// Waits for this file's turn and looks at what is there. Anything but a plain file that we may write is refused:
    /// `EISDIR` for a folder, `ENXIO` for what is neither.
    pub fn at(place: &'a Location) -> Result<Self, Errno> {
        let name = place.name.as_deref().ok_or(Errno::ISDIR)?;
        let turn = turn(place, name)?;
        let old = match statat(&place.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno),
        };
        if let Some(old) = &old {
            plain(old)?;
            // A rename asks only for the folder's permission; the file's own counts too.
            accessat(&place.dir, name, Access::WRITE_OK, AtFlags::EACCESS)?;
        }
        Ok(Self { place, name, old, _turn: turn })
    }

    /// What is there now, opened for reading.
    pub fn open(&self) -> Result<(File, Stat), Errno> {
        let fd = openat(&self.place.dir, self.name, READ | OFlags::NOFOLLOW, Mode::empty())?;
        let stat = fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode).is_file() { Ok((File::from(fd), stat)) } else { Err(Errno::NXIO) }
    }

    /// Whether what is there is still what was seen: another process may write without waiting for its turn.
    pub fn is_still(&self, seen: &Stat) -> bool {
        let key = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
        statat(&self.place.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| key(&now) == key(seen))
    }

    /// Replaces the content.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), Errno> {
        let mut draft = Draft::create(self.place.dir.as_fd(), 0o666)?;
        draft.write(bytes)?;
        let Some(old) = &self.old else { return draft.publish(&self.place.dir, self.name) };
        let now = fstat(&draft)?;
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid) {
            // Only root may give files away; for everybody else the new file is theirs, as with any editor.
            let _ = fchown(&draft, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        }
        if now.st_mode != old.st_mode {
            fchmod(&draft, Mode::from_raw_mode(old.st_mode & 0o7777))?;
        }
        draft.exchange(self.name)
    }
}

/// Turns of files, by their place: two edits of one file in this process follow each other, so none is lost.
static TURNS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

fn turn(place: &Location, name: &[u8]) -> Result<MutexGuard<'static, ()>, Errno> {
    let folder = fstat(&place.dir)?;
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((folder.st_dev, folder.st_ino, name));
    let index = usize::try_from(hash % TURNS.len() as u64).unwrap_or(0);
    Ok(TURNS[index].lock().unwrap_or_else(PoisonError::into_inner))
}
