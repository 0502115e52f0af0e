//! What a drawing call may refuse, under the names the standard gives.
//!
//! Each variant maps to one exception that a script would see, so a binding needs `name()` and the sentence and
//! nothing else. A fault here is always the caller's: the crate itself has no host faults to report.

/// A refused drawing call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanvasError {
    /// A radius or size is negative or otherwise out of its range.
    #[error("{0}")]
    IndexSize(String),
    /// The object is in a state that forbids the call (an empty image, a zero-sized canvas).
    #[error("{0}")]
    InvalidState(String),
    /// A string does not parse where the standard demands that it does.
    #[error("{0}")]
    Syntax(String),
    /// A value has the wrong type or shape.
    #[error("{0}")]
    Type(String),
    /// A number lies outside what can be honoured.
    #[error("{0}")]
    Range(String),
    /// The image cannot be decoded or is not of a supported kind.
    #[error("{0}")]
    Encoding(String),
    /// The picture would need more memory than its limits allow.
    #[error("{0}")]
    TooLarge(String),
}

impl CanvasError {
    /// The exception's name as a script sees it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::IndexSize(_) => "IndexSizeError",
            Self::InvalidState(_) => "InvalidStateError",
            Self::Syntax(_) => "SyntaxError",
            Self::Type(_) => "TypeError",
            Self::Range(_) | Self::TooLarge(_) => "RangeError",
            Self::Encoding(_) => "EncodingError",
        }
    }
}
