//! Running on a stack of one's own, as large as the text needs.
//!
//! Memory comes from `mmap` and nothing else is asked of the system: this must work in a forked, sandboxed process
//! that may neither start a thread nor open a file (asking how much stack is left opens `/proc/self/maps`). If the
//! memory is not there, the caller is told; nothing aborts.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// What came of it.
pub(crate) enum Ran<R> {
    Done(R),
    /// The memory for the stack was refused.
    NoMemory,
    /// The work panicked: a fault of ours or of the parser, held here.
    Panicked,
}

/// Runs `work` where it is called, holding back a panic.
pub(crate) fn here<R>(work: impl FnOnce() -> R) -> Ran<R> {
    catch_unwind(AssertUnwindSafe(work)).map_or(Ran::Panicked, Ran::Done)
}

/// Runs `work` on a fresh stack of at least `bytes`.
pub(crate) fn on_fresh<R>(bytes: usize, work: impl FnOnce() -> R) -> Ran<R> {
    let Some(stack) = Stack::new(bytes) else { return Ran::NoMemory };
    let mut result = Ran::Panicked;
    let slot = &mut result;
    // SAFETY: the memory lies above the guard page, is aligned to a page, `size` bytes long and writable, and lives
    // until `stack` is dropped below; no panic leaves the callback, since `here` catches it.
    unsafe {
        psm::on_stack(stack.base(), stack.size(), move || {
            *slot = here(work);
        });
    }
    result
}

/// A mapping whose lowest page is a guard.
struct Stack {
    address: *mut u8,
    length: usize,
    page: usize,
}

impl Stack {
    fn new(bytes: usize) -> Option<Self> {
        // SAFETY: `sysconf` takes a number and returns one.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?.max(4096);
        let length = bytes.checked_add(2 * page)?.checked_next_multiple_of(page)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory that exists.
        let address = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return None;
        }
        let stack = Self { address: address.cast(), length, page };
        // SAFETY: the first page of the mapping made above, which nobody uses yet.
        let guarded = unsafe { libc::mprotect(address, page, libc::PROT_NONE) };
        (guarded == 0).then_some(stack)
    }

    fn base(&self) -> *mut u8 {
        // SAFETY: one page into a mapping of at least three.
        unsafe { self.address.add(self.page) }
    }

    fn size(&self) -> usize {
        self.length - self.page
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, whole, and used by nobody any more.
        unsafe {
            libc::munmap(self.address.cast(), self.length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth that no thread's own stack would hold.
    #[test]
    fn deep_work_runs_on_a_fresh_stack() {
        fn down(depth: u32) -> u32 {
            let room = std::hint::black_box([depth; 256]);
            if depth == 0 { 0 } else { down(depth - 1).wrapping_add(room[7].min(1)) }
        }
        let Ran::Done(depth) = on_fresh(256 << 20, || down(50_000)) else { panic!("no stack") };
        assert_eq!(depth, 50_000);
    }

    /// A panic ends there, and memory that is not there is said to be so.
    #[test]
    fn a_panic_or_a_refusal_is_a_value() {
        let silent = || std::panic::resume_unwind(Box::new("quiet"));
        assert!(matches!(on_fresh::<()>(1 << 20, silent), Ran::Panicked));
        assert!(matches!(on_fresh(usize::MAX / 2, || ()), Ran::NoMemory));
        assert!(matches!(on_fresh(1 << 20, || 5), Ran::Done(5)));
    }
}
