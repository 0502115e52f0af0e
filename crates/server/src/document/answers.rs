//! Every answer besides success, for each operation: the codes that it can give, with their statuses and shapes.

use std::collections::BTreeMap;

use cove_api::{ErrorBody, ErrorCode, Event, ProcessFrame, SchemaErrors, WatchFrame};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// Behind the gate.
const GATE: [ErrorCode; 2] = [ErrorCode::Unauthorized, ErrorCode::QuotaExceeded];

/// Codes of an operation beyond the gate's. Each pair of an operation and a code is provoked by a test: one that cannot
/// happen does not belong here, and one that can must.
fn own(path: &str, id: &str) -> Vec<ErrorCode> {
    use ErrorCode as E;
    let mut codes = Vec::new();
    // These look at nothing but the memory.
    if !matches!(id, "list_profiles" | "get_collector" | "list_approvals" | "approve_call" | "deny_call") {
        codes.push(E::Timeout);
        // The collector's own faults are in its report.
        if id != "run_collector" {
            // Records that cannot be had just now can be had again; all other faults of theirs are ours.
            codes.extend([E::InternalError, E::SessionNotReady]);
        }
    }
    if path.contains('{') {
        codes.push(E::NotFound);
    }
    let in_sandbox = path.starts_with("/v1/sandboxes/{id}");
    let works = ["/python/", "/shell/", "/browser/", "/filesystem/"].iter().any(|part| path.contains(part))
        && id != "get_browser_trace";
    let runs_javascript = matches!(id, "exec_javascript" | "reset_javascript");
    // A list of processes starts nothing, so that no runtime can fail at it.
    let has_processes = path.contains("/processes");
    if works || runs_javascript || has_processes {
        codes.extend([E::Conflict, E::CapabilityNotSupported]);
    }
    if works || runs_javascript || (has_processes && id != "list_processes") {
        codes.push(E::ShipError);
    }
    if path.contains("/filesystem/") {
        codes.extend([E::InvalidPath, E::Forbidden, E::ValidationError]);
    }
    codes.extend(match id {
        "create_sandbox" => vec![E::ValidationError, E::NotFound, E::Conflict],
        "create_cargo" | "delete_cargo" => vec![E::Conflict],
        "list_sandboxes" | "list_cargos" | "list_history" | "list_candidates" | "list_releases" | "get_payload" => {
            vec![E::ValidationError]
        }
        "extend_ttl" => vec![E::Conflict, E::SandboxTtlInfinite],
        // Where several Bays share the records, whoever listens gives the sandbox a home first.
        "stream_events" => vec![E::ValidationError, E::Conflict, E::ShipError],
        "keepalive" | "get_network" => vec![E::Conflict],
        "set_network" => vec![E::Conflict, E::ValidationError, E::Forbidden],
        "exec_shell" | "start_process" => vec![E::InvalidPath, E::FileNotFound, E::Forbidden],
        "follow_process" => vec![E::ValidationError],
        "browser_screenshot" => vec![E::InvalidPath],
        "read_file" | "download_file" | "delete_file" | "list_directory" | "watch_folder" | "call_file_tool"
        | "get_artifact" => {
            vec![E::FileNotFound]
        }
        "run_collector" | "get_collector" => vec![E::Forbidden],
        "create_candidate" => vec![E::NotFound],
        "promote_candidate" | "delete_candidate" | "rollback_release" => vec![E::Conflict],
        _ => Vec::new(),
    });
    let lives_on = matches!(id, "get_sandbox" | "delete_sandbox");
    if in_sandbox && !lives_on {
        codes.push(E::SandboxExpired);
    }
    codes
}

/// The schemas of the errors' bodies, and of what is in streams of events.
pub(super) fn add_schemas(document: &mut Value) {
    let mut schemas: Vec<(String, RefOr<Schema>)> = Vec::new();
    for (name, schema, nested) in [
        (ErrorBody::name(), <ErrorBody as utoipa::PartialSchema>::schema(), ErrorBody::schemas as fn(&mut Vec<_>)),
        (SchemaErrors::name(), <SchemaErrors as utoipa::PartialSchema>::schema(), SchemaErrors::schemas),
        (Event::name(), <Event as utoipa::PartialSchema>::schema(), Event::schemas),
        (ProcessFrame::name(), <ProcessFrame as utoipa::PartialSchema>::schema(), ProcessFrame::schemas),
        (WatchFrame::name(), <WatchFrame as utoipa::PartialSchema>::schema(), WatchFrame::schemas),
    ] {
        nested(&mut schemas);
        schemas.push((name.into_owned(), schema));
    }
    for (name, schema) in schemas {
        document["components"]["schemas"][name] = serde_json::to_value(schema).unwrap_or_default();
    }
}

