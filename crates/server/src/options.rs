//! What a server is told.

use std::net::SocketAddr;
use std::time::Duration;

use crate::keys::KeySpec;

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may come.
    pub keys: Vec<KeySpec>,
    /// Whether callers from this very machine need no key.
    pub allow_anonymous: bool,
    /// Pages from these origins may call; none: no page may.
    pub cors_origins: Vec<String>,
    /// What runs when the server is told to end may run so long.
    pub grace: Duration,
    /// Connections at once; at most half of the descriptors that this process may have beside its own.
    pub max_connections: usize,
    /// Connections of one address at once; none: half of them, and all for this machine's own (a proxy may stand there).
    pub max_connections_per_address: Option<usize>,
    /// Requests at once; at most a quarter of the connections.
    pub max_requests: usize,
    /// Requests of one owner at once; none: half of them, and all where there is one owner alone.
    pub max_requests_per_owner: Option<usize>,
    /// Streams of one owner that stay open (events, terminals); none: a quarter of the connections.
    pub max_streams_per_owner: Option<usize>,
    /// What bodies of requests at work may weigh together; one owner's at most half of it where there are several.
    pub max_body_memory_bytes: usize,
    /// One uploaded file.
    pub max_upload_bytes: u64,
    /// A request's head and an idle connection: at most so long.
    pub head_read: Duration,
    /// A JSON body must be there by then; also the longest pause within an upload.
    pub body_read: Duration,
    /// What a body may be late before its rate counts.
    pub body_grace: Duration,
    /// All the waiting for one upload's sender.
    pub upload_wait: Duration,
    /// An answer of which nothing is taken for so long ends.
    pub write_stall: Duration,
    /// A verb that has no time-out of its own: at most so long.
    pub verb: Duration,
    /// A verb that has one: at most so much longer, for a cold start and the answer's way.
    pub beyond: Duration,
    /// Which tools are at `/mcp`, and how long their answers may be.
    pub mcp: cove_mcp::McpOptions,
}

impl ServerOptions {
    /// On loopback at the usual port, for whoever has this key.
    pub fn new(keys: Vec<KeySpec>) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)),
            keys,
            allow_anonymous: false,
            cors_origins: Vec::new(),
            grace: Duration::from_secs(20),
            max_connections: crate::limits::MAX_CONNECTIONS,
            max_connections_per_address: None,
            max_requests: crate::limits::MAX_REQUESTS,
            max_requests_per_owner: None,
            max_streams_per_owner: None,
            max_body_memory_bytes: crate::limits::MAX_BODY_MEMORY_BYTES,
            max_upload_bytes: crate::limits::MAX_UPLOAD_BYTES,
            head_read: crate::limits::HEAD_READ,
            body_read: crate::limits::BODY_READ,
            body_grace: crate::limits::BODY_GRACE,
            upload_wait: crate::limits::UPLOAD_WAIT,
            write_stall: crate::limits::WRITE_STALL,
            verb: crate::limits::VERB,
            beyond: crate::limits::BEYOND,
            mcp: cove_mcp::McpOptions::default(),
        }
    }
}

/// The usual port.
pub(crate) const DEFAULT_PORT: u16 = 8114;
