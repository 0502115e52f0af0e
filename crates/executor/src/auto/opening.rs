//! A session that is being opened while something else goes on.

use std::pin::Pin;

use cove_core::{EngineError, Session};

type Opened = Result<Box<dyn Session>, EngineError>;

/// Begins when it is first asked for progress, and keeps what came of it.
pub(super) enum Opening<'a> {
    Going(Pin<Box<dyn Future<Output = Opened> + Send + 'a>>),
    Done(Opened),
}

impl<'a> Opening<'a> {
    pub(super) fn new(open: impl Future<Output = Opened> + Send + 'a) -> Self {
        Self::Going(Box::pin(open))
    }

    /// Goes on until the session is there, or cannot be had. Waits for ever after that: it is told once.
    pub(super) async fn progress(&mut self) {
        match self {
            Self::Going(open) => *self = Self::Done(open.await),
            Self::Done(_) => std::future::pending().await,
        }
    }

    /// Gives up what has been opened.
    pub(super) fn close(&mut self) {
        *self = Self::Done(Err(EngineError::Open("the session is no longer needed".to_owned())));
    }

    /// The session itself, to the end of the opening.
    pub(super) async fn opened(self) -> Opened {
        match self {
            Self::Going(open) => open.await,
            Self::Done(opened) => opened,
        }
    }
}
