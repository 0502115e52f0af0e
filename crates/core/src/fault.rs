//! What goes wrong inside a run: a value, not a Rust error, because a guest's failure is a result like any other.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ErrorCode, ToolErrorCode};

/// A place in the user's own source. Both count from one; the column counts Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The kinds of trouble an engine can report. Each has one code in either contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The source does not parse.
    Syntax,
    /// The source parses and is refused (static import, reserved name, assignment to a tool, …).
    Refused,
    /// A module that the policy does not list.
    ImportNotAllowed,
    /// User code threw, or returned a promise that was rejected.
    Exception,
    /// A tool failed and user code did not catch it.
    Tool,
    /// The deadline passed.
    Timeout,
    /// The step counter ran out.
    MaxOperations,
    /// The memory limit was reached.
    Memory,
    /// The value has no JSON form (cycle, BigInt, throwing `toJSON`).
    NotSerializable,
    /// The value's JSON is longer than the limit.
    ResultTooLarge,
    /// `getCanvas` was called in an engine that was built or opened without one.
    CanvasNotAvailable,
    /// The engine is gone: its process was ended from outside, its bridge fell silent. Not the guest's message to write.
    EngineLost,
    /// The engine itself crashed (see [`Crash`](crate::Crash)): a bug of the engine, which guest code has met or found.
    EngineCrashed,
    /// The arguments of the call do not have the documented types. Nothing ran.
    InvalidArgs,
    /// The code is longer than the limit. Nothing ran.
    CodeTooLarge,
    /// The optional scan for words refused the code. Nothing ran.
    BlockedCode,
    /// A browser is needed and there is none. Nothing ran.
    BrowserNotAvailable,
    /// The browser is there, a page could not be had. Nothing ran.
    PageCreationFailed,
}

impl FaultKind {
    /// The code that the stateful executor gives this trouble.
    pub const fn executor_code(self) -> ErrorCode {
        match self {
            Self::Syntax | Self::Refused | Self::InvalidArgs | Self::CodeTooLarge | Self::BlockedCode => {
                ErrorCode::AstLintViolation
            }
            Self::BrowserNotAvailable | Self::PageCreationFailed => ErrorCode::SesInitFailed,
            Self::ImportNotAllowed => ErrorCode::ImportNotAllowed,
            Self::Exception | Self::NotSerializable | Self::ResultTooLarge | Self::CanvasNotAvailable => {
                ErrorCode::RuntimeException
            }
            Self::Tool => ErrorCode::ToolProxyFail,
            Self::Timeout => ErrorCode::ExecTimeout,
            Self::MaxOperations => ErrorCode::MaxOpsExceeded,
            Self::Memory => ErrorCode::MemoryLimit,
            Self::EngineLost => ErrorCode::InvalidState,
            Self::EngineCrashed => ErrorCode::EngineCrashed,
        }
    }

    /// The code that `run_javascript` gives this trouble.
    pub const fn tool_code(self) -> ToolErrorCode {
        match self {
            Self::Timeout => ToolErrorCode::ExecutionTimeout,
            Self::NotSerializable => ToolErrorCode::NonJsonSerializableReturn,
            Self::ResultTooLarge => ToolErrorCode::ResultTooLarge,
            Self::CanvasNotAvailable => ToolErrorCode::CanvasNotAvailable,
            Self::EngineCrashed => ToolErrorCode::EngineCrashed,
            Self::InvalidArgs => ToolErrorCode::InvalidArgs,
            Self::CodeTooLarge => ToolErrorCode::CodeTooLarge,
            Self::BlockedCode => ToolErrorCode::BlockedCode,
            Self::BrowserNotAvailable => ToolErrorCode::BrowserNotAvailable,
            Self::PageCreationFailed => ToolErrorCode::PageCreationFailed,
            _ => ToolErrorCode::JsExecutionFailed,
        }
    }
}

/// Why `fetch` had no answer. Stands in a fault's details, as `network`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkCause {
    /// The session has no network at all.
    Closed,
    /// The session's policy does not name this host.
    NotOpened,
    /// Chrome did not get an answer, and does not say why.
    Failed,
}

impl NetworkCause {
    /// As it stands in the details.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::NotOpened => "not_opened",
            Self::Failed => "failed",
        }
    }

    /// The cause with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Closed, Self::NotOpened, Self::Failed].into_iter().find(|cause| cause.as_str() == name)
    }
}

