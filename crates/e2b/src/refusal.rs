//! What the door answers when it cannot do what it was asked, in the words of each of the three interfaces.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cove_api::{BayError, ErrorCode};
use serde_json::{Value, json};

/// A refusal. Control, files and the code interpreter write it as it is; the RPCs have words of their own for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The HTTP status.
    pub status: StatusCode,
    /// One sentence.
    pub message: String,
    /// A word for programs, where Bay has one.
    pub word: Option<ErrorCode>,
}

impl Refused {
    /// With a status and a sentence.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), word: None }
    }

    /// A value that cannot be.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something that E2B has and Cove has not.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, message)
    }

    /// No such thing.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The sandbox is not there for its traffic: clients take this for its end.
    pub(crate) fn gone(id: &str) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, format!("The sandbox {id} was not found"))
    }

    /// Whether the sandbox itself is not there (any more).
    pub(crate) fn is_gone(error: &BayError) -> bool {
        matches!(error.code, ErrorCode::NotFound | ErrorCode::SandboxExpired)
    }

    /// The word that Connect has for it.
    pub(crate) fn connect_code(&self) -> &'static str {
        match self.status.as_u16() {
            400 | 413 | 415 | 422 => "invalid_argument",
            401 => "unauthenticated",
            403 => "permission_denied",
            404 => "not_found",
            408 | 504 => "deadline_exceeded",
            409 => match self.word {
                None => "already_exists",
                Some(_) => "failed_precondition",
            },
            429 | 507 => "resource_exhausted",
            501 => "unimplemented",
            502 | 503 => "unavailable",
            _ => "internal",
        }
    }

    /// As Connect writes it.
    pub(crate) fn connect_body(&self) -> Value {
        json!({"code": self.connect_code(), "message": self.message})
    }
}

impl From<BayError> for Refused {
    fn from(error: BayError) -> Self {
        let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let status = match error.code {
            // Its end has come: to these clients it is not there.
            ErrorCode::SandboxExpired => StatusCode::NOT_FOUND,
            _ => status,
        };
        Self { status, message: error.message, word: Some(error.code) }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut body = json!({"code": self.status.as_u16(), "message": self.message});
        if let Some(word) = self.word {
            body["error_code"] = word.as_str().into();
        }
        (self.status, Json(body)).into_response()
    }
}
