//! The arguments of the six tools, as types.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::FileError;
use crate::params::FileTool;

/// Arguments of `read`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadArgs {
    /// Which file.
    pub path: String,
    /// First line, counted from 1.
    #[serde(default)]
    pub offset: Option<u64>,
    /// How many lines.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Arguments of `write`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteArgs {
    /// Which file.
    pub path: String,
    /// All of its new content.
    pub content: String,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Replacement {
    /// What is there.
    pub old_text: String,
    /// What shall be there.
    pub new_text: String,
}

/// Arguments of `edit`: one replacement, or several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditArgs {
    /// Which file.
    pub path: String,
    /// What is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// What shall be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_text: Option<String>,
    /// Several replacements at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<Replacement>>,
}

impl EditArgs {
    /// One replacement.
    pub fn one(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { path: path.into(), old_text: Some(old.into()), new_text: Some(new.into()), edits: None }
    }

    /// The replacements, in whichever form they came.
    pub(crate) fn replacements(self) -> Result<Vec<Replacement>, FileError> {
        match (self.old_text, self.new_text, self.edits) {
            (Some(old_text), Some(new_text), None) => Ok(vec![Replacement { old_text, new_text }]),
            (None, None, Some(edits)) if !edits.is_empty() => Ok(edits),
            (None, _, None) => Err(FileError::invalid_args("edit: `oldText` is missing")),
            (Some(_), None, None) => Err(FileError::invalid_args("edit: `newText` is missing")),
            _ => Err(FileError::invalid_args("edit: give either `oldText` and `newText`, or `edits`")),
        }
    }
}

/// Arguments of `grep`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrepArgs {
    /// Regular expression, or plain text.
    pub pattern: String,
    /// Folder or file to look in.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files that match.
    #[serde(default)]
    pub glob: Option<String>,
    /// Upper and lower case are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// The pattern is plain text.
    #[serde(default)]
    pub literal: bool,
    /// Lines before and after each match.
    #[serde(default)]
    pub context: Option<u64>,
    /// Most matches to show.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Arguments of `find`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindArgs {
    /// Glob.
    pub pattern: String,
    /// Folder to look in.
    #[serde(default)]
    pub path: Option<String>,
    /// Most results to show.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Arguments of `ls`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LsArgs {
    /// Folder to list.
    #[serde(default)]
    pub path: Option<String>,
    /// Most entries to show.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Reads a tool's arguments from JSON; a wrong one is named in the error.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(tool: FileTool, args: Value) -> Result<T, FileError> {
    serde_json::from_value(tool.checked(args)?)
        .map_err(|error| FileError::invalid_args(format!("{}: {error}", tool.name())))
}
