//! Ship behind its walls, with real processes, a real Python and a real kernel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

mod alone;
mod attacks;
mod bombs;
mod escape;
mod files;
mod hosts;
mod javascript;
mod lease;
mod lifetime;
mod live;
mod network;
mod ordinary_user;
mod paths;
mod ports;
mod python;
mod python_timeout;
mod shell;
mod support;
mod terminal;
mod tries;
mod zygote;
