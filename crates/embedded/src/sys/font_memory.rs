//! The worker's side of the [font store](crate::font_store): mapped once, before any wall stands, and inherited by every child.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::font_store::{CAPACITY_BYTES, FontLocation};

/// Where it is mapped; zero where there is none.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);

fn capacity() -> usize {
    usize::try_from(CAPACITY_BYTES).unwrap_or(usize::MAX)
}

/// Maps the whole of it, also what the host has not written yet.
pub(crate) fn map(descriptor: &OwnedFd) -> io::Result<()> {
    // Only what cannot shrink under us; a worker that was started by hand has something else there.
    let seals = rustix::fs::fcntl_get_seals(descriptor)?;
    if !seals.contains(rustix::fs::SealFlags::SHRINK) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: a new mapping at a place of the kernel's choosing; nobody else's memory changes.
    let address = unsafe {
        libc::mmap(ptr::null_mut(), capacity(), libc::PROT_READ, libc::MAP_SHARED, descriptor.as_raw_fd(), 0)
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    ADDRESS.store(address as usize, Ordering::Relaxed);
    Ok(())
}

/// Address space that belongs to it and is not the guest's.
pub(crate) fn mapped_bytes() -> u64 {
    if address() == 0 { 0 } else { CAPACITY_BYTES }
}

/// Where it begins, for the probes; zero where there is none.
pub(crate) fn address() -> usize {
    ADDRESS.load(Ordering::Relaxed)
}

/// What the host has put there. `None`: there is no font store, or no such place on it.
pub(crate) fn at(place: FontLocation) -> Option<&'static [u8]> {
    let start = usize::try_from(place.offset).ok()?;
    let bytes = usize::try_from(place.bytes).ok()?;
    if address() == 0 || start.checked_add(bytes)? > capacity() {
        return None;
    }
    // SAFETY: the mapping is never undone and reaches that far; the host names only what it has written whole, and it
    // never writes there again.
    Some(unsafe { std::slice::from_raw_parts(ptr::with_exposed_provenance(address() + start), bytes) })
}