/// Why a value has no JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoJson {
    /// There is a BigInt in it.
    BigInt,
    /// It contains itself.
    Cycle,
    /// Anything else: a `toJSON` that throws, too many levels.
    Other,
}

/// One fault of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of trouble.
    pub kind: FaultKind,
    /// One sentence. For an exception `{Type}: {message}`.
    pub message: String,
    /// Where in the user's own source, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Plain-text code frame around that place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// What to do next, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the code asked for something that the browser engine has and this one does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_browser: bool,
    /// Further fields, named as in the contracts (`maxJsonLength`, `timeoutMs`, `module`, …).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Fault {
    /// A fault of which only the kind and the sentence are known.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            position: None,
            frame: None,
            hint: None,
            needs_browser: false,
            details: Map::new(),
        }
    }

    /// A fault whose cause is that nothing was fetched.
    #[must_use]
    pub fn by_network(mut self, cause: NetworkCause) -> Self {
        if cause != NetworkCause::NotOpened {
            self.hint = Some("Ask for the data through a tool, or open the session with a network policy.".to_owned());
        }
        self.with("network", cause.as_str())
    }

    /// Why nothing was fetched, if this is what went wrong; read from a fault's `details`.
    pub fn network_cause(details: &Map<String, Value>) -> Option<NetworkCause> {
        NetworkCause::from_name(details.get("network")?.as_str()?)
    }

    /// Adds a field to `details`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The failure as `run_javascript` answers it: its code, its sentence, and whatever else is known.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("error".to_owned(), self.kind.tool_code().as_str().into());
        object.insert("message".to_owned(), self.message.as_str().into());
        if let Some(position) = self.position {
            object.insert("line".to_owned(), position.line.into());
            object.insert("column".to_owned(), position.column.into());
        }
        for (key, text) in [("frame", &self.frame), ("hint", &self.hint)] {
            if let Some(text) = text {
                object.insert(key.to_owned(), text.as_str().into());
            }
        }
        for (key, value) in &self.details {
            // `error` and `message` are the answer's own.
            if key != "error" && key != "message" {
                object.insert(key.clone(), value.clone());
            }
        }
        Value::Object(object)
    }

    /// The one sentence for a passed deadline, the same from both engines.
    pub fn timeout(timeout_ms: u64) -> Self {
        Self::new(FaultKind::Timeout, format!("Agent execution timed out after {timeout_ms}ms"))
            .with("timeoutMs", timeout_ms)
    }

    /// The one sentence for a spent step counter.
    pub fn max_operations(max_operations: u64) -> Self {
        Self::new(FaultKind::MaxOperations, format!("Max operations exceeded ({max_operations})"))
            .with("maxOperations", max_operations)
    }

    /// The one sentence for a reached memory limit.
    pub fn memory(limit_bytes: u64) -> Self {
        Self::new(FaultKind::Memory, format!("Memory limit exceeded ({limit_bytes})")).with("limitBytes", limit_bytes)
    }

    /// The one sentence for a value without a JSON form, and what to do about the usual two reasons.
    pub fn not_serializable(reason: &str, cause: NoJson) -> Self {
        let mut fault = Self::new(FaultKind::NotSerializable, format!("The value has no JSON form: {reason}"));
        let hint = match cause {
            NoJson::BigInt => Some("JSON has no BigInt: return String(x), or Number(x) where it fits."),
            NoJson::Cycle => {
                Some("The value contains itself: return a copy without the cycle, or only the fields that are needed.")
            }
            NoJson::Other => None,
        };
        fault.hint = hint.map(str::to_owned);
        fault
    }

    /// The one sentence for a result that is too long.
    pub fn result_too_large(max_json_length: u64, json_length: u64) -> Self {
        let message = format!("The result's JSON has {json_length} characters; the limit is {max_json_length}");
        Self::new(FaultKind::ResultTooLarge, message)
            .with("maxJsonLength", max_json_length)
            .with("jsonLength", json_length)
    }
}

/// What a failed run may have done to the world outside (through tools; there is no other way out).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// No tool was called.
    None,
    /// Every tool that was called has answered.
    Committed,
    /// A tool was called and had not answered when the run ended.
    Unknown,
}

/// Whether the same run may simply be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Nothing outside was touched: running it again cannot do anything twice.
    Safe,
    /// Something outside may have been touched.
    Unsafe,
}

impl From<Effects> for Retry {
    fn from(effects: Effects) -> Self {
        if effects == Effects::None { Self::Safe } else { Self::Unsafe }
    }
}
