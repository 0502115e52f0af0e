//! Ship: the small server inside a sandbox that runs Python, JavaScript and shell commands, keeps files and opens
//! terminals.
//!
//! It knows nothing of sandboxes, profiles or keys: whoever can reach its socket may use it, and the walls around it
//! ([`cove_cell`]) decide who that is and how much it may use. It runs the same way under every driver.

mod answer_lines;
mod carry;
mod causes;
mod command;
mod disk;
mod error;
mod frames;
pub(crate) mod fs;
mod guest_port;
mod health;
mod javascript;
mod options;
mod ports;
mod processes;
mod python;
mod server;
mod shell;
mod skill;
mod term;
mod uptime;
mod way_out;

pub use command::command;
pub use options::ShipOptions;
pub use server::{ShipError, router};

use crate::process::Rank;
use cove_cell::OomScore;
use options::Listen;
pub(crate) use python::IPythonUse;
pub(crate) use server::ShipState;
use server::serve;
