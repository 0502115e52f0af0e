//! Why a call did not do what was asked.

use cove_api::{BayError, ErrorBody, ErrorCode, SchemaErrors};

/// A refusal, or no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Bay refused.
    #[error("{error} (request {request_id})")]
    Refused {
        /// Why.
        error: BayError,
        /// By which Bay's log knows the request.
        request_id: String,
    },
    /// What was sent does not fit its schema.
    #[error("invalid request: {}", .0.detail.iter().map(|one| one.msg.as_str()).collect::<Vec<_>>().join("; "))]
    Schema(SchemaErrors),
    /// Nobody answers there.
    #[error("no answer from {url}: {reason}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        reason: String,
    },
    /// Whoever answers there is no Bay.
    #[error("unexpected response from {url}: {status}")]
    Odd {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The client cannot be made.
    #[error("{0}")]
    Setup(String),
}

impl ClientError {
    /// The refusal's code.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { error, .. } => Some(error.code),
            Self::Schema(_) => Some(ErrorCode::ValidationError),
            _ => None,
        }
    }

    /// What a body of an error says.
    pub(crate) fn read(url: &str, status: u16, body: &[u8]) -> Self {
        if status == 422
            && let Ok(problems) = serde_json::from_slice::<SchemaErrors>(body)
        {
            return Self::Schema(problems);
        }
        match serde_json::from_slice::<ErrorBody>(body) {
            Ok(ErrorBody { error }) => {
                let details = error.details.unwrap_or_default();
                Self::Refused {
                    error: BayError { code: error.code, message: error.message, details },
                    request_id: error.request_id,
                }
            }
            Err(_) => Self::Odd { url: url.to_owned(), status },
        }
    }

    /// Why the transport failed, with the innermost reason: that is where the words are.
    pub(crate) fn transport(url: &str, error: &reqwest::Error) -> Self {
        let mut reason = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            reason = inner.to_string();
            source = inner.source();
        }
        Self::Unreachable { url: url.to_owned(), reason }
    }
}