/// Adds what an operation can answer besides its success; answers that several share are written once, in `shared`.
pub(super) fn add(
    path: &str,
    id: &str,
    has_body: bool,
    has_query: bool,
    responses: &mut Map<String, Value>,
    shared: &mut Map<String, Value>,
) {
    for response in responses.values_mut() {
        response["headers"] = request_id();
    }
    if !path.starts_with("/v1/") {
        return;
    }
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in GATE.into_iter().chain(own(path, id)) {
        let codes = by_status.entry(code.status()).or_default();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    if has_body {
        by_status.entry(408).or_default().push(ErrorCode::Timeout);
        by_status.entry(413).or_default().push(ErrorCode::ValidationError);
        let broken = by_status.entry(400).or_default();
        if !broken.contains(&ErrorCode::ValidationError) {
            broken.push(ErrorCode::ValidationError);
        }
    }
    for (status, mut codes) in by_status {
        codes.sort_by_key(|code| code.as_str());
        let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        let name = format!("{status}.{}", names.join("."));
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
        shared.entry(name).or_insert_with(|| refusal(status, &codes));
    }
    if has_body || has_query {
        responses.insert("422".to_owned(), json!({ "$ref": "#/components/responses/422" }));
        shared.entry("422").or_insert_with(unfit);
    }
}

fn request_id() -> Value {
    json!({ "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } })
}

/// Headers that many answers have.
pub(super) fn headers() -> Value {
    json!({
        "X-Request-Id": { "description": "The request's id", "schema": { "type": "string" } },
        "WWW-Authenticate": { "description": "How to authenticate", "schema": { "type": "string" } },
        "Retry-After": { "description": "Seconds", "schema": { "type": "integer" } },
    })
}

fn unfit() -> Value {
    let problem =
        json!({ "loc": ["body", "timeout"], "msg": "must be at most 300, and is 301", "type": "less_than_equal" });
    json!({
        "description": "The request does not parse, or does not fit its schema",
        "headers": request_id(),
        "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/SchemaErrors" },
            "example": { "detail": [problem] },
        } },
    })
}

fn refusal(status: u16, codes: &[ErrorCode]) -> Value {
    let names: Vec<String> = codes.iter().map(|code| format!("`{code}`: {}", meaning(*code))).collect();
    let examples: Map<String, Value> = codes
        .iter()
        .map(|code| {
            let error = json!({ "code": code, "message": meaning(*code), "request_id": "req-1" });
            (code.as_str().to_owned(), json!({ "value": { "error": error } }))
        })
        .collect();
    let mut headers = request_id();
    let more = match status {
        401 => Some("WWW-Authenticate"),
        429 | 503 => Some("Retry-After"),
        _ => None,
    };
    if let Some(name) = more {
        headers[name] = json!({ "$ref": format!("#/components/headers/{name}") });
    }
    json!({
        "description": names.join("; "),
        "headers": headers,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" }, "examples": examples } },
    })
}

fn meaning(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound => "not found, or owned by another owner",
        ErrorCode::Unauthorized => "missing or invalid API key",
        ErrorCode::Forbidden => "the API key may not do this",
        ErrorCode::QuotaExceeded => "quota or rate limit exceeded",
        ErrorCode::SessionNotReady => "the session is starting; try again later",
        ErrorCode::Timeout => "the work timed out",
        ErrorCode::ShipError => "the runtime failed",
        ErrorCode::Conflict => "the current state does not allow this",
        ErrorCode::SandboxExpired => "the sandbox has expired",
        ErrorCode::SandboxTtlInfinite => "a sandbox without an expiry cannot be extended",
        ErrorCode::ValidationError => "invalid value",
        ErrorCode::FileNotFound => "no such file in the workspace",
        ErrorCode::CapabilityNotSupported => "the profile does not support this",
        ErrorCode::InvalidPath => "invalid path, or a path outside the workspace",
        ErrorCode::PortClosed => "no program listens on this port",
        ErrorCode::LinkExpired => "the link has expired",
        ErrorCode::InternalError => "internal server error",
    }
}
