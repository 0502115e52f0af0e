//! The host's port, lent to the world's native functions for the length of one run.
//!
//! Native functions live as long as the realm; the port lives as long as one call of `run`. The slot bridges the two
//! and cannot be misused: outside a run it is empty, and while one function holds the port nobody else gets it.

use std::cell::Cell;
use std::ptr::NonNull;

use crate::Port;

/// Holds the port of the run in progress.
pub(crate) struct PortSlot(Cell<Option<NonNull<dyn Port>>>);

impl PortSlot {
    pub(crate) fn empty() -> Self {
        Self(Cell::new(None))
    }

    /// Makes the port available to [`PortSlot::with`] while `work` goes on.
    pub(crate) fn lend<R>(&self, port: &mut dyn Port, work: impl FnOnce() -> R) -> R {
        struct Empty<'a>(&'a PortSlot);
        impl Drop for Empty<'_> {
            fn drop(&mut self) {
                self.0.0.set(None);
            }
        }
        let pointer: NonNull<dyn Port + '_> = NonNull::from(port);
        // SAFETY: only the lifetime is erased. `Empty` clears the slot before this function returns or unwinds, so the
        // pointer is never read after the borrow that it came from has ended.
        let pointer: NonNull<dyn Port + 'static> = unsafe { std::mem::transmute(pointer) };
        self.0.set(Some(pointer));
        let _empty = Empty(self);
        work()
    }

    /// Uses the port, if there is one and nobody else holds it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut dyn Port) -> R) -> Option<R> {
        let mut pointer = self.0.take()?;
        // SAFETY: the slot holds a pointer only inside `lend`, whose exclusive borrow is still alive; taking it out of
        // the slot makes this the only reference.
        let answer = work(unsafe { pointer.as_mut() });
        self.0.set(Some(pointer));
        Some(answer)
    }
}
