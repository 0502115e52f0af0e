//! The skill file that tells an agent how to use the browser: written at each start, nothing else there is touched. Who starts
//! Gull later than the sandbox writes it meanwhile.

use std::io::{self, Write};

use crate::cargo::Cargo;

/// Where it is in the workspace.
pub const SKILL_PATH: &str = "skills/browser-automation/SKILL.md";

/// What it says.
pub const SKILL_TEXT: &str = include_str!("browser-automation.md");

/// Writes the file.
pub(crate) fn write(cargo: &Cargo) -> io::Result<()> {
    cargo.write(SKILL_PATH, 0o644, |file| file.write_all(SKILL_TEXT.as_bytes()))
}
