//! Bay over real cells: real Python, real shells, a real browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod browser;
mod drivers;
mod files;
mod hard;
mod javascript;
mod life;
mod live;
mod memory;
mod once;
mod support;
mod trouble;
mod upkeep;
