//! Tools: the only way for guest code to touch the world.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

/// What a tool's call returns; dropping it cancels the call.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;

/// The field of a tool's answer `{content: [{text}, …], …}` by which guest code may use it like a string: how much of the
/// first text that is (`length`, in UTF-16 units), and what it may ask of it besides (`truncated`, `nextOffset`). The
/// engines take the field out: as an object, the answer is what it was.
pub const TEXT_KEY: &str = "$text";

/// The one tool with a name of Cove's own: the operations that `require('fs')` is made of. Guest code cannot write the name;
/// the text that defines `fs` before the guest's own can.
pub const FS_TOOL: &str = "__cove_fs";

/// One call of one tool by guest code.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The arguments, in order, as JSON (bytes in the form of [`crate::bytes_to_json`]).
    pub args: Vec<Value>,
}

/// A tool's failure. User code sees an `Error` with this message, whose `code` says that a tool failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What went wrong, in one sentence.
    pub message: String,
    /// A stable code of the tool's own, if it has one (`invalid_path`, …).
    pub code: Option<String>,
}

impl ToolError {
    /// A failure with a sentence and no code of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None }
    }
}

/// What a tool does when it is called.
pub trait Tool: Send + Sync {
    /// Starts the call. Whoever holds the future owns it: it is dropped when the run ends.
    fn call(&self, call: ToolCall) -> ToolFuture;
}

impl<F> Tool for F
where
    F: Fn(ToolCall) -> ToolFuture + Send + Sync,
{
    fn call(&self, call: ToolCall) -> ToolFuture {
        self(call)
    }
}

/// How a tool looks to guest code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolMode {
    /// Returns a promise.
    #[default]
    Async,
    /// Returns the value itself; the guest stands still meanwhile.
    Sync,
}

/// A tool with the name that guest code calls it by.
#[derive(Clone)]
pub struct ToolSpec {
    /// A JavaScript identifier.
    pub name: String,
    /// What it is for, written for a model; may be empty.
    pub description: String,
    /// JSON Schema of its argument, if it takes one object.
    pub schema: Option<Value>,
    /// Promise or plain value.
    pub mode: ToolMode,
    /// The work.
    pub tool: Arc<dyn Tool>,
}

impl ToolSpec {
    /// An asynchronous tool out of a closure.
    ///
    /// ```
    /// use cove_core::{ToolSpec, ToolError};
    /// let tool = ToolSpec::new("shout", |call| async move {
    ///     let text = call.args.first().and_then(|a| a.as_str().map(str::to_uppercase));
    ///     text.map(Into::into).ok_or_else(|| ToolError::new("shout wants a string"))
    /// });
    /// assert_eq!(tool.name, "shout");
    /// ```
    pub fn new<F, R>(name: impl Into<String>, call: F) -> Self
    where
        F: Fn(ToolCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let tool = move |invocation| -> ToolFuture { Box::pin(call(invocation)) };
        Self {
            name: name.into(),
            description: String::new(),
            schema: None,
            mode: ToolMode::Async,
            tool: Arc::new(tool),
        }
    }

    /// The same tool, but guest code gets the value itself instead of a promise.
    #[must_use]
    pub fn sync(mut self) -> Self {
        self.mode = ToolMode::Sync;
        self
    }
}

impl std::fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolSpec").field("name", &self.name).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// The tools of a session, each name once and each a name that guest code can write.
#[derive(Debug, Clone, Default)]
pub struct ToolSet(Vec<ToolSpec>);

impl ToolSet {
    /// Checks the names; says which one is wrong.
    pub fn new(tools: Vec<ToolSpec>) -> Result<Self, String> {
        let mut seen = BTreeSet::new();
        for tool in &tools {
            let mut letters = tool.name.chars();
            let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
            if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
                return Err(format!("`{}` is not a valid function name", tool.name));
            }
            if tool.name.starts_with("__cove") && tool.name != FS_TOOL || tool.name == "final_answer" {
                return Err(format!("`{}` is a reserved name", tool.name));
            }
            if !seen.insert(tool.name.as_str()) {
                return Err(format!("there are two tools named `{}`", tool.name));
            }
        }
        Ok(Self(tools))
    }

    /// The tools, in the order they were given.
    pub fn iter(&self) -> std::slice::Iter<'_, ToolSpec> {
        self.0.iter()
    }

    /// Whether there is no tool at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.0.iter().find(|tool| tool.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_code_can_call() {
        let named = |name: &str| ToolSpec::new(name, |_| async { Ok(Value::Null) });
        assert!(ToolSet::new(vec![named("read"), named("$x_1"), named(FS_TOOL)]).is_ok());
        for name in ["", "1a", "a-b", "a b", "__cove_x", "final_answer", "ä"] {
            assert!(ToolSet::new(vec![named(name)]).is_err(), "{name:?} was taken");
        }
        assert_eq!(ToolSet::new(vec![named("a"), named("a")]).unwrap_err(), "there are two tools named `a`");
    }
}
