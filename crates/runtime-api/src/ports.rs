//! `/ports`: what listens inside a sandbox, and byte connections to it.
//!
//! A connection is an HTTP upgrade to bytes: after the answer 101 every byte goes to the program that listens, and back.
//! Either side may end its direction and still hear the other.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::Call;

/// Where a connection to a port is opened: `?port=…&idle=…`.
pub const PORT_PATH: &str = "/ports/connect";

/// What such a connection is called in `Upgrade`.
pub const PORT_PROTOCOL: &str = "cove-port";

/// Ports in one list: more than a person looks through, and few enough to be sent each time something changes.
pub const MAX_PORTS: usize = 256;

/// How long a question may wait for a change, in seconds.
pub const MAX_PORTS_WAIT: f64 = 60.0;

/// A port on which a program inside listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListeningPort {
    /// Its number.
    pub port: u16,
    /// The addresses it listens on, inside.
    pub addresses: Vec<IpAddr>,
}

/// Asks on which ports programs listen. With `known` it waits for another list than that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortsRequest {
    /// The list that the caller has.
    pub known: Option<Vec<ListeningPort>>,
    /// How long to wait for another one, in seconds.
    pub wait: f64,
}

impl Call for PortsRequest {
    type Answer = ListeningPorts;
    const PATH: &'static str = "/ports";
}

/// The ports on which programs listen, in their order. The runtime's own are not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListeningPorts {
    /// At most [`MAX_PORTS`].
    pub items: Vec<ListeningPort>,
}

/// Which port is to be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTarget {
    /// Its number.
    pub port: u16,
    /// A connection on which nothing moves for so many seconds ends.
    pub idle: u64,
}

impl PortTarget {
    pub(crate) fn address(self) -> String {
        format!("{PORT_PATH}?port={}&idle={}", self.port, self.idle)
    }
}
