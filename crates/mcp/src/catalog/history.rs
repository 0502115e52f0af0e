//! What ran before.

use serde_json::{Value, json};

use super::schema::{count, flag, text};
use super::{Entry, Hints, ToolSet};

fn entry_fields() -> Value {
    json!({
        "id": {"type": "string"}, "session_id": {"type": ["string", "null"]}, "exec_type": {"type": "string"},
        "code": {"type": "string"}, "success": {"type": "boolean"}, "execution_time_ms": {"type": "integer"},
        "output": {"type": ["string", "null"]}, "description": {"type": ["string", "null"]},
        "failure": {"type": ["string", "null"], "description": "Why that execution failed."},
        "tags": {"type": ["string", "null"]}, "notes": {"type": ["string", "null"]}, "created_at": {"type": "string"},
    })
}

fn kind() -> Value {
    json!({
        "type": "string", "enum": ["python", "shell", "javascript", "browser", "browser_batch"],
        "description": "Only this kind.",
    })
}

pub(super) fn entries() -> Vec<Entry> {
    let base = |name, title, description, hints| Entry {
        name,
        title,
        set: ToolSet::History,
        usual: false,
        in_sandbox: true,
        description,
        input: json!({}),
        required: &[],
        output: entry_fields(),
        hints,
    };
    let id = || text("Which execution, as an answer's `execution_id` or the history names it.");
    vec![
        Entry {
            input: json!({
                "exec_type": kind(),
                "success_only": flag("Only those that succeeded.", false),
                "limit": count("How many at most.", 1, 500, 20),
                "offset": count("How many to leave out first.", 0, 1_000_000, 0),
                "tags": text("Only those with all of these tags, with commas between."),
                "has_notes": {"type": "boolean", "description": "Only those with notes."},
                "has_description": {"type": "boolean", "description": "Only those with a description."},
            }),
            output: json!({
                "entries": {"type": "array", "items": {"type": "object", "properties": entry_fields()}},
                "total": {"type": "integer"},
            }),
            ..base(
                "get_execution_history",
                "List what ran",
                "List what ran in a sandbox, newest first: code, output, success, time. Use it to find out what was tried \
                 already, or to collect executions for a skill. Long texts are shortened here; get_execution shows one \
                 whole.\nExample: {\"exec_type\": \"python\", \"success_only\": true, \"limit\": 10}",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"execution_id": id()}),
            required: &["execution_id"],
            ..base(
                "get_execution",
                "Show what ran",
                "Show one execution of a sandbox with its code, its output and its notes. Use it to read again what an \
                 earlier call said. At most 64 KB of output are kept, head and tail.\n\
                 Example: {\"execution_id\": \"exec-0123456789ab\"}",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"exec_type": kind()}),
            ..base(
                "get_last_execution",
                "Show what ran last",
                "Show the last execution of a sandbox (of a kind, if you name one). Use it after an answer was lost or cut \
                 off, to see how the run ended. Example: {\"exec_type\": \"shell\"}",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({
                "execution_id": id(),
                "description": text("What it is; absent: stays as it is."),
                "tags": text("Words for it, with commas between; absent: stay as they are."),
                "notes": text("Anything else; absent: stays as it is."),
            }),
            required: &["execution_id"],
            ..base(
                "annotate_execution",
                "Note something with an execution",
                "Note a description, tags or notes with an execution, so that it can be found again, for example to make \
                 a skill of it. What you leave out stays as it is.\n\
                 Example: {\"execution_id\": \"exec-0123456789ab\", \"tags\": \"login,works\"}",
                Hints::Idempotent,
            )
        },
    ]
}
