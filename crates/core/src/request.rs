//! One run, from the caller to the process that executes it: the same type all the way.
//!
//! Every caller fills in a [`RunRequest`] once; the executor, the session host, the engines and the worker read it.
//! There is no other request type in between.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Limits;

/// Which engine was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// Chrome; where none can be had, the embedded engine with a warning.
    #[default]
    Browser,
    /// The embedded engine.
    Embedded,
    /// Decided from the program's free names.
    Auto,
}

/// How source text is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunShape {
    /// A function body: `return` gives the value, `input` is bound. Nothing persists by itself.
    #[default]
    FunctionBody,
    /// A cell: the last expression is the value, top-level declarations persist to the next cell.
    Cell,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The user's own source, JavaScript or TypeScript.
    pub code: String,
    /// How it is taken.
    #[serde(default)]
    pub shape: RunShape,
    /// The variable `input`; `None` is `undefined`. An engine binds it for a function body; for a cell it is a variable of
    /// the session, which the session host sets.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_value")]
    pub input: Option<Value>,
    /// Wall clock for the whole execution.
    pub timeout_ms: u64,
    /// Loop iterations; `None`: only the clock limits.
    pub max_operations: Option<u64>,
    /// Which engine.
    pub engine: EngineChoice,
    /// Whether another engine may be used when the one asked for cannot be had.
    pub fallback: bool,
    /// Whether the last expression is the value of a function body without a `return`, and a warning says so. The contract of
    /// `run_javascript` says no.
    #[serde(default)]
    pub last_value: bool,
    /// Whether the value is wanted as text, as Node's REPL shows it ([`Finished::shown`](crate::Finished::shown)), and not as
    /// JSON. Then every value can be had, also one that JSON has no form for.
    #[serde(default)]
    pub inspect: bool,
    /// The session to run in, by name; `None`: a fresh world that ends with the run.
    pub session: Option<String>,
    /// Names of the tools that the caller itself answers while the code runs.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Those of them that a person must allow, call by call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_tools: Vec<String>,
    /// Goes into the metadata of artifacts.
    pub message_id: Option<String>,
    /// Goes into the metadata of artifacts.
    pub agent_id: Option<String>,
}

/// The arguments are not what the tool's schema says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidArgs(pub String);

impl RunRequest {
    /// A function body with every default.
    pub fn new(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            shape: RunShape::FunctionBody,
            input: None,
            timeout_ms: Limits::ONE_SHOT.timeout_ms,
            max_operations: None,
            engine: EngineChoice::default(),
            fallback: true,
            last_value: false,
            inspect: false,
            session: None,
            tools: Vec::new(),
            asked_tools: Vec::new(),
            message_id: None,
            agent_id: None,
        }
    }

    /// A cell with every default.
    pub fn cell(code: impl Into<String>) -> Self {
        Self { shape: RunShape::Cell, ..Self::new(code) }
    }

    /// Reads the arguments of `run_javascript` as a model sends them. Fields that the contract does not name are ignored: models add some.
    pub fn from_json(args: &Value) -> Result<Self, InvalidArgs> {
        let args = args.as_object().ok_or_else(|| InvalidArgs("the arguments must be an object".to_owned()))?;
        let Some(Value::String(code)) = args.get("code") else {
            return Err(InvalidArgs("`code` must be a string".to_owned()));
        };
        let mut request = Self::new(code.clone());
        request.input = args.get("input").cloned();
        if let Some(value) = present(args, "timeout") {
            request.timeout_ms =
                value.as_u64().filter(|ms| (1..=Limits::MAX_TIMEOUT_MS).contains(ms)).ok_or_else(|| {
                    InvalidArgs("`timeout` must be a whole number of milliseconds, at least 1".to_owned())
                })?;
        }
        if let Some(value) = present(args, "engine") {
            request.engine = serde_json::from_value(value.clone())
                .map_err(|_| InvalidArgs("`engine` must be \"browser\", \"embedded\" or \"auto\"".to_owned()))?;
        }
        if let Some(value) = present(args, "fallback") {
            request.fallback =
                value.as_bool().ok_or_else(|| InvalidArgs("`fallback` must be true or false".to_owned()))?;
        }
        request.message_id = text(args, "messageId")?;
        request.agent_id = text(args, "agentId")?;
        Ok(request)
    }
}

/// A field that is there is a value, also when the value is `null`.
fn present_value<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn present<'a>(args: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    args.get(name).filter(|value| !value.is_null())
}

fn text(args: &Map<String, Value>, name: &str) -> Result<Option<String>, InvalidArgs> {
    match present(args, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(InvalidArgs(format!("`{name}` must be a string or null"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_seeds_schema_is_enough() {
        let request = RunRequest::from_json(&json!({"code": "return input.a", "input": {"a": 1}})).unwrap();
        assert_eq!(request, RunRequest { input: Some(json!({"a": 1})), ..RunRequest::new("return input.a") });
        assert_eq!((request.timeout_ms, request.engine, request.fallback), (30_000, EngineChoice::Browser, true));
    }

    /// `null` as input is not the same as none, also after a journey.
    #[test]
    fn a_request_travels_whole() {
        for input in [None, Some(Value::Null), Some(json!([null]))] {
            let request = RunRequest { input, session: Some("s".to_owned()), ..RunRequest::cell("1") };
            let text = serde_json::to_string(&request).unwrap();
            assert_eq!(serde_json::from_str::<RunRequest>(&text).unwrap(), request);
        }
    }

    /// Each wrong type is named.
    #[test]
    fn wrong_types_are_named() {
        let check = |args: Value, word: &str| {
            let error = RunRequest::from_json(&args).unwrap_err();
            assert!(error.0.contains(word), "{args}: {error}");
        };
        check(json!(null), "object");
        check(json!({}), "`code`");
        check(json!({"code": 1}), "`code`");
        check(json!({"code": "", "timeout": 0}), "`timeout`");
        check(json!({"code": "", "timeout": 1.5}), "`timeout`");
        check(json!({"code": "", "timeout": "1"}), "`timeout`");
        check(json!({"code": "", "engine": "node"}), "`engine`");
        check(json!({"code": "", "fallback": "yes"}), "`fallback`");
        check(json!({"code": "", "messageId": 7}), "`messageId`");
    }
}
