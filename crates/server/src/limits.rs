//! Every size, count and time that the server allows, with its reason.

use std::time::Duration;

/// A JSON body. Room for a text file of the size that a sandbox's runtime takes in one write, with its escapes.
pub const MAX_JSON_BYTES: usize = 16 << 20;

/// A JSON body that is kept in whatever form it has: the largest payload, with its escapes.
pub(crate) const MAX_VALUES_BYTES: usize = 6 << 20;

/// How much more than its text such a body weighs at most once it is read: a list of noughts has two bytes for each, and
/// 32 in memory.
pub(crate) const VALUE_WEIGHT: usize = 16;

/// What the bodies of all requests at work may weigh together; one owner's at most half of it where there are several.
/// A thousand requests of the largest size would be 16 GiB.
pub(crate) const MAX_BODY_MEMORY_BYTES: usize = 512 << 20;

/// A file on its way into a workspace: streamed, so only the cargo's own limit really counts; this one ends a
/// stream without an end.
pub(crate) const MAX_UPLOAD_BYTES: u64 = 4 << 30;

/// What a form may have around its file.
pub const MAX_FORM_BYTES: u64 = 1 << 20;

/// A multipart field that is not the file: a path.
pub(crate) const MAX_FIELD_BYTES: u64 = 16 << 10;

/// All headers of a request together, with its first line.
pub(crate) const MAX_HEADER_BYTES: usize = 32 << 10;

/// How many headers.
pub(crate) const MAX_HEADERS: usize = 64;

/// A request's head must be there by then; also how long an idle connection is kept.
pub(crate) const HEAD_READ: Duration = Duration::from_secs(30);

/// A JSON body must be there by then; also the longest pause within an upload.
pub(crate) const BODY_READ: Duration = Duration::from_secs(60);

/// What a body may be late at first, before its rate counts: a connection that has to be mended, a slow start.
pub(crate) const BODY_GRACE: Duration = Duration::from_secs(10);

/// The rate that a body must have beyond that, in bytes a second: a tenth of what the slowest telephone line carries.
/// Only time that is spent waiting for the sender counts.
pub(crate) const BODY_RATE: u64 = 1 << 10;

/// All the waiting for one upload's sender: 1 GiB in two hours is 150 KiB a second.
pub(crate) const UPLOAD_WAIT: Duration = Duration::from_secs(2 * 3600);

/// What is still read of a body that was refused, so that its sender comes to hear why.
pub(crate) const DRAINED_BYTES: usize = 16 << 20;

/// And how long.
pub(crate) const DRAINED: Duration = Duration::from_secs(2);

/// An answer of which the peer takes nothing for so long ends with its connection. The kernel takes up writing again
/// when a third of its buffer is free: that makes it a rate of about 2 KiB a second.
pub(crate) const WRITE_STALL: Duration = Duration::from_secs(30);

/// Who has taken nothing of its answer for so long gives way when all places are taken.
pub(crate) const TAKES_NOTHING: Duration = Duration::from_secs(1);

/// The kernel's buffers of a connection, each way; the kernel doubles it for its own bookkeeping. Left to itself it lets
/// both grow to some 10 MB for a peer that fills them: all connections together would pin 40 GB. At 50 ms to the peer it
/// is enough for 2.5 MB a second.
pub(crate) const SOCKET_BUFFER_BYTES: u32 = 128 << 10;

/// Connections at once: beyond it, those give way who do not take their answer, then those that have rested longest.
pub const MAX_CONNECTIONS: usize = 4_096;

/// Requests at once: beyond it they are told to come back. At most a quarter of the connections: so there are always
/// some that come to their end soon, and whoever asks for `/health` finds a place.
pub(crate) const MAX_REQUESTS: usize = 1_024;

/// Descriptors that Bay needs for itself: its store, its log, what it starts.
pub(crate) const OWN_DESCRIPTORS: usize = 128;

/// With fewer descriptors a server does not start: it would take connections and then not be able to answer.
pub(crate) const MIN_DESCRIPTORS: usize = 256;

/// How many descriptors this process may have.
pub(crate) fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// A verb that has no time-out of its own.
pub(crate) const VERB: Duration = Duration::from_secs(120);

/// Beyond a verb's own time-out: a cold start of its session, and its answer on the way.
///
/// Bay keeps its own deadlines and names what was late; this one only makes sure that no request stays for ever.
pub(crate) const BEYOND: Duration = Duration::from_secs(90);

/// Between the comments that keep a quiet stream of events open through proxies.
pub(crate) const EVENT_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A client's own `X-Request-Id`, at most.
pub(crate) const MAX_REQUEST_ID_BYTES: usize = 128;
