//! The seccomp profile of a container in which Cove makes sandboxes: what Cove and ordinary programs call, namespaces and
//! mounts with it, and nothing else.

use std::io::{self, Write as _};

use crate::terminal;

/// The same file that the repository offers.
const PROFILE: &str = include_str!("../../../../packaging/container/seccomp.json");

/// Prints it, to be put into a file.
pub(super) fn print() -> io::Result<()> {
    terminal::out().write_all(PROFILE.as_bytes())
}
