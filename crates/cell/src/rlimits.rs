//! Resource limits: what the kernel counts per process or per user, wherever we are.

use std::io;

use cove_cgroup::LimitedBy;
use cove_walls::limits::{Resource, lower};

use super::CellLimits;
use super::{EffectiveLimits, Limit};

/// Ship's own threads and keepers come on top of what guests may have.
pub(super) const RESERVED_PROCESSES: u64 = 64;

/// Open files of one process where nobody counts what they hold in the kernel: enough for servers of a sandbox's size.
const UNCOUNTED_OPEN_FILES: u64 = 1024;

/// Sets them for Ship and everybody below. Guests get a lower number of processes when they are started.
pub(super) fn set(limits: &CellLimits, effective: &mut EffectiveLimits) -> io::Result<String> {
    for resource in [Resource::Core, Resource::Nice, Resource::Rtprio] {
        lower(resource, 0)?;
    }
    lower(Resource::Memlock, 64 << 10)?;
    lower(Resource::Msgqueue, 800 << 10)?;
    lower(Resource::Sigpending, 4096)?;
    lower(Resource::Nproc, limits.processes + RESERVED_PROCESSES)?;
    let counted = effective.memory_bytes.is_some();
    let open_files = if counted { limits.open_files } else { limits.open_files.min(UNCOUNTED_OPEN_FILES) };
    effective.open_files = Some(Limit::new(lower(Resource::Nofile, open_files)?, LimitedBy::Rlimit));
    if let Some(bytes) = limits.workspace_bytes {
        effective.workspace_bytes = Some(Limit::new(lower(Resource::Fsize, bytes)?, LimitedBy::RlimitAndWatchdog));
    }
    if effective.processes.is_none() {
        effective.processes = Some(Limit::new(limits.processes, LimitedBy::Rlimit));
    }
    if !counted {
        // One process cannot have more than all together may; the watchdog sees to the sum.
        lower(Resource::Data, limits.memory_bytes)?;
        effective.memory_bytes = Some(Limit::new(limits.memory_bytes, LimitedBy::Watchdog));
    }
    Ok("no core dumps, no priority, little locked memory".to_owned())
}
