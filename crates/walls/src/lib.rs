//! Confines a process, and reports which of its walls are active.
//!
//! The embedded engine, the sandboxes of the local driver, the browser and Gull all ask the same things of the kernel. They
//! use this crate: [`seccomp`] compiles a table of system calls, [`landlock_rules`] a table of paths, [`namespaces`],
//! [`identity`], [`limits`] and [`mounts`] take away what a process has, [`descriptors`] and [`fork`] keep what it hands on
//! small, [`ChildSetup`] is everything between `fork` and `exec`, [`spawn`] starts a program without waiting for it, and
//! [`Survey`] records what is active.
//!
//! The crate decides nothing: the caller says which calls, paths and limits. It knows no engine, no sandbox
//! and no browser. All of its unsafe code is in one folder.

mod child;
pub mod descriptors;
pub mod fork;
pub mod identity;
pub mod landlock_rules;
pub mod limits;
pub mod mounts;
pub mod namespaces;
pub mod process;
mod report;
pub mod seccomp;
mod stat;
mod status;
mod sys;
mod tree;

pub use child::{BindMount, ChildSetup, Group};
pub use landlock_rules::Ruleset;
pub use report::{Survey, Wall, WallState};
pub use stat::Stat;
pub use status::Status;
pub use sys::{SharedPage, run_soon, spawn, stand_in_line, take_short_turns, take_usual_turns};
