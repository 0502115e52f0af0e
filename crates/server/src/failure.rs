//! A refusal on its way out.
//!
//! Handlers do not know the request's id, and need not: a [`Failure`] travels in the response's extensions, and the
//! envelope writes the body when it passes. So every error, wherever it was made, has the same shape and the id.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cove_api::{BayError, ErrorBody, ErrorCode};

/// What a handler answers.
pub(crate) type Reply<T> = Result<T, Failure>;

/// A refusal with its status.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    status: StatusCode,
    error: Box<BayError>,
}

impl Failure {
    /// A refusal whose status is its code's own.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        BayError::new(code, message).into()
    }

    /// A refusal for which HTTP has a status that the codes do not: 405, 408, 413.
    pub(crate) fn with_status(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, error: Box::new(BayError::new(code, message)) }
    }

    /// With one more detail.
    pub(crate) fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.error.details.insert(name.to_owned(), value.into());
        self
    }

    /// Its code.
    pub(crate) fn code(&self) -> ErrorCode {
        self.error.code
    }

    /// What is told to the log.
    pub(crate) fn message(&self) -> &str {
        &self.error.message
    }

    /// The body.
    pub(crate) fn body(&self, request_id: &str) -> ErrorBody {
        self.error.body(request_id)
    }

    /// Seconds after which it makes sense to come back, rounded up.
    fn retry_after(&self) -> Option<u64> {
        let ms = self.error.details.get("retry_after_ms").and_then(serde_json::Value::as_u64)?;
        Some(ms.div_ceil(1_000).max(1))
    }
}

impl From<BayError> for Failure {
    fn from(error: BayError) -> Self {
        let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, error: Box::new(error) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"cove\""));
        }
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}
