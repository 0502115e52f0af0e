//! The hardened JavaScript world: one frozen realm of QuickJS-ng that touches its host only through a [`Port`].
//!
//! It knows no process, no socket, no wall and no file: whoever needs a guest that can be killed puts this crate behind
//! a process of its own. What is promised here is what an engine can promise from inside: every intrinsic is on the
//! permits table and frozen, dynamic code is prepared like any other code, a run that is over stays over, and a fault
//! is told by its kind and never by a text that guest code could have written.
#![allow(clippy::result_large_err, reason = "a guest's fault is a result like any other, made once per run")]

mod blame;
mod canvas;
mod chance;
mod error;
mod harden;
mod late;
mod names;
mod natives;
mod outcome;
mod permits;
mod port;
mod prelude;
mod raw;
mod run;
mod setup;
mod sources;
mod state;
mod timers;
mod world;

pub use error::WorldError;
pub use port::{Event, Port, ToolFailure};
pub use raw::use_stack;
pub use setup::{Setup, ToolDecl};
pub use world::World;
