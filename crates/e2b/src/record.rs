//! What the door keeps with each sandbox, as its note in Bay's records: nothing of it is kept in this process alone.

use std::collections::BTreeMap;

use cove_api::{Moment, SandboxInfo};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

/// The template that a client names when it wants the usual one.
pub(crate) const BASE: &str = "base";

/// The one of the code interpreter.
pub(crate) const CODE_INTERPRETER: &str = "code-interpreter-v1";

/// One sandbox of an E2B client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// What admits to its traffic.
    pub(crate) token: String,
    /// The template's name, as the client said it.
    pub(crate) template: String,
    /// Environment variables of everything that is started in it.
    #[serde(default)]
    pub(crate) envs: BTreeMap<String, String>,
    /// Whether it was paused.
    #[serde(default)]
    pub(crate) paused: bool,
    /// Whether the end of its time pauses it; otherwise it is deleted then.
    #[serde(default)]
    pub(crate) pauses: bool,
    /// When that is, in microseconds since 1970.
    #[serde(default)]
    pub(crate) pauses_at: Option<i64>,
    /// Whether traffic wakes it.
    #[serde(default)]
    pub(crate) wakes: bool,
    /// The seconds that it was last given.
    pub(crate) timeout: i64,
    /// Contexts of the code interpreter besides the usual one.
    #[serde(default)]
    pub(crate) contexts: Vec<Context>,
}

/// A context of the code interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Context {
    pub(crate) id: String,
    pub(crate) language: String,
    pub(crate) cwd: String,
}

impl Record {
    /// What a sandbox's note says; none: it is no sandbox of this door.
    pub(crate) fn of(info: &SandboxInfo) -> Option<Self> {
        serde_json::from_str(info.note.as_deref()?).ok()
    }

    /// Whether this is the token that admits to its traffic.
    pub(crate) fn has_token(&self, token: &str) -> bool {
        self.token.as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// The note.
    pub(crate) fn note(&self) -> String {
        // Strings and numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether it is paused now: it was, or its time is over.
    pub(crate) fn is_paused(&self, now: Moment) -> bool {
        self.paused || self.pauses_at.is_some_and(|at| at <= now.micros())
    }

    /// Gives it time from now on; the lifetime in seconds that Bay is to give it.
    pub(crate) fn give(&mut self, seconds: i64) -> i64 {
        self.paused = false;
        self.timeout = seconds;
        if self.pauses {
            self.pauses_at = Some(Moment::now().plus_secs(seconds).micros());
            return 0;
        }
        seconds
    }

    /// When everything that runs in it ends though the sandbox lives on: it was paused, or will be.
    pub(crate) fn session_end(&self) -> Option<Moment> {
        if self.paused { Some(Moment::now()) } else { self.pauses_at.map(Moment::from_micros) }
    }

    /// When its time is over.
    pub(crate) fn end(&self, info: &SandboxInfo) -> Moment {
        let at = self.pauses_at.map(Moment::from_micros).or(info.expires_at);
        at.unwrap_or_else(|| Moment::now().plus_secs(self.timeout))
    }
}
