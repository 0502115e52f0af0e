//! Every error of the interface, with its status and its JSON shape.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The stable code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not found, or owned by another owner.
    NotFound,
    /// Missing or invalid API key.
    Unauthorized,
    /// The API key may not do this.
    Forbidden,
    /// Quota or rate limit exceeded.
    QuotaExceeded,
    /// The session is starting; `details.retry_after_ms` says when to try again.
    SessionNotReady,
    /// The work timed out.
    Timeout,
    /// The runtime failed.
    ShipError,
    /// The resource is not in a state for this.
    Conflict,
    /// The sandbox has expired.
    SandboxExpired,
    /// A sandbox without an expiry cannot be extended.
    SandboxTtlInfinite,
    /// Invalid value.
    ValidationError,
    /// No such file in the workspace.
    FileNotFound,
    /// The profile does not support this; `details.capability` and `details.available`.
    CapabilityNotSupported,
    /// Invalid path, or a path outside the workspace; `details.reason`.
    InvalidPath,
    /// No program listens on this port of the sandbox.
    PortClosed,
    /// The link to a port has expired.
    LinkExpired,
    /// Internal server error.
    InternalError,
}

impl ErrorCode {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::NotFound,
        Self::Unauthorized,
        Self::Forbidden,
        Self::QuotaExceeded,
        Self::SessionNotReady,
        Self::Timeout,
        Self::ShipError,
        Self::Conflict,
        Self::SandboxExpired,
        Self::SandboxTtlInfinite,
        Self::ValidationError,
        Self::FileNotFound,
        Self::CapabilityNotSupported,
        Self::InvalidPath,
        Self::PortClosed,
        Self::LinkExpired,
        Self::InternalError,
    ];

    /// The HTTP status that goes with it.
    pub fn status(self) -> u16 {
        match self {
            Self::ValidationError | Self::CapabilityNotSupported | Self::InvalidPath => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound | Self::FileNotFound => 404,
            Self::Conflict | Self::SandboxExpired | Self::SandboxTtlInfinite => 409,
            Self::QuotaExceeded => 429,
            Self::InternalError => 500,
            Self::LinkExpired => 410,
            Self::ShipError | Self::PortClosed => 502,
            Self::SessionNotReady => 503,
            Self::Timeout => 504,
        }
    }

    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::QuotaExceeded => "quota_exceeded",
            Self::SessionNotReady => "session_not_ready",
            Self::Timeout => "timeout",
            Self::ShipError => "ship_error",
            Self::Conflict => "conflict",
            Self::SandboxExpired => "sandbox_expired",
            Self::SandboxTtlInfinite => "sandbox_ttl_infinite",
            Self::ValidationError => "validation_error",
            Self::FileNotFound => "file_not_found",
            Self::CapabilityNotSupported => "capability_not_supported",
            Self::InvalidPath => "invalid_path",
            Self::PortClosed => "port_closed",
            Self::LinkExpired => "link_expired",
            Self::InternalError => "internal_error",
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a runtime failed, where that is known: `details.cause` of a `ship_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeCause {
    /// It, or a program that it needs, could not be started.
    NotStarted,
    /// It ended while it worked.
    Ended,
    /// It did not answer any more and was ended.
    Silent,
}

impl RuntimeCause {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Ended => "ended",
            Self::Silent => "silent",
        }
    }
}

/// A refusal, as the control plane says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct BayError {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence, never empty.
    pub message: String,
    /// Details for programs.
    pub details: Map<String, Value>,
}

impl BayError {
    /// An error with a sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.trim().is_empty() {
            message = code.as_str().replace('_', " ");
        }
        Self { code, message, details: Map::new() }
    }

    /// With one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// With why a runtime failed.
    #[must_use]
    pub fn caused_by(self, cause: RuntimeCause) -> Self {
        self.with("cause", cause.as_str())
    }

    /// Why a runtime failed, where that is known.
    pub fn cause(&self) -> Option<RuntimeCause> {
        RuntimeCause::deserialize(self.details.get("cause")?).ok()
    }

    /// The form on the wire.
    pub fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                code: self.code,
                message: self.message.clone(),
                request_id: request_id.to_owned(),
                details: if self.details.is_empty() { None } else { Some(self.details.clone()) },
            },
        }
    }
}

/// The body of every error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// An error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence, never empty.
    #[schema(min_length = 1)]
    pub message: String,
    /// The request's id, as in `X-Request-Id`.
    pub request_id: String,
    /// Details for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

/// The body of 422: the request does not parse, or does not fit its schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SchemaErrors {
    /// Each problem.
    pub detail: Vec<SchemaProblem>,
}

/// One problem of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SchemaProblem {
    /// Position: `body`, `query` or `path`, then names and indices.
    #[schema(value_type = Vec<Value>)]
    pub loc: Vec<Value>,
    /// What is wrong.
    pub msg: String,
    /// Kind of the problem: `missing`, `json_invalid`, `value_error`, …
    #[serde(rename = "type")]
    pub kind: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_as_they_are_written() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!((400..600).contains(&code.status()));
        }
    }

    #[test]
    fn no_message_is_empty() {
        assert_eq!(BayError::new(ErrorCode::SessionNotReady, " ").message, "session not ready");
    }
}
