//! Ship behind its walls, with real processes, a real Python and a real kernel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod files;
mod python;
mod shell;
mod support;
