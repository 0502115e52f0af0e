//! Why a command is not carried out, in one sentence, and what to do instead.

use std::fmt;

/// A command that Gull does not pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandRefusal {
    message: String,
    hint: Option<String>,
}

impl CommandRefusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
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
