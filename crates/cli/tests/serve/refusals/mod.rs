//! Every refusal that the OpenAPI document lists, provoked by a real request: each pair of an operation and a code.
//!
//! The document is written from rules in the server; the lists here are written by hand. A pair that one has and the
//! other lacks is a fault, so neither can promise what does not happen, or keep silent about what does.

mod door;
mod inside;
pub(crate) mod quay;
mod shared;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub(crate) type Operations = &'static [&'static [&'static str]];

pub(crate) const FILES: &[&str] = &[
    "read_file",
    "write_file",
    "delete_file",
    "list_directory",
    "upload_file",
    "download_file",
    "call_file_tool",
    "watch_folder",
];
pub(crate) const BROWSER: &[&str] = &[
    "exec_browser",
    "exec_browser_batch",
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_fill",
    "browser_screenshot",
    "run_browser_skill",
];
pub(crate) const CODE: &[&str] = &["exec_python", "exec_shell"];
pub(crate) const JAVASCRIPT: &[&str] = &["exec_javascript", "reset_javascript"];
pub(crate) const LIFE: &[&str] = &["get_sandbox", "delete_sandbox", "extend_ttl", "keepalive", "stop_sandbox"];
pub(crate) const RECORD: &[&str] = &["list_history", "get_last_execution", "get_execution", "annotate_execution"];
pub(crate) const BESIDE: &[&str] =
    &["stream_events", "answer_tool", "list_artifacts", "get_artifact", "get_browser_trace"];
pub(crate) const PORTS: &[&str] = &["list_ports", "create_port_link", "list_port_links", "revoke_port_link"];
pub(crate) const NETWORK: &[&str] = &["get_network", "set_network"];
pub(crate) const PROCESSES: &[&str] =
    &["start_process", "get_process", "follow_process", "write_process", "signal_process", "resize_process"];
pub(crate) const MAKE: &[&str] = &["create_sandbox", "create_cargo"];
pub(crate) const LISTS: &[&str] = &["list_sandboxes", "list_cargos", "list_candidates", "list_releases"];
pub(crate) const CARGO: &[&str] = &["get_cargo", "delete_cargo"];
pub(crate) const SKILLS: &[&str] = &[
    "get_candidate",
    "get_payload",
    "get_release",
    "get_release_health",
    "delete_candidate",
    "evaluate_candidate",
    "promote_candidate",
    "delete_release",
    "rollback_release",
];
pub(crate) const NEW_SKILLS: &[&str] = &["create_candidate", "create_payload"];
pub(crate) const COLLECTOR: &[&str] = &["run_collector", "get_collector"];

/// Whose body is JSON.
const BODIES: &[&str] = &[
    "run_collector",
    "create_cargo",
    "create_sandbox",
    "extend_ttl",
    "create_port_link",
    "set_network",
    "start_process",
    "write_process",
    "signal_process",
    "resize_process",
    "write_file",
    "call_file_tool",
    "annotate_execution",
    "exec_javascript",
    "answer_tool",
    "approve_call",
    "deny_call",
    "create_candidate",
    "delete_candidate",
    "evaluate_candidate",
    "promote_candidate",
    "create_payload",
    "delete_release",
];
/// Which have a query, and a name in it.
pub(crate) const QUERIES: &[(&str, &str)] = &[
    ("list_profiles", "detail"),
    ("list_sandboxes", "limit"),
    ("list_cargos", "limit"),
    ("list_candidates", "limit"),
    ("list_releases", "limit"),
    ("stream_events", "after"),
    ("follow_process", "from"),
    ("watch_folder", "path"),
    ("list_directory", "path"),
    ("download_file", "path"),
    ("read_file", "path"),
    ("delete_file", "path"),
    ("list_history", "limit"),
    ("get_last_execution", "exec_type"),
    ("reset_javascript", "session"),
];

/// A cause, and what it makes of which operations.
pub(crate) struct Way {
    pub(crate) status: u16,
    /// Empty for 422, whose body has another shape.
    pub(crate) code: &'static str,
    pub(crate) operations: Operations,
}

impl Way {
    const fn new(status: u16, code: &'static str, operations: Operations) -> Self {
        Self { status, code, operations }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.operations.iter().flat_map(|some| some.iter().copied())
    }
}

const EVERYTHING: Operations = &[
    FILES,
    BROWSER,
    CODE,
    JAVASCRIPT,
    LIFE,
    RECORD,
    BESIDE,
    PORTS,
    NETWORK,
    PROCESSES,
    &["list_processes"],
    MAKE,
    LISTS,
    CARGO,
    SKILLS,
    NEW_SKILLS,
    COLLECTOR,
    &["list_profiles", "list_approvals", "approve_call", "deny_call"],
];
/// Whatever reads or writes the records.
const ON_RECORDS: Operations = &[
    FILES,
    BROWSER,
    CODE,
    JAVASCRIPT,
    LIFE,
    RECORD,
    BESIDE,
    PORTS,
    NETWORK,
    PROCESSES,
    &["list_processes"],
    MAKE,
    LISTS,
    CARGO,
    SKILLS,
    NEW_SKILLS,
];
const IN_A_SANDBOX: Operations =
    &[FILES, BROWSER, CODE, JAVASCRIPT, LIFE, RECORD, BESIDE, PORTS, NETWORK, PROCESSES, &["list_processes"]];
const QUERY_NAMES: &[&str] = &{
    let mut names = [""; QUERIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = QUERIES[at].0;
        at += 1;
    }
    names
};

pub(crate) const NO_KEY: Way = Way::new(401, "unauthorized", EVERYTHING);
pub(crate) const TOO_MANY: Way = Way::new(429, "quota_exceeded", EVERYTHING);
pub(crate) const LARGE: Way = Way::new(413, "validation_error", &[BODIES, BROWSER, CODE, &["upload_file"]]);
pub(crate) const LATE: Way = Way::new(408, "timeout", &[BODIES, BROWSER, CODE, &["upload_file"]]);
pub(crate) const BROKEN: Way = Way::new(400, "validation_error", &[BODIES, BROWSER, CODE]);
pub(crate) const UNFIT_BODY: Way = Way::new(422, "", &[BODIES, BROWSER, CODE, &["upload_file"]]);
pub(crate) const UNFIT_QUERY: Way = Way::new(422, "", &[QUERY_NAMES]);
pub(crate) const NOT_THERE: Way = Way::new(
    404,
    "not_found",
    &[
        FILES,
        BROWSER,
        CODE,
        JAVASCRIPT,
        LIFE,
        RECORD,
        BESIDE,
        PORTS,
        NETWORK,
        PROCESSES,
        CARGO,
        SKILLS,
        &["list_processes", "create_sandbox", "create_candidate", "approve_call", "deny_call"],
    ],
);
pub(crate) const EXPIRED: Way = Way::new(
    409,
    "sandbox_expired",
    &[
        FILES,
        BROWSER,
        CODE,
        JAVASCRIPT,
        RECORD,
        BESIDE,
        PORTS,
        NETWORK,
        PROCESSES,
        &["list_processes", "extend_ttl", "keepalive", "stop_sandbox"],
    ],
);
pub(crate) const NO_PROFILE: Way =
    Way::new(409, "conflict", &[FILES, BROWSER, CODE, JAVASCRIPT, PROCESSES, &["list_processes"]]);
pub(crate) const NO_PROFILE_HERE: Way =
    Way::new(409, "conflict", &[&["keepalive", "stream_events", "get_network", "set_network"]]);
pub(crate) const INCAPABLE: Way =
    Way::new(400, "capability_not_supported", &[FILES, BROWSER, CODE, JAVASCRIPT, PROCESSES, &["list_processes"]]);
pub(crate) const KEY_REUSED: Way = Way::new(409, "conflict", &[&["create_sandbox", "create_cargo", "extend_ttl"]]);
pub(crate) const CARGO_USED: Way = Way::new(409, "conflict", &[&["delete_cargo"]]);
pub(crate) const UNRIPE: Way =
    Way::new(409, "conflict", &[&["promote_candidate", "delete_candidate", "rollback_release"]]);
pub(crate) const ENDLESS: Way = Way::new(409, "sandbox_ttl_infinite", &[&["extend_ttl"]]);
pub(crate) const NO_ADMIN: Way = Way::new(403, "forbidden", &[COLLECTOR]);
pub(crate) const ODD: Way = Way::new(
    400,
    "validation_error",
    &[LISTS, &["list_history", "stream_events", "follow_process", "get_payload", "create_candidate", "set_network"]],
);
pub(crate) const NOT_IN_PROFILE: Way = Way::new(403, "forbidden", &[&["set_network"]]);
pub(crate) const ENDING: Way = Way::new(503, "session_not_ready", &[MAKE]);
pub(crate) const UNREACHABLE: Way = Way::new(503, "session_not_ready", IN_A_SANDBOX);
pub(crate) const NO_RUNTIME: Way =
    Way::new(502, "ship_error", &[FILES, BROWSER, CODE, JAVASCRIPT, PROCESSES, &["stream_events"]]);
pub(crate) const AWAY: Way = Way::new(503, "session_not_ready", ON_RECORDS);
pub(crate) const NO_TABLES: Way = Way::new(500, "internal_error", ON_RECORDS);
pub(crate) const LOCKED: Way = Way::new(
    504,
    "timeout",
    &[
        FILES,
        BROWSER,
        CODE,
        JAVASCRIPT,
        LIFE,
        RECORD,
        BESIDE,
        PORTS,
        NETWORK,
        PROCESSES,
        MAKE,
        LISTS,
        CARGO,
        SKILLS,
        NEW_SKILLS,
        &["list_processes", "run_collector"],
    ],
);
pub(crate) const OUTSIDE: Way =
    Way::new(400, "invalid_path", &[FILES, &["exec_shell", "start_process", "browser_screenshot"]]);
pub(crate) const CLOSED_TO_US: Way = Way::new(403, "forbidden", &[FILES, &["exec_shell", "start_process"]]);
pub(crate) const NO_FILE: Way = Way::new(
    404,
    "file_not_found",
    &[&[
        "read_file",
        "delete_file",
        "list_directory",
        "watch_folder",
        "download_file",
        "call_file_tool",
        "exec_shell",
        "start_process",
        "get_artifact",
    ]],
);
pub(crate) const NO_SUCH_KIND: Way = Way::new(400, "validation_error", &[FILES]);

/// All of them; each is gone through by a test below.
const WAYS: [&Way; 30] = [
    &NO_KEY,
    &TOO_MANY,
    &LARGE,
    &LATE,
    &BROKEN,
    &UNFIT_BODY,
    &UNFIT_QUERY,
    &NOT_THERE,
    &EXPIRED,
    &NO_PROFILE,
    &NO_PROFILE_HERE,
    &INCAPABLE,
    &KEY_REUSED,
    &CARGO_USED,
    &UNRIPE,
    &ENDLESS,
    &NO_ADMIN,
    &ODD,
    &NOT_IN_PROFILE,
    &ENDING,
    &UNREACHABLE,
    &NO_RUNTIME,
    &NO_TABLES,
    &AWAY,
    &LOCKED,
    &OUTSIDE,
    &CLOSED_TO_US,
    &NO_FILE,
    &NO_SUCH_KIND,
    // Under a call that goes on: `trouble`.
    &Way::new(502, "ship_error", &[&["exec_python", "exec_shell", "exec_browser", "exec_browser_batch"]]),
];

type Pair = (String, u16, String);

/// What the document lists: operation, status, code.
fn documented() -> BTreeSet<Pair> {
    let document = cove_server::openapi();
    let mut pairs = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            for (status, response) in operation["responses"].as_object().unwrap() {
                let status: u16 = status.parse().unwrap();
                let shared = response["$ref"].as_str().map(|at| document.pointer(at.trim_start_matches('#')).unwrap());
                let examples = &shared.unwrap_or(response)["content"]["application/json"]["examples"];
                match examples.as_object() {
                    _ if status < 400 => {}
                    Some(codes) => pairs.extend(codes.keys().map(|code| (id.to_owned(), status, code.clone()))),
                    None => drop(pairs.insert((id.to_owned(), status, String::new()))),
                }
            }
        }
    }
    pairs
}

