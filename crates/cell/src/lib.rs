//! A sandbox made of Linux itself: the walls of the local driver, and what is known inside of them.
//!
//! Three processes. The *owner* ([`LocalCell`]) is any program of ours; it may have threads and knows the sandbox by a
//! socket. The *supervisor* is a fresh process that the owner starts; it has one thread, makes the control groups, and
//! lives only to end everything when its owner goes. The *init* is process 1 of the sandbox: it puts up the walls around
//! itself, checks from inside that they stand, and becomes Ship, the program that serves in here. Whichever of the three ends, the other two follow, and
//! the kernel ends whatever else is in the sandbox's PID namespace; its mounts exist nowhere else.

mod attend;
mod blocked;
mod contained;
mod disk;
mod egress;
mod ended_by_limit;
mod enter;
mod etc;
mod guest_walls;
mod guests;
mod identity;
mod landlock_rules;
mod layers;
mod ledger;
mod local;
mod oom;
mod options;
mod procfs;
mod report;
mod rlimits;
mod root;
mod seccomp;
mod spec;
mod syscalls;
mod watch;

pub use blocked::{Blocker, WallFailure};
pub use contained::{Contained, PodWalls, contain, leave_network};
pub use cove_cgroup::{Limit, LimitedBy};
pub use cove_network::SandboxPorts;
pub use cove_walls::WallState;
pub use disk::{DiskNews, Hidden};
pub use egress::Egress;
pub use ended_by_limit::{EndedByLimit, ExceededLimit};
pub use enter::{EnterError, Inside, enter};
pub use guest_walls::GuestWalls;
pub use ledger::MemoryLedger;
pub use local::{CellError, LocalCell, adopt_cargo, give_to};
pub use oom::{OomScore, Raised};
pub use options::{CellLimits, CellMount, CellNetwork, CellOptions};
pub use procfs::tell_uptime;
pub use report::{EffectiveLimits, EffectiveWalls, MEMORY_WATCHED, Wall};
