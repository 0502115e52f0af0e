//! What the tests of several crates share, and nothing that a program needs: a dev-dependency only.
//!
//! It knows no other crate of Cove, so that every one of them may use it without a circle. Everything here fails by
//! panicking with what was waited for or looked at, as a test does.

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

pub use node::ask_node;
pub use postgres::{Postgres, PostgresSession};
pub use site::Site;
pub use suite::{Case, run_cases};
pub use until::{PATIENCE, until, until_blocking, until_some};
