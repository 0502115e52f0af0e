//! Answers to what never becomes a request: heads that are malformed or too long, and connections that are too many.
//!
//! hyper refuses such heads itself, below every layer, with a status and no body. What it writes while no request is being
//! answered can only be such a refusal; `stream.rs` sends one in the shape of every other error in its place.

use bytes::Bytes;
use cove_api::{BayError, ErrorCode};

use crate::envelope::new_request_id;
use crate::metrics;

/// Our refusal, by the status of the one that hyper wrote.
pub(crate) fn refusal(theirs: &[u8]) -> Bytes {
    let status = theirs.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u16>().ok());
    let (status, reason, message) = match status {
        Some(431) => (431, "Request Header Fields Too Large", "the request headers are too large"),
        Some(414) => (414, "URI Too Long", "the request URI is too long"),
        _ => (400, "Bad Request", "malformed HTTP request"),
    };
    written(status, reason, "", &BayError::new(ErrorCode::ValidationError, message))
}

/// The refusal of a connection for which there is no slot.
pub(crate) fn too_many_connections() -> Bytes {
    let message = "too many connections from this address; close some, or try again in a moment";
    let error = BayError::new(ErrorCode::QuotaExceeded, message).with("retry_after_ms", 1_000);
    written(429, "Too Many Requests", "retry-after: 1\r\n", &error)
}

fn written(status: u16, reason: &str, more: &str, error: &BayError) -> Bytes {
    let id = new_request_id();
    metrics::error(error.code);
    tracing::info!(id, status, "refused: {}", error.message);
    // A body of strings always serialises.
    let body = serde_json::to_string(&error.body(&id)).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {id}\r\n{more}\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Bytes::from(head + &body)
}
