//! What Ship answers when it cannot do what it was asked: a stable code and a sentence, never an empty one.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde_json::json;

/// A refusal. `detail` in the answer repeats the message for clients that look for it there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// `not_started`: what was asked for could not be started at all.
    cause: Option<&'static str>,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), cause: None }
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn invalid_path(given: &str, why: &str) -> Self {
        let given: String = given.escape_debug().take(200).collect();
        Self::bad_request("invalid_path", format!("Invalid path: {given:?} ({why})"))
    }

    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "validation_error", message)
    }

    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "quota_exceeded", message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "file_too_large", message)
    }

    /// The failure of a file tool, under the tool's own code.
    pub(crate) fn from_tool(code: &'static str, message: String) -> Self {
        let status = match code {
            "file_not_found" => StatusCode::NOT_FOUND,
            "permission_denied" => StatusCode::FORBIDDEN,
            "conflict" => StatusCode::CONFLICT,
            "file_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "quota_exceeded" => StatusCode::TOO_MANY_REQUESTS,
            "timeout" => StatusCode::GATEWAY_TIMEOUT,
            "io_error" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, code, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message)
    }

    /// A program that could not be started.
    pub(crate) fn from_start(program: &str, error: &std::io::Error) -> Self {
        if Errno::from_io_error(error) == Some(Errno::AGAIN) {
            let message =
                "all processes that the sandbox may have are in use; end some of them, or restart the sandbox";
            return Self::too_many(format!("{program} could not be started: {message}"));
        }
        Self::not_started(format!("{program} could not be started: {error}"))
    }

    /// Something that this machine or sandbox does not have, or that is broken.
    pub(crate) fn not_started(message: impl Into<String>) -> Self {
        Self { cause: Some("not_started"), ..Self::internal(message) }
    }

    /// What the system's refusal means for the caller.
    pub(crate) fn from_errno(errno: Errno, given: &str) -> Self {
        match errno {
            Errno::NOENT => Self::not_found("file_not_found", format!("File not found: {given}")),
            // The kernel's words for "this would lead out": EXDEV for `..` and absolute symlinks, ELOOP for circles.
            Errno::XDEV => Self::invalid_path(given, "it leads outside the workspace"),
            Errno::LOOP => Self::invalid_path(given, "a symlink on the way cannot be followed"),
            Errno::NAMETOOLONG | Errno::INVAL => Self::invalid_path(given, "invalid file name"),
            Errno::NOTDIR => Self::bad_request("not_a_directory", format!("Not a directory: {given}")),
            Errno::ISDIR => Self::bad_request("not_a_file", format!("Is a directory: {given}")),
            Errno::NXIO => Self::bad_request("not_a_file", format!("Not a regular file: {given}")),
            Errno::EXIST | Errno::NOTEMPTY => {
                Self::new(StatusCode::CONFLICT, "conflict", format!("Path exists already or is not empty: {given}"))
            }
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                Self::new(StatusCode::FORBIDDEN, "forbidden", format!("Permission denied: {given}"))
            }
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => {
                Self::too_many(format!("No space left to write {given}: the workspace's quota or the disk is full"))
            }
            other => Self::internal(format!("{given}: {}", std::io::Error::from(other))),
        }
    }

    pub(crate) fn from_io(error: &std::io::Error, given: &str) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(errno, given),
            None => Self::internal(format!("{given}: {error}")),
        }
    }

    /// The stable code.
    #[cfg(test)]
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let detail = match self.status {
            StatusCode::UNPROCESSABLE_ENTITY => json!([{"loc": ["body"], "msg": self.message, "type": "value_error"}]),
            _ => json!(self.message),
        };
        let mut body = json!({"error": {"code": self.code, "message": self.message}, "detail": detail});
        if let Some(cause) = self.cause {
            body["error"]["cause"] = json!(cause);
        }
        (self.status, Json(body)).into_response()
    }
}

/// A JSON body; what does not fit is a `validation_error` that says where.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        // Clients that forget the content type still mean JSON.
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(|rejection| ApiError::new(rejection.status(), "validation_error", rejection.body_text()))?;
        let bytes = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        serde_json::from_slice(bytes).map(Body).map_err(|error| ApiError::validation(error.to_string()))
    }
}

/// The query; what does not fit is a `validation_error`.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(value)| Self(value)).map_err(|rejection| ApiError::validation(rejection.body_text()))
    }
}
