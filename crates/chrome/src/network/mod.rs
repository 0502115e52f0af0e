//! The network of a session: none, or a list of hosts, reached through our own proxy.
//!
//! Without a list every name and every address resolves to nothing. With one, the session's browser context speaks to
//! a small proxy of ours, which knows the one road to the network (`cove-network`).

mod peer;
mod ports;
mod proxy;

pub(crate) use ports::{Lease, Proxies, Wish};
pub(crate) use proxy::{MAX_CONNECTIONS, serve};
