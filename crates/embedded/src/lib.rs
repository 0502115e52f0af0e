//! The embedded engine: hardened JavaScript worlds in killable processes behind the kernel's walls.
//!
//! Guest code never runs in the host's process. The host starts a *worker*, the same program under another name; the
//! worker confines itself, builds one frozen world, and forks a child from it for every session. A child has one
//! socket and nothing else: no file, no network, no other process, no privilege, no environment. What it sends is treated
//! as if an attacker had written it, and at its deadline it is killed, whatever it is doing.
//!
//! What this crate does not know is JavaScript: that is `cove-world`, which in turn knows nothing of processes.
//!
//! A program becomes its own worker with one line, see [`worker::enter_if_asked`]; the way from there to a result is shown
//! at [`EmbeddedEngine`].

mod calls;
mod control;
mod engine;
mod fetch;
mod font_store;
mod fonts;
mod launch;
mod line;
mod logs;
mod options;
pub mod probe;
mod process;
mod run;
mod session;
mod sys;
mod walls;
mod wire;
pub mod worker;
mod worker_pool;

pub use engine::EmbeddedEngine;
pub use fonts::system_font_files;
pub use options::{EmbeddedOptions, WallPolicy};
pub use walls::{Wall, WallName, WallReport, WallState};
