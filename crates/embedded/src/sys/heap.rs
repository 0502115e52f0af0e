//! The zygote's heap, tidied before anything is forked from it.
//!
//! Building a world leaves free places all over the heap. A child that allocates takes them first, each on another page,
//! and each first write to a page that is shared with the zygote costs a fault and a copy. So the zygote uses all free
//! places up: what a child allocates then lies together, and those pages can be had in one call.

#![cfg_attr(not(target_env = "gnu"), expect(dead_code, reason = "only the heap of glibc is known"))]

use std::ptr;

/// What the free places of one size may add up to. A world leaves a few hundred kilobytes of them in all.
const MAX_FILL_BYTES: usize = 4 << 20;

/// What is left free at the end of the heap, so that a child need not ask for more at once.
const FREE_BYTES: usize = 112 << 10;

/// What a small run writes to fresh memory; more is had page by page.
const FRESH_BYTES: usize = 24 << 10;

/// A page.
const PAGE: usize = 4096;

/// Sizes of free places, from large to small: a large one is not cut up by a small block.
const SIZES: [usize; 7] = [64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 2 << 10, 1 << 10];

/// Where a child's first allocations will lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fresh {
    start: usize,
    bytes: usize,
}

/// The end of a heap without gaps. What is allocated next lies behind it, in one piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge(usize);

/// Uses up every free place below the end of the heap. `None` where the C library is not one whose heap is known.
#[cfg(target_env = "gnu")]
pub(crate) fn close_gaps() -> Option<Edge> {
    let small = (1..64).rev().map(|step| step * 16 - 8);
    for size in SIZES.into_iter().chain(small) {
        let mut filled = 0;
        while filled < MAX_FILL_BYTES {
            let end = end_of_use();
            // SAFETY: a block that is never freed: its only use is that nobody else gets its place.
            let block = unsafe { libc::malloc(size) };
            if block.is_null() || block as usize >= end {
                break;
            }
            filled += size;
        }
    }
    Some(Edge(end_of_use()))
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn close_gaps() -> Option<Edge> {
    None
}

/// From the edge to a little beyond what is in use now: the pages that every child writes to.
#[cfg(target_env = "gnu")]
pub(crate) fn fresh(Edge(edge): Edge) -> Option<Fresh> {
    leave_free();
    let free = end_of_use().next_multiple_of(PAGE) + PAGE;
    // SAFETY: asks where the heap ends, and moves nothing.
    let end = unsafe { libc::sbrk(0) } as usize;
    let bytes = end.checked_sub(free)? & !(PAGE - 1);
    // What lay here once is free memory of the C library's now, which promises nothing about its content.
    // SAFETY: whole pages above the header of the last, free block and below the end of the heap.
    unsafe { libc::madvise(ptr::with_exposed_provenance_mut(free), bytes, libc::MADV_DONTNEED) };
    let start = edge & !(PAGE - 1);
    Some(Fresh { start, bytes: (free + bytes.min(FRESH_BYTES)).checked_sub(start)? })
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn fresh(_: Edge) -> Option<Fresh> {
    None
}

/// Sees to it that the last block is large, so that a child need not ask for more at once.
#[cfg(target_env = "gnu")]
fn leave_free() {
    const PART: usize = 16 << 10;
    // SAFETY: blocks that nobody uses. They come from the end of the heap, because there is no other place, and given
    // back in reverse they become part of the last block again.
    unsafe {
        let mut blocks = [ptr::null_mut(); FREE_BYTES / PART];
        blocks.fill_with(|| libc::malloc(PART));
        blocks.into_iter().rev().for_each(|block| libc::free(block));
    }
}

/// Where the last block begins, the free one from which the heap grows.
#[cfg(target_env = "gnu")]
fn end_of_use() -> usize {
    // SAFETY: both only look; the worker has one thread, so they look at the same heap.
    let (end, free) = unsafe { (libc::sbrk(0) as usize, libc::mallinfo().keepcost) };
    end.saturating_sub(usize::try_from(free).unwrap_or(0))
}

/// In a child: has these pages as its own now, in one call instead of a fault for each.
pub(crate) fn have(fresh: Option<Fresh>) {
    let Some(Fresh { start, bytes }) = fresh else { return };
    // SAFETY: writes nothing and changes nothing that a program could read: the pages are there sooner, that is all. An
    // older kernel does not know the advice and does nothing.
    unsafe { libc::madvise(ptr::with_exposed_provenance_mut(start), bytes, libc::MADV_POPULATE_WRITE) };
}
