//! The shelf: memory that the host writes once and every guest reads, so that a font is in the machine once.
//!
//! It is a file without a name that grows and never shrinks, one for all engines of this process. A worker gets it as its
//! standard output, opened for reading only, maps it before any wall stands, and gives the descriptor away; its children
//! inherit the mapping and nothing else. So a guest needs no further system call to see a font, has no descriptor to misuse, and can change nothing: a
//! shared mapping of a file that was opened for reading cannot be made writable. Whoever reads beyond what the host has
//! written so far ends himself (SIGBUS).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Resource, getrlimit};

/// What the shelf can hold, and what each worker reserves of its address space for it. Sans and serif of all of Chinese,
/// regular and bold, have 95 MB; what finds no place travels as bytes.
pub(crate) const CAPACITY_BYTES: u64 = 160 << 20;

/// Things begin on a page of their own: a child that reads one then has no part of another in its working set.
const PAGE: u64 = 4096;

/// Where something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Place {
    pub(crate) fn encode(self) -> [u8; 16] {
        let mut both = [0; 16];
        both[..8].copy_from_slice(&self.offset.to_le_bytes());
        both[8..].copy_from_slice(&self.bytes.to_le_bytes());
        both
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (offset, bytes) = bytes.split_first_chunk()?;
        Some(Self { offset: u64::from_le_bytes(*offset), bytes: u64::from_le_bytes(bytes.try_into().ok()?) })
    }
}

/// A file as it was when it was read: where it is, how long, how old. Another one of the same name is another file.
type FileKey = (u64, u64, u64, i64, i64);

/// The host's side.
#[derive(Debug)]
struct Shelf {
    file: File,
    for_workers: File,
    used_bytes: u64,
    files: HashMap<FileKey, Place>,
}

/// `None` inside: this machine has none, and fonts travel as bytes.
static SHELF: OnceLock<Option<Mutex<Shelf>>> = OnceLock::new();

fn with<T>(act: impl FnOnce(&mut Shelf) -> io::Result<T>) -> Option<T> {
    let shelf = SHELF.get_or_init(|| Shelf::new().ok().map(Mutex::new)).as_ref()?;
    act(&mut shelf.lock().unwrap_or_else(PoisonError::into_inner)).ok()
}

/// What a worker maps: it cannot write through it.
pub(crate) fn for_worker() -> Option<OwnedFd> {
    with(|shelf| shelf.for_workers.try_clone().map(Into::into))
}

/// Copies everything from `source`, which has about so many bytes. `None`: there is no room, or nothing in it.
pub(crate) fn place(source: impl Read, about_bytes: u64) -> Option<Place> {
    with(|shelf| shelf.put(source, about_bytes)).flatten()
}

/// Copies a file of at most so many bytes, unless it lies there already.
pub(crate) fn place_file(file: &File, most_bytes: u64) -> Option<Place> {
    let about = file.metadata().ok()?;
    let key = (about.dev(), about.ino(), about.len(), about.mtime(), about.mtime_nsec());
    with(|shelf| {
        if let Some(place) = shelf.files.get(&key) {
            return Ok(Some(*place));
        }
        let place = shelf.put(file.take(most_bytes), about.len())?;
        shelf.files.extend(place.map(|place| (key, place)));
        Ok(place)
    })
    .flatten()
}

impl Shelf {
    fn new() -> io::Result<Self> {
        // Writing past this limit would not fail but end the host.
        if getrlimit(Resource::Fsize).current.is_some_and(|most| most < CAPACITY_BYTES) {
            return Err(io::Error::other("the largest file that this process may write is too small"));
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not know that a file may be meant for reading only.
        let file: File = memfd_create("cove-fonts", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| memfd_create("cove-fonts", flags))?
            .into();
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::SEAL)?;
        let for_workers = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        Ok(Self { file, for_workers, used_bytes: 0, files: HashMap::new() })
    }

    fn put(&mut self, source: impl Read, about_bytes: u64) -> io::Result<Option<Place>> {
        let room = CAPACITY_BYTES.saturating_sub(self.used_bytes);
        if about_bytes > room {
            return Ok(None);
        }
        let offset = self.used_bytes;
        self.file.seek(SeekFrom::Start(offset))?;
        let copied = io::copy(&mut source.take(room), &mut self.file);
        // Also after a failure: what was written is not written over.
        self.used_bytes = self.file.stream_position()?.next_multiple_of(PAGE);
        Ok(Some(Place { offset, bytes: copied? }).filter(|place| place.bytes > 0))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn things_lie_one_after_the_other_and_stay() {
        let mut shelf = Shelf::new().unwrap();
        let first = shelf.put(&b"one"[..], 3).unwrap().unwrap();
        let second = shelf.put(&[7u8; 5000][..], 5000).unwrap().unwrap();
        let third = shelf.put(&b"three"[..], 5).unwrap().unwrap();
        assert_eq!([first.offset, second.offset, third.offset], [0, 4096, 12288]);
        let reader = shelf.for_workers.try_clone().unwrap();
        for (place, expected) in [(first, &b"one"[..]), (second, &[7; 5000]), (third, b"three")] {
            let mut bytes = vec![0; usize::try_from(place.bytes).unwrap()];
            reader.read_exact_at(&mut bytes, place.offset).unwrap();
            assert_eq!(bytes, expected);
            assert_eq!(Place::decode(&place.encode()), Some(place));
        }
        assert_eq!(shelf.put(&b""[..], 0).unwrap(), None, "nothing is nowhere");
    }

    #[test]
    fn a_file_is_placed_once_and_another_of_its_name_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("font");
        let place = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            place_file(&File::open(&path).unwrap(), 1 << 20).unwrap()
        };
        let first = place(b"one");
        assert_eq!(place_file(&File::open(&path).unwrap(), 1 << 20), Some(first));
        let second = place(b"longer");
        assert_ne!(first.offset, second.offset);
        assert_eq!(second.bytes, 6);
    }

    #[test]
    fn what_is_too_large_finds_no_place() {
        let mut shelf = Shelf::new().unwrap();
        assert_eq!(shelf.put(io::repeat(0), CAPACITY_BYTES + 1).unwrap(), None);
        assert!(shelf.put(&b"small"[..], 5).unwrap().is_some());
    }

    #[test]
    fn a_worker_cannot_write_and_nobody_can_shorten() {
        let shelf = Shelf::new().unwrap();
        let mut given = shelf.for_workers.try_clone().unwrap();
        assert!(given.write(b"x").is_err());
        assert!(given.set_len(1).is_err());
        shelf.file.set_len(4096).unwrap();
        assert!(shelf.file.set_len(0).is_err());
    }
}
