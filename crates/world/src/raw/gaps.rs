//! The engine's small blocks, tidied before a world is forked.

use rquickjs::{Ctx, qjs};

use super::Gauge;

/// What the engine puts before each block.
const HEADER_BYTES: qjs::size_t = 8;

/// Far more free places than a world has of any size.
const MOST: usize = 65_536;

/// The sizes of small blocks, with their headers. Each has its own list of arenas of 4 KiB.
fn sizes() -> impl Iterator<Item = qjs::size_t> {
    (16..=128).step_by(8).chain((144..=256).step_by(16)).chain((288..=512).step_by(32))
}

/// Uses up every free place in the arenas, and opens one new arena of each size.
///
/// What runs later then finds places in the new arenas, which lie together, instead of one here and one there on pages
/// that are shared with every other child. And it opens no arena itself, which would write to the one before it.
pub(crate) fn close_gaps(ctx: &Ctx<'_>, gauge: &Gauge) {
    let raw = ctx.as_raw().as_ptr();
    for size in sizes() {
        for _ in 0..MOST {
            let before = gauge.used();
            // SAFETY: a block that nobody uses; it stays as long as the world, and keeps its arena open.
            let block = unsafe { qjs::js_malloc(raw, size - HEADER_BYTES) };
            if block.is_null() {
                ctx.catch();
                return;
            }
            // This one needed a new arena, so there was no free place any more.
            if gauge.used() != before {
                break;
            }
        }
    }
}
