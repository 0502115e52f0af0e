//! Why a text was not prepared: one sentence, a place, a frame, a hint.

use cove_core::{Fault, FaultKind, Position};

use crate::frame::code_frame;
use crate::lines;

/// A text that will not run, and where it says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SourceRefusal {
    /// `Syntax`, `Refused` or `ImportNotAllowed`.
    pub kind: FaultKind,
    /// One sentence.
    pub message: String,
    /// Where in the user's text.
    pub position: Option<Position>,
    /// Three lines and a caret.
    pub frame: Option<String>,
    /// What to do instead, in one line.
    pub hint: Option<String>,
    /// The module that was to be imported, where that was refused.
    pub module: Option<String>,
}

impl SourceRefusal {
    /// A refusal that has no place, such as a text that is too long.
    pub(crate) fn nowhere(kind: FaultKind, message: impl Into<String>, hint: &str) -> Self {
        Self {
            kind,
            message: message.into(),
            position: None,
            frame: None,
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
            module: None,
        }
    }

    /// Puts a finding on paper: the position is counted and the frame drawn only for the one that is reported.
    pub(crate) fn from_finding(finding: Finding, source: &str, file_name: &str) -> Self {
        let position = lines::position(source, finding.offset as usize);
        let frame = code_frame(source, position, &finding.message, file_name);
        Self {
            kind: finding.kind,
            message: finding.message,
            position: Some(position),
            frame: Some(frame),
            hint: finding.hint,
            module: finding.module,
        }
    }
}

impl From<SourceRefusal> for Fault {
    fn from(refusal: SourceRefusal) -> Self {
        let mut fault = Self::new(refusal.kind, refusal.message);
        fault.position = refusal.position;
        fault.frame = refusal.frame;
        fault.hint = refusal.hint;
        match refusal.module {
            Some(module) => fault.with("module", module),
            None => fault,
        }
    }
}

/// Something wrong at a byte offset, not yet turned into lines and frames.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) kind: FaultKind,
    pub(crate) offset: u32,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) module: Option<String>,
}

impl Finding {
    pub(crate) fn new(kind: FaultKind, offset: u32, message: impl Into<String>) -> Self {
        Self { kind, offset, message: message.into(), hint: None, module: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
