//! The font store: memory that the host writes once and every guest reads, so that a font is in the machine once.
//!
//! It is a file without a name that grows and never shrinks, one for all engines of this process. A worker gets it as its
//! standard output, opened for reading only, maps it before any wall stands, and gives the descriptor away; its children
//! inherit the mapping and nothing else. So a guest needs no further system call to see a font, has no descriptor to
//! misuse, and can change nothing: a shared mapping of a file that was opened for reading cannot be made writable. A process that reads beyond what the host
//! has written so far is killed (SIGBUS).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Resource, getrlimit};

/// What the font store can hold, and what each worker reserves of its address space for it. Sans and serif of all of Chinese,
/// regular and bold, have 95 MB; what does not fit travels as bytes.
pub(crate) const CAPACITY_BYTES: u64 = 160 << 20;

/// Things begin on a page of their own: a child that reads one then has no part of another in its working set.
const PAGE: u64 = 4096;

/// Where something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FontLocation {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl FontLocation {
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
struct FontStore {
    file: File,
    for_workers: File,
    used_bytes: u64,
    files: HashMap<FileKey, FontLocation>,
}

/// `None` inside: this machine has none, and fonts travel as bytes.
static FONT_STORE: OnceLock<Option<Mutex<FontStore>>> = OnceLock::new();

fn with<T>(act: impl FnOnce(&mut FontStore) -> io::Result<T>) -> Option<T> {
    let store = FONT_STORE.get_or_init(|| FontStore::new().ok().map(Mutex::new)).as_ref()?;
    act(&mut store.lock().unwrap_or_else(PoisonError::into_inner)).ok()
}

/// What a worker maps: it cannot write through it.
pub(crate) fn for_worker() -> Option<OwnedFd> {
    with(|store| store.for_workers.try_clone().map(Into::into))
}

/// Copies everything from `source`, which has about so many bytes. `None`: it does not fit, or there is nothing in it.
pub(crate) fn add(source: impl Read, about_bytes: u64) -> Option<FontLocation> {
    with(|store| store.put(source, about_bytes)).flatten()
}

/// Copies a file of at most so many bytes, unless it lies there already.
pub(crate) fn add_file(file: &File, most_bytes: u64) -> Option<FontLocation> {
    let about = file.metadata().ok()?;
    let key = (about.dev(), about.ino(), about.len(), about.mtime(), about.mtime_nsec());
    with(|store| {
        if let Some(location) = store.files.get(&key) {
            return Ok(Some(*location));
        }
        let location = store.put(file.take(most_bytes), about.len())?;
        store.files.extend(location.map(|location| (key, location)));
        Ok(location)
    })
    .flatten()
}

impl FontStore {
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

    fn put(&mut self, source: impl Read, about_bytes: u64) -> io::Result<Option<FontLocation>> {
        let left_bytes = CAPACITY_BYTES.saturating_sub(self.used_bytes);
        if about_bytes > left_bytes {
            return Ok(None);
        }
        let offset = self.used_bytes;
        self.file.seek(SeekFrom::Start(offset))?;
        let copied = io::copy(&mut source.take(left_bytes), &mut self.file);
        // Also after a failure: what was written is not written over.
        self.used_bytes = self.file.stream_position()?.next_multiple_of(PAGE);
        Ok(Some(FontLocation { offset, bytes: copied? }).filter(|location| location.bytes > 0))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn things_lie_one_after_the_other_and_stay() {
        let mut store = FontStore::new().unwrap();
        let first = store.put(&b"one"[..], 3).unwrap().unwrap();
        let second = store.put(&[7u8; 5000][..], 5000).unwrap().unwrap();
        let third = store.put(&b"three"[..], 5).unwrap().unwrap();
        assert_eq!([first.offset, second.offset, third.offset], [0, 4096, 12288]);
        let reader = store.for_workers.try_clone().unwrap();
        for (location, expected) in [(first, &b"one"[..]), (second, &[7; 5000]), (third, b"three")] {
            let mut bytes = vec![0; usize::try_from(location.bytes).unwrap()];
            reader.read_exact_at(&mut bytes, location.offset).unwrap();
            assert_eq!(bytes, expected);
            assert_eq!(FontLocation::decode(&location.encode()), Some(location));
        }
        assert_eq!(store.put(&b""[..], 0).unwrap(), None, "nothing is nowhere");
    }

    #[test]
    fn a_file_is_stored_once_and_another_of_its_name_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("font");
        let add = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            add_file(&File::open(&path).unwrap(), 1 << 20).unwrap()
        };
        let first = add(b"one");
        assert_eq!(add_file(&File::open(&path).unwrap(), 1 << 20), Some(first));
        let second = add(b"longer");
        assert_ne!(first.offset, second.offset);
        assert_eq!(second.bytes, 6);
    }

    #[test]
    fn what_is_too_large_is_not_stored() {
        let mut store = FontStore::new().unwrap();
        assert_eq!(store.put(io::repeat(0), CAPACITY_BYTES + 1).unwrap(), None);
        assert!(store.put(&b"small"[..], 5).unwrap().is_some());
    }

    #[test]
    fn a_worker_cannot_write_and_nobody_can_shorten() {
        let store = FontStore::new().unwrap();
        let mut given = store.for_workers.try_clone().unwrap();
        assert!(given.write(b"x").is_err());
        assert!(given.set_len(1).is_err());
        store.file.set_len(4096).unwrap();
        assert!(store.file.set_len(0).is_err());
    }
}
