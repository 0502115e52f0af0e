//! The OpenAPI document: its paths come from the handlers, the rest is said here for all of them.

mod answers;
mod links;
mod page;

use std::sync::OnceLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

pub(crate) use page::page;

use crate::routes;

/// What each name in a path means.
const PATH_NAMES: [(&str, &str); 11] = [
    ("approval_id", "Id of the call that waits"),
    ("id", "Its id"),
    ("execution_id", "The execution's id: `exec-` and 12 hex digits"),
    ("skill_key", "The skill's name"),
    ("trace_ref", "Reference of the trace"),
    ("payload_ref", "Reference of the payload"),
    ("call_id", "Id of the call, from its event"),
    ("name", "The artifact's name"),
    ("link_id", "The link's id"),
    ("process_id", "The process's id; or its number, while it runs"),
    ("tool", "`read`, `write`, `edit`, `grep`, `find` or `ls`"),
];

/// Operations that can be repeated safely with a key.
const ONCE: [&str; 3] = ["create_sandbox", "create_cargo", "extend_ttl"];

/// Operations whose body may be left out: every field has a default.
const BODY_OPTIONAL: [&str; 11] = [
    "approve_call",
    "deny_call",
    "create_sandbox",
    "create_cargo",
    "run_collector",
    "delete_candidate",
    "delete_release",
    "promote_candidate",
    "run_browser_skill",
    "annotate_execution",
    "signal_process",
];

const TAGS: [(&str, &str); 15] = [
    ("sandboxes", "The only resource that a client has to name: a profile, a cargo, and at most one session."),
    ("python and shell", "Code and commands in a sandbox."),
    ("processes", "Programs that run on by themselves in a sandbox: started, followed, fed, signalled."),
    ("javascript", "JavaScript and TypeScript in an embedded engine or a headless browser, with artifacts."),
    ("browser", "A browser, controlled by commands."),
    ("files", "Files in a sandbox's `/workspace`."),
    ("ports", "Programs in a sandbox that listen, and links by which people reach them in a browser."),
    ("network", "Which hosts a sandbox may reach while it runs, and its connections."),
    ("approvals", "Calls of code that wait until a person has decided."),
    ("events", "Events of a sandbox, as they happen."),
    ("history", "The history of executions."),
    ("cargos", "Volumes that can be kept after their sandbox."),
    ("skills", "Skills: learnt from executions, evaluated, released and monitored."),
    ("profiles", "The profiles from which sandboxes are created."),
    ("admin", "Operations that affect all owners; only the owner `default` may use them."),
];

const DESCRIPTION: &str = "A sheltered place for the code that AI agents write.\n\n\
    Every call but `/health` needs `Authorization: Bearer <key>`. Every response has `X-Request-Id`; a client may send its \
    own. Errors are `{error: {code, message, request_id, details?}}`; a body or a query that does not parse or fit its \
    schema is 422 `{detail: [{loc, msg, type}]}`. All paths also work without `/v1`.";

/// The whole document.
pub fn openapi() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(build)
}

fn build() -> Value {
    // Plain data; it always serialises.
    let mut document = serde_json::to_value(routes::described()).unwrap_or_default();
    document["info"] = json!({
        "title": "Cove",
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
    });
    document["servers"] = json!([{ "url": "/" }]);
    document["security"] = json!([{ "key": [] }]);
    document["tags"] = TAGS.iter().map(|(name, text)| json!({ "name": name, "description": text })).collect();
    document["components"]["securitySchemes"] =
        json!({ "key": { "type": "http", "scheme": "bearer", "description": "An API key" } });
    answers::add_schemas(&mut document);
    parts_that_may_be_missing(&mut document["components"]["schemas"]);
    let mut shared = Map::new();
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, item) in paths {
            let Some(methods) = item.as_object_mut() else { continue };
            for operation in methods.values_mut().filter_map(Value::as_object_mut) {
                complete(path, operation, &mut shared);
            }
        }
    }
    document["components"]["responses"] = Value::Object(shared);
    document["components"]["headers"] = answers::headers();
    document
}

/// Fields that are written among others, and may be missing together, are optional ones of the whole. As they come, the
/// document says that the whole may be null.
fn parts_that_may_be_missing(schemas: &mut Value) {
    let Some(all) = schemas.as_object_mut() else { return };
    let known = all.clone();
    for schema in all.values_mut().filter_map(Value::as_object_mut) {
        let missing = schema.get("allOf").and_then(|parts| parts[0]["oneOf"][0]["$ref"].as_str());
        let missing = missing.and_then(|name| known.get(name.rsplit('/').next()?)?["properties"].as_object());
        let (Some(missing), Some(Value::Array(mut parts))) = (missing, schema.get("allOf").cloned()) else { continue };
        let Some(Value::Object(mut whole)) = parts.pop().filter(|_| parts.len() == 1) else { continue };
        if let Some(properties) = whole.get_mut("properties").and_then(Value::as_object_mut) {
            properties.extend(missing.clone());
        }
        schema.remove("allOf");
        schema.extend(whole);
    }
}

/// What every operation of a kind has.
fn complete(path: &str, operation: &mut Map<String, Value>, shared: &mut Map<String, Value>) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    if path == "/health" {
        operation.insert("security".to_owned(), json!([]));
    }
    let mut parameters = path_parameters(path);
    if let Some(Value::Array(own)) = operation.remove("parameters") {
        parameters.extend(own);
    }
    if ONCE.contains(&id.as_str()) {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A repeated request with the same key gets the same response for an hour, and its work is done once",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$" },
        }));
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = operation.get_mut("requestBody") {
        body["required"] = Value::Bool(!BODY_OPTIONAL.contains(&id.as_str()) && id != "answer_tool");
    }
    let has_body = operation.contains_key("requestBody");
    let has_query = operation
        .get("parameters")
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|one| one["in"] == "query"));
    if let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) {
        answers::add(path, &id, has_body, has_query, responses, shared);
        links::add(&id, responses);
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let described = |name: &str| PATH_NAMES.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    names
        .map(|name| {
            json!({
                "name": name, "in": "path", "required": true, "description": described(name),
                "schema": { "type": "string" },
            })
        })
        .collect()
}

/// The document as its file has it.
pub fn openapi_text() -> String {
    let mut text = serde_json::to_string_pretty(openapi()).unwrap_or_default();
    text.push('\n');
    text
}

/// `/openapi.json`
pub(crate) async fn json() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| openapi().to_string());
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text.as_str()).into_response()
}
