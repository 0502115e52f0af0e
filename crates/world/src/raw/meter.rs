//! The allocator of one world: counts every byte, refuses past the limit, and remembers that it did.
//!
//! The engine's own limit answers with an ordinary exception whose text any program can write. Whether memory ran out
//! is asked here instead, where guest code has no pen.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

/// What may still be used after the limit was reached, so that the engine can build its error and unwind in good order.
const RESERVE_BYTES: usize = 2 << 20;

/// How full the heap is. Shared between the allocator and the world.
#[derive(Debug)]
pub(crate) struct Gauge {
    used: Cell<usize>,
    most: Cell<usize>,
    limit: Cell<usize>,
    refused: Cell<bool>,
}

impl Gauge {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            used: Cell::new(0),
            most: Cell::new(0),
            limit: Cell::new(usize::MAX),
            refused: Cell::new(false),
        })
    }

    /// Bytes in use now.
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// The most that was in use since `watch` was called. A run that was refused memory wanted all of its limit.
    pub(crate) fn most(&self) -> usize {
        if self.refused.get() { self.most.get().max(self.limit.get()) } else { self.most.get() }
    }

    /// Begins to look for the most that is in use.
    pub(crate) fn watch(&self) {
        self.most.set(self.used.get());
    }

    /// Whether an allocation was ever refused.
    pub(crate) fn refused(&self) -> bool {
        self.refused.get()
    }

    /// Bytes that may be in use.
    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    /// Sets the limit; what is in use already counts.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.set(bytes);
    }

    fn may_take(&self, more: usize) -> bool {
        let limit = self.limit.get();
        let reserve = if self.refused.get() { RESERVE_BYTES } else { 0 };
        if self.used.get().saturating_add(more) <= limit.saturating_add(reserve) {
            return true;
        }
        self.refused.set(true);
        false
    }

    fn took(&self, pointer: *mut u8) -> *mut u8 {
        if !pointer.is_null() {
            let used = self.used.get() + usable(pointer);
            self.used.set(used);
            self.most.set(self.most.get().max(used));
        }
        pointer
    }

    fn gave(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

fn usable(pointer: *mut u8) -> usize {
    // SAFETY: only called with pointers that `malloc`, `calloc` or `realloc` below have returned and that live.
    unsafe { libc::malloc_usable_size(pointer.cast()) }
}

/// The allocator itself; hands all work to the C library's, as the engine would.
pub(crate) struct Meter(pub(crate) Rc<Gauge>);

// SAFETY: every block comes from the C library, which aligns for any type and keeps the usable size of each block.
unsafe impl Allocator for Meter {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.may_take(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: `malloc` takes any size.
        self.0.took(unsafe { libc::malloc(size) }.cast())
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        if !self.0.may_take(count.saturating_mul(size)) {
            return std::ptr::null_mut();
        }
        // SAFETY: `calloc` takes any two sizes and checks their product itself.
        self.0.took(unsafe { libc::calloc(count, size) }.cast())
    }

    unsafe fn dealloc(&mut self, pointer: *mut u8) {
        if pointer.is_null() {
            return;
        }
        self.0.gave(usable(pointer));
        // SAFETY: the trait's contract: the block is one of ours and is not used again.
        unsafe { libc::free(pointer.cast()) }
    }

    unsafe fn realloc(&mut self, pointer: *mut u8, new_size: usize) -> *mut u8 {
        let before = if pointer.is_null() { 0 } else { usable(pointer) };
        if !self.0.may_take(new_size.saturating_sub(before)) {
            return std::ptr::null_mut();
        }
        // SAFETY: the trait's contract: null or one of our live blocks; on failure the old block stays valid.
        let moved: *mut u8 = unsafe { libc::realloc(pointer.cast(), new_size) }.cast();
        if moved.is_null() {
            return moved;
        }
        self.0.gave(before);
        self.0.took(moved)
    }

    unsafe fn usable_size(pointer: *mut u8) -> usize {
        usable(pointer)
    }
}