#[test]
fn every_refusal_in_the_document_has_a_test_and_no_test_has_another() {
    let provoked: BTreeSet<Pair> =
        WAYS.iter().flat_map(|way| way.all().map(|id| (id.to_owned(), way.status, way.code.to_owned()))).collect();
    let documented = documented();
    let promised: Vec<&Pair> = documented.difference(&provoked).collect();
    let hidden: Vec<&Pair> = provoked.difference(&documented).collect();
    assert!(promised.is_empty(), "in the document, and never provoked: {promised:#?}");
    assert!(hidden.is_empty(), "provoked, and not in the document: {hidden:#?}");
    assert!(documented.len() > 400, "{}", documented.len());
}

/// Names that fit, of things that are not there.
pub(crate) fn names(operation: &str, sandbox: &str) -> Vec<(&'static str, String)> {
    let id = match operation {
        "get_cargo" | "delete_cargo" => "ws-000000000000",
        "get_candidate" | "delete_candidate" | "evaluate_candidate" | "promote_candidate" => "sc-000000000000",
        "get_release" | "get_release_health" | "delete_release" | "rollback_release" => "sr-000000000000",
        _ => sandbox,
    };
    [
        ("id", id),
        ("execution_id", "exec-000000000000"),
        ("skill_key", "nothing"),
        ("trace_ref", "blob:blob-000000000000"),
        ("payload_ref", "blob:blob-000000000000"),
        ("call_id", "call-0"),
        ("approval_id", "approval-0"),
        ("name", "00000000000000000000000000000000.png"),
        ("tool", "ls"),
        ("link_id", "link-000000000000"),
        ("process_id", "nothing"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

/// A query that fits.
pub(crate) fn query(operation: &str) -> &'static str {
    match operation {
        "read_file" | "download_file" | "delete_file" => "path=a",
        _ => "",
    }
}

/// A body that fits.
pub(crate) fn body(operation: &str) -> Value {
    match operation {
        "create_sandbox" => json!({ "cargo_id": "ws-000000000000" }),
        "extend_ttl" => json!({ "extend_by": 60 }),
        "create_port_link" => json!({ "port": 3000 }),
        "set_network" => json!({ "allow_hosts": [] }),
        "start_process" => json!({ "argv": ["true"] }),
        "write_process" => json!({ "text": "x" }),
        "write_file" => json!({ "path": "a", "content": "" }),
        "exec_python" => json!({ "code": "1", "timeout": 1 }),
        "exec_javascript" => json!({ "code": "1", "timeout": 1 }),
        "exec_shell" => json!({ "command": "true", "timeout": 1 }),
        "exec_browser" => json!({ "cmd": "get url", "timeout": 1 }),
        "exec_browser_batch" => json!({ "commands": ["get url"], "timeout": 1 }),
        "browser_navigate" => json!({ "url": "about:blank", "timeout": 1 }),
        "browser_snapshot" | "browser_screenshot" | "run_browser_skill" => json!({ "timeout": 1 }),
        "browser_click" => json!({ "ref": "@e1", "timeout": 1 }),
        "browser_fill" => json!({ "ref": "@e1", "text": "", "timeout": 1 }),
        "create_candidate" => json!({
            "skill_key": "s", "source_execution_ids": ["exec-000000000000"], "payload_ref": "blob:blob-000000000000",
        }),
        "evaluate_candidate" => json!({ "passed": true }),
        "create_payload" => json!({ "payload": {} }),
        _ if BODIES.contains(&operation) => json!({}),
        _ => Value::Null,
    }
}
