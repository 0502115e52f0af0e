//! For the tests of every room that opens a workspace: the tries of the escape suite, and a disk that fills up.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

pub mod escape;
pub mod full_disk;
