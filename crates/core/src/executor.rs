//! The types of the stateful executor: its options, its states, its answers and its errors.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Clock, ErrorCode, LogLevel, Random, Severity};

/// What happens to a `run` that comes while another one is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunConcurrency {
    /// It is refused with `ERR_INVALID_STATE`.
    #[default]
    Reject,
    /// It waits its turn, first come first served.
    Queue,
}

/// The executor's options, spelled as in its contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExecutorOptions {
    /// Loop iterations per run.
    pub max_operations: u64,
    /// Wall clock per run.
    pub timeout_ms: u64,
    /// Modules that `import()` may load.
    pub authorized_imports: Vec<String>,
    /// Source text of those modules, by name.
    pub modules: std::collections::BTreeMap<String, String>,
    /// Console output kept per run.
    pub max_log_bytes: u64,
    /// Console levels that are kept.
    pub collect_console_levels: Vec<LogLevel>,
    /// What happens to a second `run`.
    pub run_concurrency: RunConcurrency,
    /// How many may wait.
    pub max_queued_runs: u32,
    /// Memory of the compartment.
    pub max_memory_bytes: u64,
    /// The clock that guest code sees.
    pub clock: Clock,
    /// The randomness that guest code sees.
    pub random: Random,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            max_operations: 50_000,
            timeout_ms: 10_000,
            authorized_imports: Vec::new(),
            modules: Default::default(),
            max_log_bytes: 262_144,
            collect_console_levels: vec![LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error],
            run_concurrency: RunConcurrency::Reject,
            max_queued_runs: 16,
            max_memory_bytes: 64 << 20,
            clock: Clock::None,
            random: Random::None,
        }
    }
}

/// `NEW → INITIALIZING → READY ⇄ RUNNING → DIRTY → DEAD`, and `DEAD → READY` by `init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ExecutorState {
    /// Made, not yet started.
    New,
    /// `init` is going on.
    Initializing,
    /// Waits for code.
    Ready,
    /// Runs code.
    Running,
    /// A run had to be killed: only `cleanup` is allowed.
    Dirty,
    /// Nothing of it is left; `init` starts anew.
    Dead,
}

impl std::fmt::Display for ExecutorState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::New => "NEW",
            Self::Initializing => "INITIALIZING",
            Self::Ready => "READY",
            Self::Running => "RUNNING",
            Self::Dirty => "DIRTY",
            Self::Dead => "DEAD",
        })
    }
}

/// What one `run` of the executor gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeOutput {
    /// The value of the last expression, or the answer.
    pub output: Value,
    /// Console lines, joined by line breaks.
    pub logs: String,
    /// Whether `final_answer` was called.
    pub is_final_answer: bool,
    /// What of the value was lost on its way to JSON, and how to write it instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What an executor's call failed with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ExecutorError {
    /// Stable code.
    pub code: ErrorCode,
    /// How grave.
    pub severity: Severity,
    /// Whether the same call may succeed unchanged.
    pub retryable: bool,
    /// The contract's sentence for this code.
    pub message: String,
    /// Position, frame, hint and whatever else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// What the code had written to its console until then.
    pub logs: String,
}

impl ExecutorError {
    /// An error whose severity and retryability are its code's own.
    pub fn new(code: ErrorCode, message: impl Into<String>, logs: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            retryable: code.retryable(),
            message: message.into(),
            details: None,
            logs: logs.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_spelled_as_in_the_contract() {
        let output = CodeOutput { output: json!(1), logs: "a".into(), is_final_answer: true, warnings: Vec::new() };
        assert_eq!(serde_json::to_string(&output).unwrap(), r#"{"output":1,"logs":"a","is_final_answer":true}"#);
        let error = ExecutorError::new(ErrorCode::MaxOpsExceeded, "Max operations exceeded (9)", "");
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":"ERR_MAX_OPS_EXCEEDED","severity":"ERROR","retryable":false,"message":"Max operations exceeded (9)","logs":""}"#
        );
        let options: ExecutorOptions =
            serde_json::from_value(json!({"maxOperations": 7, "runConcurrency": "queue"})).unwrap();
        assert_eq!(
            (options.max_operations, options.run_concurrency, options.timeout_ms),
            (7, RunConcurrency::Queue, 10_000)
        );
        assert!(serde_json::from_value::<ExecutorOptions>(json!({"maxOps": 7})).is_err());
        assert_eq!(serde_json::to_value(ExecutorState::Dirty).unwrap(), "DIRTY");
        let again: ExecutorOptions = serde_json::from_value(serde_json::to_value(&options).unwrap()).unwrap();
        assert_eq!(again, options);
    }
}
