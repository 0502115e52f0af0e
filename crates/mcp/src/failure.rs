//! A failure as a model reads it: the code, one sentence, the place, and what to do now.
//!
//! Failures are answers, not protocol errors: clients show those to nobody, and a model that sees nothing tries the same
//! thing again.

use cove_api::{BayError, ErrorCode, RuntimeCause};
use serde_json::{Map, Value, json};

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) next_step: String,
    /// `frame`, `line`, `column` and other facts.
    pub(crate) details: Map<String, Value>,
}

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), next_step: next_step.into(), details: Map::new() }
    }

    /// The arguments are not what the tool's schema says.
    pub(crate) fn args(message: impl Into<String>) -> Self {
        Self::new("invalid_args", message, "Nothing ran. Fix the arguments to match the tool's schema, and call again.")
    }

    /// For the structured answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = self.details.clone();
        error.insert("code".to_owned(), json!(self.code));
        error.insert("message".to_owned(), json!(self.message));
        error.insert("next_step".to_owned(), json!(self.next_step));
        Value::Object(error)
    }

    /// For the text: what went wrong, and what to do now.
    pub(crate) fn text(&self) -> String {
        self.words() + &self.advice()
    }

    /// What went wrong.
    pub(crate) fn words(&self) -> String {
        let mut text = format!("{}: {}", self.code, self.message);
        if let Some(frame) = self.details.get("frame").and_then(Value::as_str) {
            text.push('\n');
            text.push_str(frame);
        }
        text
    }

    /// What to do now; never anybody else's words.
    pub(crate) fn advice(&self) -> String {
        if self.next_step.is_empty() { String::new() } else { format!("\nNext step: {}", self.next_step) }
    }
}

impl From<BayError> for Failure {
    fn from(error: BayError) -> Self {
        let next_step = match error.code {
            ErrorCode::NotFound => "Check the id with list_sandboxes, or make a new sandbox with create_sandbox.",
            ErrorCode::Unauthorized | ErrorCode::Forbidden => "Ask the user for an API key that may do this.",
            ErrorCode::QuotaExceeded => "Delete sandboxes that are no longer needed, or wait a little.",
            ErrorCode::SessionNotReady => "The sandbox is starting: call again in a few seconds.",
            ErrorCode::Timeout => "Do less in one call, or give it a longer `timeout_ms`.",
            // Not there, or broken: a new sandbox would not have it either.
            ErrorCode::ShipError if error.cause() == Some(RuntimeCause::NotStarted) => {
                "Call once more; if it fails again, tell the user what is missing here, and go on without this tool."
            }
            ErrorCode::ShipError => "Call again; if it fails again, make a new sandbox.",
            ErrorCode::Conflict => "Check the current state, then try again.",
            ErrorCode::SandboxExpired => "This sandbox has expired: create a new one with create_sandbox.",
            ErrorCode::SandboxTtlInfinite => "Nothing to do: this sandbox does not expire.",
            ErrorCode::ValidationError => "Fix the named value and call again.",
            ErrorCode::FileNotFound => "Look with ls or find for the file's name.",
            ErrorCode::CapabilityNotSupported => {
                "Make a sandbox with a profile that can do this (browser-python has everything), and use its id."
            }
            ErrorCode::InvalidPath => "Use a path below /workspace.",
            ErrorCode::InternalError => "This is an internal server error: tell the user.",
        };
        let mut failure = Self::new(error.code.as_str(), error.message, next_step);
        failure.details = error.details;
        failure
    }
}

/// What to do after JavaScript has failed.
pub(crate) fn javascript_advice(code: &str) -> &'static str {
    match code {
        "code_too_large" => "Put data into a file and read it in the code, or split the work.",
        "result_too_large" => "Return less, or write the result to a file with `await write({path, content})`.",
        "non_json_serializable_return" => "Return plain data: no cycles, no BigInt, no functions.",
        "execution_timeout" => "Do less in one call, or give it a longer `timeout_ms` (at most 300000).",
        "canvas_export_failed" => "The value is there, the picture is not: draw it again, smaller.",
        "engine_crashed" => {
            "This code has triggered a bug in the engine. Run it once more if it called no tool; if it crashes \
             again, write it differently, and tell the user."
        }
        "browser_not_available" | "page_creation_failed" => {
            "Use engine \"embedded\", or ask the user to install Chromium."
        }
        _ => "Fix the marked line and send the whole code again.",
    }
}
