//! The skill file that tells an agent how to use the browser: written at each start, nothing else there is touched.

use std::io::{self, Write};

use crate::cargo::Cargo;

const PATH: &str = "skills/browser-automation/SKILL.md";

const TEXT: &str = include_str!("browser-automation.md");

/// Writes the file.
pub(crate) fn write(cargo: &Cargo) -> io::Result<()> {
    cargo.write(PATH, 0o644, |file| file.write_all(TEXT.as_bytes()))
}
