//! What can go wrong between Bay and its records.

use cove_api::{BayError, ErrorCode};

/// When a client may ask again that met a database in trouble.
const RETRY_AFTER_MS: u64 = 1_000;

/// Why the store did not answer, or would not.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An id in a record is none.
    #[error("a record cannot be read: {0}")]
    Id(cove_core::IdError),
    /// The address names no database that we know.
    #[error("invalid database URL `{0}`: use `sqlite:<path>` or `postgresql://<host>/<database>`")]
    Address(String),
    /// The database's file could not be made.
    #[error("the database's file: {0}")]
    File(#[from] std::io::Error),
    /// Nobody answers where the database should be.
    #[error("the database at {place} cannot be reached: {error}")]
    Unreachable {
        /// Where, without a password.
        place: String,
        /// Why.
        error: sqlx::Error,
    },
    /// The file is there and cannot be read as a database.
    #[error(
        "the database {} is corrupt ({why}): restore a backup (docs/bay-store.md), or move it and the files \
         beside it away and start with --start-empty, which keeps the workspaces",
        file.display()
    )]
    Damaged {
        /// The file.
        file: std::path::PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// The server did not answer when it was last asked.
    #[error("the database cannot be reached")]
    NoAnswer,
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A record is not what we wrote.
    #[error("a record cannot be read: {0}")]
    Json(serde_json::Error),
    /// The schema is newer than this program.
    #[error("the database has schema {found}, this Cove knows {known}: use a newer Cove")]
    Newer {
        /// What the database has.
        found: i64,
        /// What we have.
        known: i64,
    },
    /// The system gave no random bytes for an id.
    #[error("the system gave no random bytes for an id: {0}")]
    Chance(#[from] getrandom::Error),
    /// The same idempotency key came with another request.
    #[error("this `Idempotency-Key` was used for another request")]
    KeyReused,
    /// What the request names is not there, or another's.
    #[error("{what} {id} not found")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// Its id, as asked for.
        id: String,
    },
    /// The owner has as much as it may have.
    #[error("limit reached: at most {limit} {what} ({name}); {next}")]
    Quota {
        /// Of what.
        what: &'static str,
        /// The limit's name in the configuration, or in the documentation where it is fixed.
        name: &'static str,
        /// How many.
        limit: i64,
        /// What its owner can do about it.
        next: &'static str,
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
pub type StoreResult<T> = Result<T, StoreError>;

impl StoreError {
    /// `Missing`, for a kind of thing and its id.
    pub fn missing(what: &'static str, id: &str) -> Self {
        Self::Missing { what, id: cove_core::shorten_word(id) }
    }

    /// Whether the row is there already.
    pub fn is_repeated(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(fault)) if fault.is_unique_violation())
    }

    /// Whether it failed for want of room on the disk.
    pub fn is_full(&self) -> bool {
        let Self::Database(sqlx::Error::Database(fault)) = self else { return false };
        match fault.code().as_deref() {
            Some("53100") => true,
            // SQLite: full, or a log that cannot grow (said as an error of input and output, or of opening).
            Some(code) if code.len() < 5 => code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 10 | 13 | 14)),
            _ => false,
        }
    }
}

impl From<StoreError> for BayError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::KeyReused | StoreError::Conflict(_) => ErrorCode::Conflict,
            StoreError::TooLarge { .. } => ErrorCode::ValidationError,
            StoreError::Missing { .. } => ErrorCode::NotFound,
            StoreError::Quota { .. } => ErrorCode::QuotaExceeded,
            StoreError::NoAnswer => return unreachable("the database cannot be reached"),
            StoreError::Database(sqlx::Error::PoolTimedOut) => {
                tracing::error!("no connection to the database became free in time");
                return unreachable("the database did not answer in time");
            }
            // What a database says may quote what is in it: for the log, not for a client.
            _ => {
                if let StoreError::Database(fault) = &error
                    && let Some(why) = passing(fault)
                {
                    tracing::error!(%error, "the store cannot work just now");
                    return unreachable(why);
                }
                tracing::error!(%error, "the store failed");
                return BayError::new(ErrorCode::InternalError, "the database failed; see the server's log");
            }
        };
        let refusal = BayError::new(code, error.to_string());
        match error {
            StoreError::Quota { name, limit, .. } => refusal.with("limit", name).with("max", limit),
            _ => refusal,
        }
    }
}

/// Refused for now, with when to come back.
fn unreachable(why: &str) -> BayError {
    BayError::new(ErrorCode::SessionNotReady, format!("{why}; try again")).with("retry_after_ms", RETRY_AFTER_MS)
}

/// What is wrong with a database that may be well again without anybody touching Bay; nothing was done then.
fn passing(fault: &sqlx::Error) -> Option<&'static str> {
    const AWAY: &str = "the database cannot be reached";
    match fault {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Some(AWAY),
        sqlx::Error::Database(fault) => match fault.code()?.as_ref() {
            // PostgreSQL's have five characters.
            "53100" => Some("the database's disk is full"),
            "40001" | "40P01" | "55P03" | "57014" => Some("the database is busy"),
            "25006" => Some("the database is read-only at the moment"),
            code if code.len() == 5 => ["08", "53", "57"].iter().any(|class| code.starts_with(class)).then_some(AWAY),
            // SQLite's are numbers; the lowest byte says what kind.
            code => match code.parse::<u32>().ok()? & 0xff {
                5 | 6 => Some("the database is locked by another process"),
                8 => Some("the database is read-only at the moment"),
                10 => Some("the database's file cannot be read or written"),
                13 => Some("the database's disk is full"),
                14 => Some("the database's file cannot be opened"),
                _ => None,
            },
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_apart_from_what_will_not() {
        let said = |fault: sqlx::Error| BayError::from(StoreError::Database(fault));
        for fault in [sqlx::Error::PoolClosed, sqlx::Error::PoolTimedOut, sqlx::Error::Io(std::io::Error::other("x"))] {
            let refusal = said(fault);
            assert_eq!((refusal.code, &refusal.details["retry_after_ms"]), (ErrorCode::SessionNotReady, &1000.into()));
        }
        let refusal = said(sqlx::Error::RowNotFound);
        assert!(refusal.code == ErrorCode::InternalError && !refusal.message.is_empty());
    }
}
