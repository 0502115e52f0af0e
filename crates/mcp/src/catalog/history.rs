//! What ran before.

use serde_json::{Value, json};

use super::schema::{count, flag, plain, tags, text};
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
    json!({"type": "string", "enum": ["python", "shell", "javascript", "browser", "browser_batch"]})
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
    vec![
        Entry {
            input: json!({
                "exec_type": kind(),
                "success_only": flag(false),
                "limit": count(500, 20),
                "offset": {"type": "integer"},
                "tags": text("Only with all of these, with commas between."),
                "has_notes": {"type": "boolean"},
                "has_description": {"type": "boolean"},
            }),
            output: json!({
                "entries": {"type": "array", "items": {"type": "object", "properties": entry_fields()}},
                "total": {"type": "integer"},
            }),
            ..base(
                "get_execution_history",
                "List what ran",
                "List what ran in a sandbox, newest first, to see what was tried or to collect executions for a skill. \
                 Long texts are shortened.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"execution_id": plain()}),
            required: &["execution_id"],
            ..base(
                "get_execution",
                "Show what ran",
                "Show one execution whole: code, output (at most 64 KB, head and tail), notes.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"exec_type": kind()}),
            ..base(
                "get_last_execution",
                "Show what ran last",
                "Show the last execution (of a kind), for example after an answer was lost.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"execution_id": plain(), "description": plain(), "tags": tags(), "notes": plain()}),
            required: &["execution_id"],
            ..base(
                "annotate_execution",
                "Note something with an execution",
                "Note a description, tags or notes with an execution, to find it again. What you leave out stays as it is.",
                Hints::Idempotent,
            )
        },
    ]
}
