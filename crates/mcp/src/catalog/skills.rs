//! Skills: what was learnt from executions, tried, released and taken back.

use serde_json::{Value, json};

use super::browser::steps;
use super::schema::{count, executed, flag, plain, tags, text, timeout_ms};
use super::{Entry, Hints, ToolSet};
use crate::time::SEVERAL;

fn candidate() -> Value {
    json!({
        "id": {"type": "string"}, "skill_key": {"type": "string"}, "status": {"type": "string"},
        "skill_type": {"type": "string"}, "scenario_key": {"type": ["string", "null"]},
        "payload_ref": {"type": ["string", "null"]}, "summary": {"type": ["string", "null"]},
        "source_execution_ids": {"type": "array", "items": {"type": "string"}},
        "latest_pass": {"type": ["boolean", "null"]}, "latest_score": {"type": ["number", "null"]},
    })
}

fn release() -> Value {
    json!({
        "id": {"type": "string"}, "skill_key": {"type": "string"}, "candidate_id": {"type": "string"},
        "version": {"type": "integer"}, "stage": {"type": "string"}, "is_active": {"type": "boolean"},
        "promoted_at": {"type": "string"}, "rollback_of": {"type": ["string", "null"]},
    })
}

fn list(items: &Value) -> Value {
    json!({
        "items": {"type": "array", "items": {"type": "object", "properties": items}},
        "total": {"type": "integer"},
    })
}

fn stage() -> Value {
    json!({"type": "string", "enum": ["canary", "stable"]})
}

fn number() -> Value {
    json!({"type": "integer"})
}

pub(super) fn entries() -> Vec<Entry> {
    let base = |name, title, description, hints| Entry {
        name,
        title,
        set: ToolSet::Skills,
        usual: false,
        in_sandbox: false,
        description,
        input: json!({}),
        required: &[],
        output: json!({}),
        hints,
    };
    vec![
        Entry {
            input: json!({"payload": {"type": ["object", "array"]}, "kind": {"type": "string", "default": "generic"}}),
            required: &["payload"],
            output: json!({"payload_ref": {"type": "string"}, "kind": {"type": "string"}}),
            ..base(
                "create_skill_payload",
                "Keep a skill's content",
                "Keep the content of a skill and get its `payload_ref` for create_skill_candidate.\n\
                 Example: {\"payload\": {\"commands\": [\"open https://example.com\"]}, \"kind\": \"browser\"}",
                Hints::Changes,
            )
        },
        Entry {
            input: json!({"payload_ref": text("`blob:…`")}),
            required: &["payload_ref"],
            output: json!({"payload_ref": {"type": "string"}, "kind": {"type": "string"}, "payload": {}}),
            ..base(
                "get_skill_payload",
                "Show a skill's content",
                "Show what a candidate or a release would do.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({
                "skill_key": text("Its name, the same for all versions."),
                "source_execution_ids": {"type": "array", "items": {"type": "string"}},
                "scenario_key": plain(),
                "payload_ref": plain(),
                "summary": plain(),
                "usage_notes": plain(),
                "preconditions": {"type": "object"},
                "postconditions": {"type": "object"},
            }),
            required: &["skill_key", "source_execution_ids"],
            output: candidate(),
            ..base(
                "create_skill_candidate",
                "Propose a skill",
                "Propose a skill from executions that worked. Then try it, evaluate_skill_candidate, and promote it.",
                Hints::Changes,
            )
        },
        Entry {
            input: json!({
                "candidate_id": plain(),
                "passed": {"type": "boolean"},
                "score": {"type": "number", "description": "0 to 1"},
                "benchmark_id": text("What it was tried on."),
                "report": plain(),
            }),
            required: &["candidate_id", "passed"],
            output: json!({
                "id": {"type": "string"}, "candidate_id": {"type": "string"}, "passed": {"type": "boolean"},
                "score": {"type": ["number", "null"]}, "report": {"type": ["string", "null"]},
            }),
            ..base(
                "evaluate_skill_candidate",
                "Note a skill's evaluation",
                "Note how a candidate did when you tried it; this runs nothing. Only one that passed last can be promoted.",
                Hints::Changes,
            )
        },
        Entry {
            input: json!({
                "candidate_id": plain(),
                "stage": {"type": "string", "enum": ["canary", "stable"], "default": "canary"},
                "upgrade_of_release_id": plain(),
                "upgrade_reason": plain(),
                "change_summary": plain(),
            }),
            required: &["candidate_id"],
            output: release(),
            ..base(
                "promote_skill_candidate",
                "Release a skill",
                "Release a candidate that passed: first as canary, on trial, then as stable. It is the one in use then; \
                 rollback_skill_release brings back the one before.",
                Hints::Changes,
            )
        },
        Entry {
            input: json!({
                "status": {
                    "type": "string",
                    "enum": ["draft", "evaluating", "promoted", "promoted_canary", "promoted_stable", "rejected", "rolled_back"],
                },
                "skill_key": plain(),
                "limit": count(500, 50),
                "offset": number(),
            }),
            output: list(&candidate()),
            ..base(
                "list_skill_candidates",
                "List proposed skills",
                "List skill candidates, newest first, with their last evaluation.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({
                "skill_key": plain(),
                "active_only": flag(false),
                "stage": stage(),
                "limit": count(500, 50),
                "offset": number(),
            }),
            output: list(&release()),
            ..base(
                "list_skill_releases",
                "List released skills",
                "List released skills, newest first. Look here when a task begins: an active one may do it already \
                 (run_browser_skill; get_skill_payload shows any).",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"release_id": plain()}),
            required: &["release_id"],
            output: json!({
                "release_id": {"type": "string"}, "skill_key": {"type": "string"}, "stage": {"type": "string"},
                "samples": {"type": "integer"}, "success_rate": {"type": "number"}, "healthy": {"type": "boolean"},
                "should_rollback": {"type": "boolean"}, "rollback_reasons": {"type": "array"},
            }),
            ..base(
                "get_skill_release_health",
                "Show how a skill does",
                "Show how often a release was replayed, how often that worked, and whether to take it back.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"release_id": plain()}),
            required: &["release_id"],
            output: release(),
            ..base(
                "rollback_skill_release",
                "Take a skill back",
                "Take a release back when it fails where it used to work: the one before it is active again.",
                Hints::Changes,
            )
        },
        Entry {
            in_sandbox: true,
            input: json!({
                "skill_key": plain(),
                "timeout_ms": timeout_ms(SEVERAL),
                "stop_on_error": flag(true),
                "include_trace": flag(false),
                "description": plain(),
                "tags": tags(),
            }),
            required: &["skill_key"],
            output: {
                let mut fields = executed(steps());
                if let Some(fields) = fields.as_object_mut() {
                    fields.insert("skill_key".to_owned(), json!({"type": "string"}));
                    fields.insert("release_id".to_owned(), json!({"type": "string"}));
                }
                fields
            },
            ..base(
                "run_browser_skill",
                "Replay a browser skill",
                "Replay a browser skill's active release in the sandbox's browser, instead of finding the way again.",
                Hints::OpenWorld,
            )
        },
    ]
}
