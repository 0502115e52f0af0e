//! What a sandbox may reach while it runs, and what it has reached.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Moment;

/// Which hosts a sandbox may reach from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SetNetwork {
    /// Hosts: `example.com`, `*.example.com`, `example.com:443`. Empty: none. Null: those of the profile.
    #[serde(default)]
    pub allow_hosts: Option<Vec<String>>,
}

/// The network of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxNetwork {
    /// The hosts that are open now.
    pub allow_hosts: Vec<String>,
    /// The hosts that may be opened: those of the profile, and those that it lets be opened; `*` is every host that is not
    /// private.
    pub may_allow: Vec<String>,
    /// The last connections since the server has started, the newest first.
    pub connections: Vec<NetworkConnection>,
}

/// A connection that a sandbox has asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetworkConnection {
    /// The host, as it was asked for.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// When.
    pub at: Moment,
    /// Bytes that the sandbox has sent.
    pub up_bytes: u64,
    /// Bytes that it has got.
    pub down_bytes: u64,
    /// What became of it.
    pub verdict: ConnectionVerdict,
}

/// What became of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionVerdict {
    /// It was made, and is open.
    Open,
    /// It was made, and has ended.
    Ended,
    /// It was made, and closed because its host is no longer open.
    Closed,
    /// Its host is not open.
    Refused,
    /// Its host is open, and nobody answers there.
    Unreachable,
}

impl ConnectionVerdict {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
            Self::Closed => "closed",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
        }
    }
}
