//! Resource limits: what the kernel counts per process or per user. Those of guests are only ever lowered.

use std::io;

pub use rustix::process::Resource;
use rustix::process::{Rlimit, getrlimit, setrlimit};

/// Limits a resource of this process and of all that it starts, for good. Gives what holds now: less than was asked for
/// where less was allowed already.
pub fn lower(resource: Resource, most: u64) -> io::Result<u64> {
    let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let most = most.min(allowed);
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(most)
}

/// Raises the soft limit of this process towards `wanted`, as far as its hard limit lets it. Gives what holds now: what held
/// before where that was more, or where the kernel refuses.
pub fn raise(resource: Resource, wanted: u64) -> u64 {
    let now = getrlimit(resource);
    let current = now.current.unwrap_or(u64::MAX);
    let most = now.maximum.unwrap_or(u64::MAX).min(wanted);
    let raised = current < most && setrlimit(resource, Rlimit { current: Some(most), ..now }).is_ok();
    if raised { most } else { current }
}
