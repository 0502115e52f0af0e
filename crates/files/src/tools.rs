//! The tools as guest code calls them: async functions under two names, and one that waits for its answer.

use std::sync::Arc;

use cove_core::{FS_TOOL, ToolCall, ToolError, ToolSpec};

use crate::error::FileError;
use crate::params::FileTool;
use crate::result::ToolResult;
use crate::stop::Stop;
use crate::workspace::Workspace;

/// The tools for a session: `read`, `readTool`, `readSync`, `write`, `writeTool`, `writeSync`, …
///
/// Each takes one object, and is lenient: `read("a.txt")` and `edit("a.txt", "old", "new")` work too. With them comes what
/// `require('fs')` is made of.
#[expect(clippy::needless_pass_by_value, reason = "the tools own the workspace")]
pub fn tool_specs(workspace: Arc<Workspace>) -> Vec<ToolSpec> {
    FileTool::FOR_CODE
        .into_iter()
        .flat_map(|tool| {
            let workspace = Arc::clone(&workspace);
            tool.specs(move |call| run(Arc::clone(&workspace), tool, call))
        })
        .collect()
}

async fn run(workspace: Arc<Workspace>, tool: FileTool, call: ToolCall) -> Result<serde_json::Value, ToolError> {
    let stop = Stop::default();
    let _cancel = stop.cancel_on_drop();
    let work = tokio::task::spawn_blocking(move || {
        let args = tool.arguments(call.args)?;
        workspace.call(tool, args, &stop).map(|result| ToolResult::for_code(result.to_json()))
    });
    match work.await {
        Ok(result) => result.map_err(ToolError::from),
        Err(_) => Err(ToolError::new(format!("{} was stopped", tool.name()))),
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        Self { message: error.message, code: Some(error.code.as_str().to_owned()) }
    }
}

impl FileTool {
    /// The tool under each of its names for code: `read` and `readTool` give a promise, `readSync` waits. What `fs` is made
    /// of has one name, and waits.
    pub fn specs<F, R>(self, call: F) -> Vec<ToolSpec>
    where
        F: Fn(ToolCall) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<serde_json::Value, ToolError>> + Send + 'static,
    {
        let spec = |ending: &str| {
            let mut spec = ToolSpec::new(format!("{}{ending}", self.name()), call.clone());
            spec.description = self.description_for_code();
            spec.schema = Some(self.schema());
            spec
        };
        if self == Self::Fs {
            return vec![ToolSpec::new(FS_TOOL, call).sync()];
        }
        vec![spec(""), spec("Tool"), spec("Sync").sync()]
    }

    /// The same for code, which gets the answer as a value.
    fn description_for_code(self) -> String {
        let name = self.name();
        let more = if self == Self::Read { ", and `.nextOffset` where" } else { "" };
        format!(
            "{} In code the answer can be used as its text, without notices: `(await {name}(…)).split(\"\\n\")`. \
             `.truncated` says that there is more{more}; `.content` and `.details` are the whole answer.",
            self.description()
        )
    }

    /// What the tool is for, written for a model.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Read => {
                "Read a text file or a picture (png, jpeg, gif, webp) of the workspace. Shows up to 2000 lines or 50KB; for \
                 more, call again with the offset that the notice names. Example: {path: \"src/main.rs\", offset: 201}"
            }
            Self::Write => {
                "Create a file or replace all of its content; missing folders are created. To change a part of a file, use \
                 edit. Example: {path: \"notes/todo.md\", content: \"- first\\n\"}"
            }
            Self::Edit => {
                "Replace a text in a file. oldText must occur exactly once and match the indentation, so include enough of \
                 the lines around it. edits makes several changes, all or none. \
                 Example: {path: \"a.py\", oldText: \"x = 1\\n\", newText: \"x = 2\\n\"}"
            }
            Self::Grep => {
                "Search file contents by regular expression; answers `path:line: text`. Respects .gitignore. Use it to find \
                 where something is before reading. Example: {pattern: \"fn main\", glob: \"*.rs\", context: 2}"
            }
            Self::Find => {
                "Find files and folders by glob, hidden ones too. Respects .gitignore. \
                 Example: {pattern: \"*.test.ts\", path: \"src\"}"
            }
            Self::Ls => "List a folder, hidden entries too; folders end with a slash. Example: {path: \"src\"}",
            Self::Fs => "The operations that `require('fs')` is made of.",
        }
    }
}
