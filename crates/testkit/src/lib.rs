//! What the tests of several crates share: a dev-dependency only.
//!
//! It uses no other crate of Cove, so that each of them can use it without a cycle. Everything here fails by
//! panicking with what it waited for or looked at, as a test does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says where it is"
)]

mod node;
mod postgres;
pub mod processes;
mod site;
mod suite;
mod until;

pub use node::{InNode, ask_node, run_in_node};
pub use postgres::{Postgres, PostgresSession};
pub use site::Site;
pub use suite::{Case, run_cases};
pub use until::{PATIENCE, until, until_blocking, until_some};
