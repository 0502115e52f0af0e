//! Every size, count and time that the door allows, with its reason.

use std::time::Duration;

/// A JSON body. Room for a text file of the size that a sandbox's runtime takes in one write, with its escapes.
pub const MAX_JSON_BYTES: usize = 16 << 20;

/// A file on its way into a workspace: streamed, so only the cargo's own limit really counts; this one ends a
/// stream without an end.
pub const MAX_UPLOAD_BYTES: u64 = 4 << 30;

/// What a form may have around its file.
pub const MAX_FORM_BYTES: u64 = 1 << 20;

/// A multipart field that is not the file: a path.
pub const MAX_FIELD_BYTES: u64 = 16 << 10;

/// All headers of a request together, with its first line.
pub const MAX_HEADER_BYTES: usize = 32 << 10;

/// How many headers.
pub const MAX_HEADERS: usize = 64;

/// A request's head must be there by then; also how long an idle connection is kept.
pub const HEAD_READ: Duration = Duration::from_secs(30);

/// A JSON body must be there by then; also the longest pause within an upload.
pub const BODY_READ: Duration = Duration::from_secs(60);

/// What is still read of an upload that was refused, so that its sender comes to hear why.
pub const DRAINED_BYTES: usize = 16 << 20;

/// And how long.
pub const DRAINED: Duration = Duration::from_secs(2);

/// Connections at once: beyond it, the one that has rested longest gives way; where all are being answered, a new one
/// waits.
pub const MAX_CONNECTIONS: usize = 4_096;

/// Requests at once: beyond it they are told to come back.
pub const MAX_REQUESTS: usize = 1_024;

/// A verb that has no time-out of its own.
pub const VERB: Duration = Duration::from_secs(120);

/// Beyond a verb's own time-out: a cold start of its session, and its answer on the way.
///
/// Bay keeps its own deadlines and names what was late; this one only makes sure that no request stays for ever.
pub const BEYOND: Duration = Duration::from_secs(90);

/// Between the comments that keep a quiet stream of events open through proxies.
pub const EVENT_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A client's own `X-Request-Id`, at most.
pub const MAX_REQUEST_ID_BYTES: usize = 128;
