//! What host and child say to each other: length-prefixed frames over a socket pair.
//!
//! A frame is `length: u32 LE`, `kind: u8`, payload. The host trusts nothing in it: a kind has a largest length that is
//! known before a byte of it is kept, and whatever does not decode ends the session instead of the host. The child
//! trusts its host.

mod frame;
mod message;
mod weight;

pub(crate) use frame::{Frame, Frames, HEADER_BYTES, WireError, frame_into, header};
pub(crate) use message::{
    Call, MAX_ANSWER_BYTES, MAX_CALL_BYTES, ToolReply, decode_answer, decode_call, decode_lines, decode_picture,
    decode_report, decode_request, encode_answer, encode_request, line_head, max_report_bytes, picture_head,
    report_parts,
};
pub(crate) use weight::weight;

/// What the host sends to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ToChild {
    /// Makes the world one session's own. First, once.
    Setup = 1,
    /// Global variables.
    Variables = 2,
    /// Host functions.
    Tools = 3,
    /// Code to run.
    Run = 4,
    /// What a tool has answered.
    Answer = 5,
    /// Where the fonts' index or one file of it lies in the font store, or its bytes; empty when there is none.
    Font = 6,
}

impl ToChild {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Setup, Self::Variables, Self::Tools, Self::Run, Self::Answer, Self::Font]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// What a child sends to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FromChild {
    /// Console lines, several in one frame.
    Logs = 16,
    /// Guest code calls a tool.
    Call = 17,
    /// A canvas, encoded.
    Picture = 18,
    /// The run is over.
    Report = 19,
    /// Setup, variables or tools were taken.
    Accepted = 20,
    /// They were not; the payload says why.
    Refused = 21,
    /// The process aborts; the payload is a [`DyingCause`] and what it wrote to its standard error.
    Dying = 22,
    /// Guest code draws text: which fonts are there, or one file of them.
    Font = 23,
}

/// Why a child aborts: the first byte of [`FromChild::Dying`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum DyingCause {
    /// A failed assertion, a panic in a panic, or anything else that is a bug.
    Abort = 0,
    /// The allocator was refused memory: the limit at work, and no bug.
    OutOfMemory = 1,
}

impl DyingCause {
    /// The cause and the last words in the payload of a frame; a cause that nobody knows is an abort.
    pub(crate) fn read(payload: &[u8]) -> (Self, &[u8]) {
        match payload.split_first() {
            Some((1, words)) => (Self::OutOfMemory, words),
            Some((_, words)) => (Self::Abort, words),
            None => (Self::Abort, &[]),
        }
    }
}

impl FromChild {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        use FromChild::{Accepted, Call, Dying, Font, Logs, Picture, Refused, Report};
        [Logs, Call, Picture, Report, Accepted, Refused, Dying, Font].into_iter().find(|kind| *kind as u8 == byte)
    }
}
