//! Resource limits: what the kernel counts per process or per user. They are only ever lowered.

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
