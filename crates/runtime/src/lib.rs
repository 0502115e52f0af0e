//! What runs inside a sandbox, and the walls of the local driver around it.
//!
//! [`ship`] is the work runtime: Python that remembers, shell commands, files, a terminal. [`cell`] puts it behind the
//! kernel's walls on this machine, with nothing but Linux. [`client`] speaks to a Ship over its socket.

pub mod cell;
pub mod client;
mod process;
pub mod ship;
mod sys;
mod watchdog;
