//! What can go wrong between Bay and its records.

use cove_api::{BayError, ErrorCode};

/// Why the store did not answer, or would not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The address names no database that we know.
    #[error("`{0}` is no database address: use `sqlite:<path>` or `postgresql://<host>/<database>`")]
    Address(String),
    /// The database's file could not be made.
    #[error("the database's file: {0}")]
    File(#[from] std::io::Error),
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A record is not what we wrote.
    #[error("a record does not read: {0}")]
    Json(serde_json::Error),
    /// The schema is newer than this program.
    #[error("the database has schema {found}, this Cove knows {known}: use a newer Cove")]
    Newer {
        /// What the database has.
        found: i64,
        /// What we have.
        known: i64,
    },
    /// The system has no randomness for an id.
    #[error("no randomness: {0}")]
    Chance(#[from] getrandom::Error),
    /// The same idempotency key came with another request.
    #[error("this `Idempotency-Key` was used for another request")]
    KeyReused,
    /// What the request names is not there, or another's.
    #[error("{what} {id} is not there")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// Its id, as asked for.
        id: String,
    },
    /// The owner has as much as it may have.
    #[error("at most {limit} {what} at a time")]
    Quota {
        /// Of what.
        what: &'static str,
        /// How many.
        limit: i64,
    },
    /// What is to be kept is too large.
    #[error("{what} may have at most {limit} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large it may be.
        limit: usize,
    },
    /// What was asked does not fit what is there.
    #[error("{0}")]
    Conflict(String),
}

/// What a verb of the store gives.
pub(crate) type StoreResult<T> = Result<T, StoreError>;

impl StoreError {
    /// `Missing`, for a kind of thing and its id.
    pub(crate) fn missing(what: &'static str, id: &str) -> Self {
        Self::Missing { what, id: id.chars().take(64).collect() }
    }
}

impl From<StoreError> for BayError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::KeyReused | StoreError::Conflict(_) => ErrorCode::Conflict,
            StoreError::TooLarge { .. } => ErrorCode::ValidationError,
            StoreError::Missing { .. } => ErrorCode::NotFound,
            StoreError::Quota { .. } => ErrorCode::QuotaExceeded,
            StoreError::Database(sqlx::Error::PoolTimedOut) => {
                tracing::error!("no connection to the database became free in time");
                return BayError::new(ErrorCode::Timeout, "the database did not answer in time");
            }
            // What a database says may quote what is in it: for the log, not for a client.
            _ => {
                tracing::error!(%error, "the store failed");
                return BayError::new(ErrorCode::InternalError, "the store failed; the log says why");
            }
        };
        BayError::new(code, error.to_string())
    }
}
