//! Bay, the control plane: sandboxes and everything that is done in them, behind one door, [`Bay`].
//!
//! A **sandbox** is a **cargo** (what is in `/workspace`), a **profile** (what it is made of) and at most one **session**
//! (a group of containers, made on first use, remade when dead). Every verb of the HTTP interface is one method of
//! [`Bay`]; who asks is an [`Owner`], and nobody sees what is another's.

mod artifacts;
mod bay;
mod browser;
mod cargos;
mod collector;
mod disk;
mod driver;
mod events;
mod files;
mod history;
mod hold;
mod id;
mod javascript;
mod lost;
mod peers;
mod router;
mod sandboxes;
mod session;
mod skills;
mod terminal;
#[cfg(test)]
mod tests;
mod timed;
mod unwritten;
mod warm;
mod work;

pub use bay::{Bay, StartError};
pub use cove_api::{IdempotencyKey, Owner};
pub use events::EventStream;
pub use files::{ByteStream, Download, LatePath};
pub use hold::Hold;
pub use javascript::JavaScriptCall;
pub use peers::Home;
pub use terminal::Terminal;
pub use timed::Timed;

/// What every verb answers.
pub type Answer<T> = Result<T, cove_api::BayError>;
