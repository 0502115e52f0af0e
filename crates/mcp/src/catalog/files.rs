//! Files: the six tools of the workspace, and whole files in and out.

use cove_files::FileTool;
use serde_json::{Value, json};

use super::schema::{pictures, plain, text, untrusted};
use super::{Entry, Hints, ToolSet};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = FileTool::ALL.into_iter().map(workspace_tool).collect();
    entries.extend([
        Entry {
            name: "upload_file",
            title: "Put a file in",
            set: ToolSet::Files,
            usual: false,
            in_sandbox: true,
            description: "Put a file into the workspace: `content_base64` for pictures, archives and other binary files, or \
                          `content` for text. At most about 3 MB.",
            input: json!({"path": plain(), "content_base64": plain(), "content": plain()}),
            required: &["path"],
            output: json!({"path": {"type": "string"}, "size": {"type": "integer"}, "status": {"type": "string"}}),
            hints: Hints::Idempotent,
        },
        Entry {
            name: "download_file",
            title: "Take a file out",
            set: ToolSet::Files,
            usual: false,
            in_sandbox: true,
            description: "Take a file of any kind out of the workspace: a picture as a picture, a short text as text, all \
                          with a resource link. To look at a text, use read.",
            input: json!({"path": plain()}),
            required: &["path"],
            output: json!({
                "path": {"type": "string"}, "size": {"type": "integer"}, "media_type": {"type": "string"},
                "uri": {"type": "string"},
            }),
            hints: Hints::ReadOnly,
        },
    ]);
    entries
}

fn workspace_tool(tool: FileTool) -> Entry {
    let schema = tool.schema();
    let required: &'static [&'static str] = match tool {
        FileTool::Read => &["path"],
        FileTool::Write => &["path", "content"],
        FileTool::Edit => &["path"],
        FileTool::Grep | FileTool::Find => &["pattern"],
        FileTool::Ls | FileTool::Fs => &[],
    };
    let (title, hints) = match tool {
        FileTool::Read => ("Read a file", Hints::ReadOnly),
        FileTool::Write => ("Write a file", Hints::Idempotent),
        FileTool::Edit => ("Edit a file", Hints::Changes),
        FileTool::Grep => ("Search in files", Hints::ReadOnly),
        FileTool::Find => ("Find files", Hints::ReadOnly),
        FileTool::Ls => ("List a folder", Hints::ReadOnly),
        FileTool::Fs => ("Use files", Hints::Changes),
    };
    Entry {
        name: tool.name(),
        title,
        set: ToolSet::Files,
        usual: true,
        in_sandbox: true,
        description: tool.description(),
        input: schema.get("properties").cloned().unwrap_or(Value::Null),
        required,
        output: {
            let mut fields = untrusted();
            fields.insert("text".to_owned(), text("The answer as text, shortened to the limit."));
            fields.insert("details".to_owned(), json!({"description": "Facts for programs, where there are any."}));
            fields.insert("images".to_owned(), pictures());
            Value::Object(fields)
        },
        hints,
    }
}
