//! Why a run has no report: the host could not take it, or gave it up.

use cove_core::EngineName;

/// What a host answers instead of a report. Callers match on it; the sentence is for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The host is closed.
    #[error("the server is shutting down")]
    Closed,
    /// No run ended within this one's time.
    #[error("too many JavaScript runs at once: the limit is {max}; try again later")]
    TooManyRuns {
        /// Runs that may go on at once.
        max: usize,
    },
    /// No further session can be kept.
    #[error("too many JavaScript sessions: the limit is {max}; reset one, or run without a session")]
    TooManySessions {
        /// Sessions that may be kept at once.
        max: usize,
    },
    /// The session has another engine than the one that was asked for.
    #[error("the session {name:?} runs in the {engine} engine; reset it first")]
    OtherEngine {
        /// The session.
        name: String,
        /// Its engine.
        engine: EngineName,
    },
    /// Another run held the session for all of this one's time.
    #[error("timed out waiting for the session {name:?}, which was busy with another run")]
    SessionBusy {
        /// The session.
        name: String,
    },
    /// The run was ended by [`SessionHost::end`](crate::SessionHost::end) or by the end of the host.
    #[error("the code was ended, because its session was reset or its sandbox stopped")]
    Ended,
    /// The engine did not keep its own deadline.
    #[error("the engine did not answer in time; the run was ended")]
    NoAnswer {
        /// The run's time.
        timeout_ms: u64,
    },
    /// The request has a tool or an input that cannot be taken.
    #[error("{0}")]
    Invalid(String),
}
