//! After a refusal of Bay's.

use cove_api::{BayError, ErrorCode, RuntimeCause, SandboxId};
use serde_json::Value;

use crate::failure::Failure;

const NO_ROOM: &str = "Write less, delete files that are no longer needed, or ask the user for more room.";

/// What to do, whatever was called.
pub(crate) fn next_step(error: &BayError) -> String {
    let step = match error.code {
        ErrorCode::NotFound => "Check the id.",
        ErrorCode::Unauthorized | ErrorCode::Forbidden => "Ask the user for an API key that may do this.",
        ErrorCode::QuotaExceeded if error.details.contains_key("limit_bytes") => NO_ROOM,
        ErrorCode::QuotaExceeded => "Wait until something has ended, or delete sandboxes that are no longer needed.",
        ErrorCode::SessionNotReady => "Call again in a few seconds.",
        ErrorCode::Timeout => "Call again; if it takes as long again, do less in one call.",
        // Not there, or broken: a new sandbox would not have it either.
        ErrorCode::ShipError if error.cause() == Some(RuntimeCause::NotStarted) => super::NOT_STARTED,
        ErrorCode::ShipError => "Call again; if it fails again, make a new sandbox.",
        ErrorCode::Conflict if error.details.get("reason").and_then(Value::as_str) == Some("disk_full") => {
            "Ask the user to make room on the server's disk."
        }
        ErrorCode::Conflict => "See with list_sandboxes how the sandbox is now, then try again.",
        ErrorCode::SandboxExpired => "Make a new sandbox with create_sandbox.",
        ErrorCode::SandboxTtlInfinite => "Nothing to do: this sandbox does not expire.",
        ErrorCode::ValidationError => return correct(error),
        ErrorCode::FileNotFound => "ls and find show what is there.",
        ErrorCode::CapabilityNotSupported => return capable(error),
        ErrorCode::InvalidPath => "Give a path relative to /workspace.",
        ErrorCode::PortClosed => "Start a program that listens on this port, then try again.",
        ErrorCode::LinkExpired => "Make another link.",
        ErrorCode::InternalError => "Call once more; if it fails again, tell the user.",
    };
    step.to_owned()
}

fn words(error: &BayError, name: &str) -> Vec<String> {
    let list = error.details.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn correct(error: &BayError) -> String {
    let known = words(error, "available");
    if known.is_empty() {
        return "Nothing was done. Correct that value and call again.".to_owned();
    }
    format!("Nothing was done. Use one of: {}.", known.join(", "))
}

fn capable(error: &BayError) -> String {
    let browser = error.details.get("capability").and_then(Value::as_str).is_some_and(|one| one.starts_with("browser"));
    let profile = if browser { "browser-python" } else { "python-default" };
    format!("Make a sandbox with create_sandbox {{\"profile\": \"{profile}\"}} and pass its id as `sandbox_id`.")
}

/// Says where to look for what is not there, by the tool that was called.
pub(crate) fn look_up(failure: &mut Failure, tool: &str, own_sandbox: bool) {
    if failure.code == ErrorCode::QuotaExceeded.as_str() && tool == "create_sandbox" {
        failure.next_step = "Use one that you have (list_sandboxes), or delete one.".to_owned();
    }
    if failure.code != ErrorCode::NotFound.as_str() {
        return;
    }
    let id = failure.details.get("id").and_then(Value::as_str);
    let sandbox = id.is_some_and(|id| id.parse::<SandboxId>().is_ok());
    let step = match tool {
        "delete_sandbox" => "Nothing to delete; list_sandboxes shows which there are.",
        _ if sandbox => return about_sandbox(failure, own_sandbox),
        "create_sandbox" => "Leave out `cargo_id` for an empty workspace, or ask the user for the right one.",
        "get_execution" | "annotate_execution" => "get_execution_history lists what ran.",
        "get_last_execution" => "Nothing of that kind has run in this sandbox.",
        "evaluate_skill_candidate" | "promote_skill_candidate" => "list_skill_candidates shows which there are.",
        "create_skill_candidate" => "Pass ids of executions that are in a history, and a kept `payload_ref`.",
        "get_skill_payload" => "list_skill_candidates shows the `payload_ref` of each.",
        "run_browser_skill" | "get_skill_release_health" | "rollback_skill_release" => {
            "list_skill_releases shows which there are."
        }
        _ => return about_sandbox(failure, own_sandbox),
    };
    failure.next_step = step.to_owned();
}

/// Where to look for a sandbox.
pub(crate) fn about_sandbox(failure: &mut Failure, own_sandbox: bool) {
    let step = if own_sandbox {
        "Leave out `sandbox_id` to use this server's own sandbox; list_sandboxes shows the others."
    } else {
        "list_sandboxes shows which there are; create_sandbox makes one."
    };
    failure.next_step = step.to_owned();
}
