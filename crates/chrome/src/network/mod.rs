//! The network of a session: none, or a list of hosts behind a door of our own.
//!
//! Without a list every name and every address resolves to nothing. With one, the session's browser context speaks to
//! a small proxy that resolves names itself, looks at the addresses, and connects to exactly what it looked at: a name
//! that points at the host's own network, now or a moment later, leads nowhere.

mod address;
mod door;
mod peer;
mod proxy;

pub use address::{AddressRule, is_private};
pub(crate) use door::{Lease, Proxies};
pub(crate) use proxy::serve;
