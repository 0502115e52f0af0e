//! Small pieces of JSON Schema.

use serde_json::{Value, json};

pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

pub(super) fn flag(about: &str, default: bool) -> Value {
    json!({"type": "boolean", "description": about, "default": default})
}

pub(super) fn count(about: &str, min: i64, max: i64, default: i64) -> Value {
    json!({"type": "integer", "description": about, "minimum": min, "maximum": max, "default": default})
}

pub(super) fn seconds(max: i64, default: i64) -> Value {
    count("Seconds after which it is ended.", 1, max, default)
}

/// Several words, in the way that the history keeps them.
pub(super) fn tags() -> Value {
    text("Words to find it by in the history, with commas between.")
}

pub(super) fn described() -> Value {
    text("What this is for, in a few words; kept in the history.")
}

pub(super) fn error() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "Why it failed; absent when it did not.",
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "frame": {"type": "string", "description": "The place in the code."},
            "line": {"type": "integer"},
            "column": {"type": "integer"},
            "next_step": {"type": "string", "description": "What to do now."},
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
        "untrusted": {"type": "boolean", "description": "Whether the output holds words of a web page or another stranger."},
        "notice": text("What the marks in untrusted fields mean."),
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
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
