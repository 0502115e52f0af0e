//! Why a program was ended that did not end by itself: what Ship asks of those who count memory and disk.

use std::sync::Arc;
use std::time::Instant;

use super::disk::Disk;
use crate::process::End;
use cove_cell::{EndedByLimit, ExceededLimit, MemoryLedger};

/// As callers are told.
pub(crate) fn told(stopped: EndedByLimit) -> cove_runtime_api::Stopped {
    let EndedByLimit { cause, used_bytes, limit_bytes, hidden: _ } = stopped;
    let cause = match cause {
        ExceededLimit::MemoryLimit => cove_runtime_api::StopCause::MemoryLimit,
        ExceededLimit::DiskLimit => cove_runtime_api::StopCause::DiskLimit,
    };
    cove_runtime_api::Stopped { cause, limit_bytes, used_bytes }
}

/// Whoever knows a limit.
#[derive(Debug, Clone)]
pub(crate) struct Causes {
    /// `None` where whoever made the sandbox has not said.
    memory: Option<MemoryLedger>,
    disk: Arc<Disk>,
}

/// A moment, after which something may be ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    at: Instant,
    /// How often memory had run out by then.
    memory_kills: u64,
}

impl Causes {
    pub(crate) fn new(memory: Option<MemoryLedger>, disk: Arc<Disk>) -> Self {
        Self { memory, disk }
    }

    /// To be asked before a program starts.
    pub(crate) fn now(&self) -> Moment {
        Moment { at: Instant::now(), memory_kills: self.memory.as_ref().map_or(0, MemoryLedger::kills) }
    }

    /// Which limit ended a program, or another that it waited for, since then. `end`: how it ended by itself; `None` where
    /// we ended it, which looks like a kill for memory.
    pub(crate) fn since(&self, before: Moment, end: Option<End>) -> Option<EndedByLimit> {
        let killed = end.is_some_and(End::is_kill);
        let memory = self.memory.as_ref().filter(|_| killed).and_then(|memory| memory.since(before.memory_kills));
        memory.or_else(|| self.disk.ended_since(before.at))
    }
}
