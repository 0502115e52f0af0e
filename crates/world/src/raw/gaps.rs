//! The engine's small blocks, tidied before a world is forked.

use rquickjs::{Ctx, qjs};

use super::Gauge;

/// Blocks up to this size come from arenas of 4 KiB, one list of arenas per size.
const MAX_SMALL_BYTES: qjs::size_t = 504;

/// Far more free places than a world has of any size.
const MOST: usize = 65_536;

/// Uses up every free place in the arenas: what runs later gets arenas of its own, which lie together, instead of places
/// on pages that are shared with every other child.
pub(crate) fn close_gaps(ctx: &Ctx<'_>, gauge: &Gauge) {
    let raw = ctx.as_raw().as_ptr();
    for size in (8..=MAX_SMALL_BYTES).step_by(8) {
        for _ in 0..MOST {
            let before = gauge.used();
            // SAFETY: a block that nobody uses; it is given back at once, or stays as long as the world.
            let block = unsafe { qjs::js_malloc(raw, size) };
            if block.is_null() {
                ctx.catch();
                return;
            }
            // This one needed a new arena, so there was no free place any more.
            if gauge.used() != before {
                // SAFETY: made above and not used since.
                unsafe { qjs::js_free(raw, block) };
                break;
            }
        }
    }
}
