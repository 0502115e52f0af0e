//! A few numbers that two processes share: one writes them, the other reads them.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many numbers there are.
const NUMBERS: usize = 8;

/// Memory that this process shares with those it forks, until they execute another program.
#[derive(Debug, Clone)]
pub struct SharedPage(Arc<Mapping>);

#[derive(Debug)]
struct Mapping(NonNull<[AtomicU64; NUMBERS]>);

// SAFETY: the mapping is never moved or unmapped while a value of it lives, and holds atomics only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl SharedPage {
    /// All zero.
    pub fn new() -> io::Result<Self> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let length = size_of::<[AtomicU64; NUMBERS]>();
        // SAFETY: a new mapping at a place of the kernel's choice; nothing that exists is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast()).map(|start| Self(Arc::new(Mapping(start)))).ok_or_else(io::Error::last_os_error)
    }

    fn numbers(&self) -> &[AtomicU64; NUMBERS] {
        // SAFETY: mapped for as long as the value lives, page-aligned, and all-zero is a valid atomic.
        unsafe { self.0.0.as_ref() }
    }

    /// One of the numbers.
    pub fn get(&self, place: usize) -> u64 {
        self.numbers()[place].load(Ordering::SeqCst)
    }

    /// Changes one of them.
    pub fn set(&self, place: usize, value: u64) {
        self.numbers()[place].store(value, Ordering::SeqCst);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nobody can reach it any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<[AtomicU64; NUMBERS]>()) };
    }
}
