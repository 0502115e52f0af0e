//! The built-in skill: what a model should know before it works here, as a file in the workspace.

use std::io::Write;

use super::error::ApiError;
use super::fs::confined::{Inside, Workspace};

const PATH: &str = "skills/python-sandbox/SKILL.md";
const TEXT: &str = include_str!("python-sandbox.md");

/// Writes the skill. Others' skills are never touched; this one is ours, and always the present version.
pub(super) fn write(workspace: &Workspace) -> Result<(), ApiError> {
    let path = Inside::parse(PATH)?;
    let mut draft = workspace.draft()?;
    draft.file.write_all(TEXT.as_bytes()).map_err(|error| ApiError::from_io(&error, PATH))?;
    draft.place(&path, None)
}
