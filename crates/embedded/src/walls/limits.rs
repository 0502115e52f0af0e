//! Resource limits: what the kernel counts for us.

use std::io;

use cove_walls::limits::{Resource, lower};
use rustix::process::{Rlimit, getrlimit, setrlimit};

/// Beside the guest's heap a child needs room to parse source, to draw, and to hold one large answer (64 MiB) twice.
const HEAD_ROOM_BYTES: u64 = 256 << 20;

/// The stack of a process that runs guests. They may use one half of it: some ten thousand plain calls, some thousand through
/// `map`. Native functions below have the other.
const STACK_LIMIT_BYTES: u64 = 32 << 20;

/// Where even this much cannot be had, the engine's own limit stays (1 MiB).
const LEAST_STACK_LIMIT_BYTES: u64 = 4 << 20;

/// In the zygote; its children inherit them.
pub(super) fn lower_in_zygote() -> io::Result<String> {
    let nothing = [
        Resource::Core,
        Resource::Fsize,
        Resource::Memlock,
        Resource::Msgqueue,
        Resource::Nice,
        Resource::Rtprio,
        Resource::Locks,
    ];
    for resource in nothing {
        lower(resource, 0)?;
    }
    // The zygote holds a few descriptors of its own and three per fork, one fork at a time.
    lower(Resource::Nofile, 64)?;
    let stack = getrlimit(Resource::Stack).current.unwrap_or(STACK_LIMIT_BYTES);
    let shallow = if stack < STACK_LIMIT_BYTES {
        // Recursion ends early here, and nobody would know why.
        format!(
            "; a stack of {} MiB only, because `ulimit -Hs` is less than {} MiB",
            stack >> 20,
            STACK_LIMIT_BYTES >> 20
        )
    } else {
        String::new()
    };
    Ok(format!("no core, file, lock or queue; 8 descriptors, no process, capped memory in a child{shallow}"))
}

/// Gives guests a deep stack where this process may have one: it is mapped as it grows, so that it costs nothing until it
/// is used. The kernel keeps 128 MiB free below every main thread's.
pub(crate) fn deepen_stack() {
    let current = getrlimit(Resource::Stack).maximum.unwrap_or(u64::MAX).min(STACK_LIMIT_BYTES);
    let limit = Rlimit { current: Some(current), maximum: Some(current) };
    if current >= LEAST_STACK_LIMIT_BYTES && setrlimit(Resource::Stack, limit).is_ok() {
        cove_world::use_stack(usize::try_from(current / 2).unwrap_or(usize::MAX));
    }
}

/// In a child: it forks nothing and opens nothing.
pub(super) fn lower_in_child() -> io::Result<()> {
    lower(Resource::Nproc, 0)?;
    // Not zero: `poll` refuses to look at more descriptors than may be open.
    lower(Resource::Nofile, 8).map(drop)
}

/// What a child may allocate beside what its zygote had: a heap never fills its memory without gaps, hence the half on top.
pub(crate) fn max_child_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_add(memory_bytes / 2).saturating_add(HEAD_ROOM_BYTES)
}

/// In a child, once its session's memory limit is known: the second line behind the engine's own count.
pub(crate) fn cap_memory(base_bytes: u64, memory_bytes: u64) -> io::Result<()> {
    let most = base_bytes + max_child_bytes(memory_bytes);
    lower(Resource::As, most)?;
    // The fonts' memory takes address space that is not the guest's, also not once it has unmapped it.
    lower(Resource::Data, most.saturating_sub(crate::sys::font_memory::mapped_bytes())).map(drop)
}
