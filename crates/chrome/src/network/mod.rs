//! The network of a session: none, or a list of hosts behind a door of our own.
//!
//! Without a list every name and every address resolves to nothing. With one, the session's browser context speaks to
//! a small proxy of ours, which knows the one road to the network (`cove-network`).

mod door;
mod peer;
mod proxy;

pub(crate) use door::{Lease, Proxies};
pub(crate) use proxy::serve;
