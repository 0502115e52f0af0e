//! Small pieces of JSON Schema.
//!
//! Every word here is in a model's window from its first breath, so a name that says it all has no description, and what
//! is the same for every tool is said once, in the server's instructions.

use serde_json::{Value, json};

use crate::time::Bounds;

pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

/// A text whose name says what it is.
pub(super) fn plain() -> Value {
    json!({"type": "string"})
}

pub(super) fn flag(default: bool) -> Value {
    json!({"type": "boolean", "default": default})
}

pub(super) fn count(max: u64, default: u64) -> Value {
    json!({"type": "integer", "maximum": max, "default": default})
}

/// How long something may take, in milliseconds, as everywhere.
pub(super) fn timeout_ms(bounds: Bounds) -> Value {
    count(bounds.most_ms, bounds.usual_ms)
}

/// Several words, in the way that the history keeps them.
pub(super) fn tags() -> Value {
    text("With commas between.")
}

/// Why a call failed; absent when it did not.
pub(super) fn error() -> Value {
    json!({
        "type": ["object", "null"],
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "frame": {"type": "string", "description": "The place in the code."},
            "line": {"type": "integer"},
            "column": {"type": "integer"},
            "next_step": {"type": "string"},
        },
    })
}

/// The fields that every execution has.
pub(super) fn executed(more: Value) -> Value {
    let mut all = json!({
        "success": {"type": "boolean"},
        "output": text("What it wrote, shortened to the limit."),
        "execution_id": {"type": ["string", "null"], "description": "Its entry in the history."},
        "execution_time_ms": {"type": ["integer", "null"]},
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
        all.extend(untrusted());
    }
    all
}

/// What marks an answer that holds words of a web page or another stranger.
pub(super) fn untrusted() -> serde_json::Map<String, Value> {
    let fields = [("untrusted", json!({"type": "boolean"})), ("notice", text("What the marks in it mean."))];
    fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect()
}

/// How many pictures are in the answer, as image content.
pub(super) fn pictures() -> Value {
    json!({"type": "integer"})
}

/// A process that was started, or all of them.
pub(super) fn process() -> Value {
    json!({
        "process_id": {"type": "string"},
        "running": {"type": "boolean"},
        "return_code": {"type": ["integer", "null"]},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "processes": {"type": "array", "items": {"type": "object"}},
    })
}

pub(super) fn sandbox() -> Value {
    json!({
        "id": {"type": "string"},
        "status": {"type": "string"},
        "profile": {"type": "string"},
        "cargo_id": {"type": "string"},
        "capabilities": {"type": "array", "items": {"type": "string"}},
        "created_at": {"type": "string"},
        "expires_at": {"type": ["string", "null"]},
        "idle_expires_at": {"type": ["string", "null"]},
        "containers": {"type": ["array", "null"]},
    })
}
