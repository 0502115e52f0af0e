//! The tools, as a model sees them: name, description, schemas, hints.
//!
//! One list for both doors. It is in a model's window before its first word, so it has a budget (`tests/mcp/sizes.mjs`
//! counts it): a description says what the tool is for, when to use another, and what cannot be guessed; hints are left
//! out where they are what the protocol assumes.

mod browser;
mod core;
mod files;
mod history;
mod schema;
mod skills;
mod wrapped;

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use schema::text;

pub(crate) use wrapped::{WRAPPED, wrapped};

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
    let history = sets.iter().any(|set| matches!(set, ToolSet::All | ToolSet::History | ToolSet::Skills));
    entries().into_iter().filter(listed).map(|entry| tool(&entry, own_sandbox, history)).collect()
}

/// `history`: whether the client can find runs again by their description and their tags. Both are understood anyway.
fn tool(entry: &Entry, own_sandbox: bool, history: bool) -> Tool {
    let mut properties = entry.input.as_object().cloned().unwrap_or_default();
    if !history && entry.set != ToolSet::History {
        properties.shift_remove("description");
        properties.shift_remove("tags");
    }
    let mut required: Vec<&str> = entry.required.to_vec();
    if entry.in_sandbox {
        let about = if own_sandbox { text("Default: this server's own.") } else { schema::plain() };
        properties.insert("sandbox_id".to_owned(), about);
        if !own_sandbox {
            required.insert(0, "sandbox_id");
        }
    }
    let mut input = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        input["required"] = json!(required);
    }
    let mut output = entry.output.as_object().cloned().unwrap_or_default();
    if entry.in_sandbox {
        output.insert("sandbox_id".to_owned(), schema::plain());
    }
    output.insert("error".to_owned(), schema::error());
    output.insert("full_text".to_owned(), text("The file in the workspace that holds all of a long answer."));
    let output = json!({"type": "object", "properties": output});
    let object = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
    Tool::new(entry.name, entry.description, object(input))
        .with_title(entry.title)
        .with_raw_output_schema(object(output))
        .with_annotations(entry.hints.annotations())
}

impl Hints {
    /// What the protocol does not assume of a tool without hints: that it destroys, and speaks to the outside.
    fn annotations(self) -> ToolAnnotations {
        let inside = ToolAnnotations::new().open_world(false);
        match self {
            Self::ReadOnly => inside.read_only(true),
            Self::Changes => inside.destructive(false),
            Self::Idempotent => inside.destructive(false).idempotent(true),
            Self::Runs => inside,
            Self::OpenWorld => ToolAnnotations::new().open_world(true),
            Self::Destructive => inside.idempotent(true),
        }
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
    fn every_description_is_short_and_every_argument_has_a_type() {
        for tool in tools(&[ToolSet::All], false) {
            let description = tool.description.as_deref().unwrap();
            assert!((30..800).contains(&description.len()), "{}: {description}", tool.name);
            assert!(tool.output_schema.is_some() && tool.annotations.is_some());
            for (name, property) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(property.get("type").is_some(), "{}: {name}", tool.name);
            }
        }
    }

    #[test]
    fn words_for_the_history_are_listed_with_the_history() {
        let tagged = |sets: &[ToolSet]| {
            let tools = tools(sets, true);
            tools.iter().filter(|tool| tool.input_schema["properties"].get("tags").is_some()).count()
        };
        assert_eq!(tagged(&[ToolSet::Default]), 0);
        assert_eq!(tagged(&[ToolSet::Core, ToolSet::History]), 5);
        assert_eq!(tagged(&[ToolSet::All]), 9);
    }
}
