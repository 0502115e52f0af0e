//! Files: the six tools of the workspace, and whole files in and out.

use cove_files::FileTool;
use serde_json::{Value, json};

use super::schema::text;
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
            description: "Put a file into the workspace from bytes that you have as base64. Use it for pictures, archives and \
                          other binary files; for text, write is simpler. Missing folders are created, an existing file is \
                          replaced. At most about 3 MB in one call.\n\
                          Example: {\"path\": \"img/dot.gif\", \"content_base64\": \"R0lGODlhAQABAAAAACw=\"}",
            input: json!({
                "path": text("Where to put it, relative to /workspace."),
                "content_base64": text("The bytes, as base64."),
                "content": text("The text, instead of `content_base64`."),
            }),
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
            description: "Take a file out of the workspace, whatever is in it. A picture comes as a picture, a short text as \
                          text; everything comes with a resource link, by which the client can fetch all bytes \
                          (resources/read, up to 16 MB). To look at a text, read is better: it shows parts.\n\
                          Example: {\"path\": \"out/report.pdf\"}",
            input: json!({"path": text("Which file, relative to /workspace.")}),
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
        FileTool::Ls => &[],
    };
    let (title, hints) = match tool {
        FileTool::Read => ("Read a file", Hints::ReadOnly),
        FileTool::Write => ("Write a file", Hints::Idempotent),
        FileTool::Edit => ("Edit a file", Hints::Changes),
        FileTool::Grep => ("Search in files", Hints::ReadOnly),
        FileTool::Find => ("Find files", Hints::ReadOnly),
        FileTool::Ls => ("List a folder", Hints::ReadOnly),
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
        output: json!({
            "text": text("The answer as text, shortened to the limit."),
            "details": {"description": "Facts for programs, where there are any."},
            "untrusted": {"type": "boolean", "description": "Whether the text holds words of a web page or another stranger."},
            "notice": text("What the marks in an untrusted text mean."),
            "images": {"type": "integer", "description": "How many pictures are in this answer as image content."},
        }),
        hints,
    }
}
