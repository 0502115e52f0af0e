//! Which answer leads where: the id that one operation gives is the name that another asks for.
//!
//! Readers see what comes next, and programs that try the interface out reach what is behind the first step.

use serde_json::{Map, Value, json};

/// An operation, where in its answer a name is, the parameter that it becomes, and who takes it.
const LINKS: [(&str, &str, &str, &[&str]); 8] = [
    (
        "create_sandbox",
        "id",
        "id",
        &[
            "get_sandbox",
            "extend_ttl",
            "keepalive",
            "exec_python",
            "exec_shell",
            "exec_javascript",
            "write_file",
            "read_file",
            "list_directory",
            "delete_file",
            "list_history",
            "get_last_execution",
            "list_artifacts",
            "stop_sandbox",
            "delete_sandbox",
        ],
    ),
    ("create_cargo", "id", "id", &["get_cargo", "delete_cargo"]),
    ("exec_python", "execution_id", "execution_id", &["get_execution", "annotate_execution"]),
    ("exec_shell", "execution_id", "execution_id", &["get_execution", "annotate_execution"]),
    ("exec_javascript", "execution_id", "execution_id", &["get_execution", "annotate_execution"]),
    ("create_payload", "payload_ref", "payload_ref", &["get_payload"]),
    ("create_candidate", "id", "id", &["get_candidate", "evaluate_candidate", "promote_candidate", "delete_candidate"]),
    ("promote_candidate", "id", "id", &["get_release", "get_release_health", "rollback_release", "delete_release"]),
];

/// Adds them to an operation's success.
pub(super) fn add(id: &str, responses: &mut Map<String, Value>) {
    let Some(success) = responses.iter_mut().find(|(status, _)| status.starts_with('2')).map(|(_, found)| found) else {
        return;
    };
    for (_, place, name, next) in LINKS.iter().filter(|(from, ..)| *from == id) {
        for to in *next {
            let mut parameters = Map::new();
            parameters.insert((*name).to_owned(), json!(format!("$response.body#/{place}")));
            if *name == "execution_id" {
                // In the same sandbox.
                parameters.insert("id".to_owned(), json!("$request.path.id"));
            }
            success["links"][*to] = json!({ "operationId": to, "parameters": parameters });
        }
    }
}
