//! The one place with `unsafe`: what Ship and its supervisor ask of the kernel and what no safe crate offers.
//!
//! Each function does one thing and says why it is sound. Nothing here decides anything. What other processes of ours ask
//! of the kernel, too, is in `cove-walls`.
#![allow(unsafe_code)]

mod shared;
pub(crate) mod spawn;

pub(crate) use shared::SharedPage;

/// The kernel's `struct sched_attr`, as long as it was at first.
#[repr(C)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// This process works little and must not wait long for it: it asks for short turns, which come sooner (Linux 6.12), and
/// for a better place where it may. Nothing is lost where the kernel says no.
pub(crate) fn run_soon() {
    const SHORTEST_NS: u64 = 100_000;
    for nice in [-10, 0] {
        let size = size_of::<SchedulingAttributes>();
        let attributes = SchedulingAttributes {
            size: u32::try_from(size).unwrap_or(0),
            policy: 0,
            flags: 0,
            nice,
            priority: 0,
            runtime_ns: SHORTEST_NS,
            deadline_ns: 0,
            period_ns: 0,
        };
        // SAFETY: the structure has the kernel's layout and its own size, and outlives the call.
        let result = unsafe {
            libc::syscall(libc::SYS_sched_setattr, 0 as libc::c_long, &raw const attributes, 0 as libc::c_long)
        };
        if result == 0 {
            return;
        }
    }
}
