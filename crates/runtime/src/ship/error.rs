//! What Ship answers when it cannot do what it was asked, made from what the system says.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cove_runtime_api::{OutOfBounds, Refusal, RefusalCode, RuntimeCause};
use rustix::io::Errno;
use serde::de::DeserializeOwned;

/// A refusal, as Ship's endpoints give it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub(crate) struct ApiError(Refusal);

impl ApiError {
    fn new(status: StatusCode, code: RefusalCode, message: impl Into<String>) -> Self {
        Self(Refusal::new(status.as_u16(), code, message))
    }

    pub(crate) fn bad_request(code: RefusalCode, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn invalid_path(given: &str, why: &str) -> Self {
        let given: String = given.escape_debug().take(200).collect();
        Self::bad_request(RefusalCode::InvalidPath, format!("Invalid path: {given:?} ({why})"))
    }

    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::ValidationError, message)
    }

    pub(crate) fn not_found(code: RefusalCode, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, RefusalCode::QuotaExceeded, message)
    }

    pub(crate) fn not_supported(message: impl Into<String>) -> Self {
        Self::bad_request(RefusalCode::CapabilityNotSupported, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, RefusalCode::Conflict, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, RefusalCode::FileTooLarge, message)
    }

    /// The failure of a file tool, under the tool's own code.
    pub(crate) fn from_tool(code: RefusalCode, message: String) -> Self {
        let status = match code {
            RefusalCode::FileNotFound => StatusCode::NOT_FOUND,
            RefusalCode::PermissionDenied => StatusCode::FORBIDDEN,
            RefusalCode::Conflict => StatusCode::CONFLICT,
            RefusalCode::FileTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            RefusalCode::QuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
            RefusalCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            RefusalCode::IoError => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, code, message)
    }

    /// Nobody listens there.
    pub(crate) fn port_closed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, RefusalCode::PortClosed, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, RefusalCode::InternalError, message)
    }

    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, RefusalCode::Timeout, message)
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

    /// The same for a program that its caller has named.
    pub(crate) fn from_program(program: &str, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT) => {
                Self::not_found(RefusalCode::FileNotFound, format!("there is no program {program:?} in the sandbox"))
            }
            _ => Self::from_start(program, error),
        }
    }

    /// Something that this machine or sandbox does not have, or that is broken.
    pub(crate) fn not_started(message: impl Into<String>) -> Self {
        Self(Refusal { cause: Some(RuntimeCause::NotStarted), ..Self::internal(message).0 })
    }

    /// What the system's refusal means for the caller.
    pub(crate) fn from_errno(errno: Errno, given: &str) -> Self {
        match errno {
            Errno::NOENT => Self::not_found(RefusalCode::FileNotFound, format!("File not found: {given}")),
            // The kernel's words for "this would lead out": EXDEV for `..` and absolute symlinks, ELOOP for circles.
            Errno::XDEV => Self::invalid_path(given, "it leads outside the workspace"),
            Errno::LOOP => Self::invalid_path(given, "a symlink on the way cannot be followed"),
            Errno::NAMETOOLONG | Errno::INVAL => Self::invalid_path(given, "invalid file name"),
            Errno::NOTDIR => Self::bad_request(RefusalCode::NotADirectory, format!("Not a directory: {given}")),
            Errno::ISDIR => Self::bad_request(RefusalCode::NotAFile, format!("Is a directory: {given}")),
            Errno::NXIO => Self::bad_request(RefusalCode::NotAFile, format!("Not a regular file: {given}")),
            Errno::EXIST | Errno::NOTEMPTY => Self::new(
                StatusCode::CONFLICT,
                RefusalCode::Conflict,
                format!("Path exists already or is not empty: {given}"),
            ),
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                Self::new(StatusCode::FORBIDDEN, RefusalCode::Forbidden, format!("Permission denied: {given}"))
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

    /// As it is written.
    pub(crate) fn refusal(&self) -> &Refusal {
        &self.0
    }

    /// The stable code.
    pub(crate) fn code(&self) -> RefusalCode {
        self.0.code
    }
}

impl From<OutOfBounds> for ApiError {
    fn from(error: OutOfBounds) -> Self {
        Self::validation(error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.0.body(None))).into_response()
    }
}

/// A JSON body; what does not fit is a `validation_error` that says where.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        // Clients that forget the content type still mean JSON.
        let bytes = axum::body::Bytes::from_request(request, state).await.map_err(|rejection| {
            ApiError::new(rejection.status(), RefusalCode::ValidationError, rejection.body_text())
        })?;
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
