//! The built-in skill: what a model should know before it works here, as a file in the workspace.

use super::error::ApiError;
use super::fs::workspace::{GuestFiles, rel_path};

const PATH: &str = "skills/python-sandbox/SKILL.md";
const TEXT: &str = include_str!("python-sandbox.md");

/// Writes the skill. Others' skills are never touched; this one is ours, and always the present version.
pub(super) fn write(workspace: &GuestFiles) -> Result<(), ApiError> {
    let path = rel_path(PATH)?;
    let mut draft = workspace.draft()?;
    draft.write(TEXT.as_bytes()).map_err(|errno| ApiError::from_errno(errno, PATH))?;
    workspace.publish(draft, &path, None)
}
