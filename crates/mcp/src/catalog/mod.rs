//! The tools, as a model sees them: name, description, both schemas, hints.
//!
//! One list for both doors. A description says when to use the tool, what its limits are, and shows one call.

mod browser;
mod core;
mod files;
mod history;
mod schema;
mod skills;

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use schema::text;

/// A group of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolSet {
    /// What most agents need: code, files, a browser, sandboxes.
    Default,
    /// Code and sandboxes.
    Core,
    /// Files.
    Files,
    /// The browser.
    Browser,
    /// What ran before.
    History,
    /// Skills.
    Skills,
    /// All of them.
    All,
}

impl ToolSet {
    /// All names.
    pub const NAMES: [&str; 7] = ["default", "core", "files", "browser", "history", "skills", "all"];

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "default" => Self::Default,
            "core" => Self::Core,
            "files" => Self::Files,
            "browser" => Self::Browser,
            "history" => Self::History,
            "skills" => Self::Skills,
            "all" => Self::All,
            _ => return None,
        })
    }
}

/// One tool.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) set: ToolSet,
    /// Whether it is among those that are listed unless somebody asks for others.
    pub(crate) usual: bool,
    /// Whether it works in a sandbox.
    pub(crate) in_sandbox: bool,
    pub(crate) description: &'static str,
    /// Properties of its arguments, without `sandbox_id`.
    pub(crate) input: Value,
    pub(crate) required: &'static [&'static str],
    /// Properties of its structured answer, without `error`.
    pub(crate) output: Value,
    pub(crate) hints: Hints,
}

/// What a client may want to know before it asks its user.
#[derive(Clone, Copy)]
pub(crate) enum Hints {
    /// Changes nothing.
    ReadOnly,
    /// Adds, changes or removes things in a sandbox.
    Changes,
    /// Doing it twice is doing it once.
    Idempotent,
    /// Runs code: anything can happen, inside.
    Runs,
    /// Speaks to the outside.
    OpenWorld,
    /// Removes for good.
    Destructive,
}

fn entries() -> Vec<Entry> {
    [core::entries(), files::entries(), browser::entries(), history::entries(), skills::entries()]
        .into_iter()
        .flatten()
        .collect()
}

/// The tools of these sets. `own_sandbox`: whether a call may leave out its sandbox.
pub fn tools(sets: &[ToolSet], own_sandbox: bool) -> Vec<Tool> {
    let listed = |entry: &Entry| {
        sets.iter().any(|set| match set {
            ToolSet::All => true,
            ToolSet::Default => entry.usual,
            set => *set == entry.set,
        })
    };
    entries().into_iter().filter(listed).map(|entry| tool(&entry, own_sandbox)).collect()
}

fn tool(entry: &Entry, own_sandbox: bool) -> Tool {
    let mut properties = Map::new();
    let mut required: Vec<&str> = entry.required.to_vec();
    if entry.in_sandbox {
        let about = if own_sandbox {
            "Which sandbox, as create_sandbox or list_sandboxes names it. Leave it out to use this server's own sandbox, \
             which is made on first use and kept until the server ends."
        } else {
            required.insert(0, "sandbox_id");
            "Which sandbox, as create_sandbox or list_sandboxes names it."
        };
        properties.insert("sandbox_id".to_owned(), text(about));
    }
    properties.extend(entry.input.as_object().cloned().unwrap_or_default());
    let input = json!({
        "$schema": schema::DIALECT,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let mut output = entry.output.as_object().cloned().unwrap_or_default();
    if entry.in_sandbox {
        output.insert("sandbox_id".to_owned(), text("The sandbox that was used."));
    }
    output.insert("error".to_owned(), schema::error());
    output.insert("full_text".to_owned(), text("The file in the workspace that holds all of a long answer."));
    let output = json!({"$schema": schema::DIALECT, "type": "object", "properties": output});
    let object = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
    Tool::new(entry.name, entry.description, object(input))
        .with_title(entry.title)
        .with_raw_output_schema(object(output))
        .with_annotations(entry.hints.annotations(entry.title))
}

impl Hints {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title);
        let (read_only, destructive, idempotent, open) = match self {
            Self::ReadOnly => (true, false, true, false),
            Self::Changes => (false, false, false, false),
            Self::Idempotent => (false, false, true, false),
            Self::Runs => (false, true, false, false),
            Self::OpenWorld => (false, true, false, true),
            Self::Destructive => (false, true, true, false),
        };
        hints.read_only(read_only).destructive(destructive).idempotent(idempotent).open_world(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_set_is_small_and_every_name_is_there_once() {
        let usual = tools(&[ToolSet::Default], true);
        assert!(usual.len() <= 14, "{}", usual.len());
        let all = tools(&[ToolSet::All], true);
        let mut names: Vec<_> = all.iter().map(|tool| tool.name.to_string()).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for name in ["run_javascript", "browser_exec", "execute_browser_batch", "ls", "rollback_skill_release"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }

    #[test]
    fn the_seeds_schemas_are_kept() {
        let find =
            |own: bool, name: &str| tools(&[ToolSet::All], own).into_iter().find(|tool| tool.name == name).unwrap();
        let run = find(true, "run_javascript");
        assert_eq!(run.input_schema["required"], json!(["code"]));
        assert!(run.input_schema["properties"]["input"].is_object());
        let browser = find(false, "browser_exec");
        assert_eq!(browser.input_schema["required"], json!(["sandbox_id", "cmd"]));
        assert_eq!(browser.input_schema["properties"]["cmd"]["type"], "string");
    }

    #[test]
    fn every_description_says_when_and_shows_how() {
        for tool in tools(&[ToolSet::All], false) {
            let description = tool.description.as_deref().unwrap();
            assert!(description.len() > 120 && description.contains("Example"), "{}: {description}", tool.name);
            assert!(tool.output_schema.is_some() && tool.annotations.is_some());
        }
    }
}
