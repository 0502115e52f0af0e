//! Output as it is written, before the answer: one JSON object a line.
//!
//! `{"output":{…}}` as often as there is something, at last one `{"answer":{…}}` or `{"refused":{…}}`. What a guest writes
//! is text inside such an object, so no guest can write the end.

use cove_api::OutputChunk;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Refusal;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveFrame<A> {
    /// Something was written.
    Output(OutputChunk),
    /// It has ended: what a call without `stream` answers.
    Answer(A),
    /// It was refused after the first line was on its way.
    Refused(LateRefusal),
}

/// A refusal inside of a stream that has begun as a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateRefusal {
    /// The status that it would have had.
    pub status: u16,
    /// Its body.
    pub body: Value,
}

impl From<&Refusal> for LateRefusal {
    fn from(refusal: &Refusal) -> Self {
        Self { status: refusal.status, body: refusal.body(None) }
    }
}

impl From<LateRefusal> for Refusal {
    fn from(late: LateRefusal) -> Self {
        Self::read(late.status, late.body.to_string().as_bytes())
    }
}
