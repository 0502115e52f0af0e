//! Why a command is not carried out, in one sentence, and what to do instead.

use std::fmt;

use cove_runtime_api::{BrowserAnswer, BrowserCause, EXIT_REFUSED};

/// A command that Gull does not pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandRefusal {
    message: String,
    hint: Option<String>,
    cause: BrowserCause,
}

impl CommandRefusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, cause: BrowserCause::NotAllowed }
    }

    /// Of a host that the sandbox may not reach.
    pub(crate) fn of_host(message: impl Into<String>) -> Self {
        Self { cause: BrowserCause::HostNotAllowed, ..Self::new(message) }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The answer to the command.
    pub(crate) fn answer(self) -> BrowserAnswer {
        BrowserAnswer::refused(self.cause, EXIT_REFUSED, self.message, self.hint)
    }
}

impl fmt::Display for CommandRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "✗ {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
