//! Outgoing connections of guests: which hosts and addresses a policy opens, and the one function that connects to them.
//!
//! Everything in Cove that reaches the network for a guest (the browser's proxy, a sandbox's proxy, the embedded engine's
//! `fetch`) uses [`connect`], mostly by way of a [`LiveNetwork`], whose policy may change: it resolves a name, checks the addresses, and connects to exactly the address that it checked.
//! A name that points to the host's own network, now or a moment later, is refused. Names are resolved nowhere else.
//! Bay's own address is closed to all guests, whatever a policy says. A server on this machine's loopback can recognise
//! connections of guests.

mod accept;
mod address;
mod connect;
mod inside;
mod live;
mod mark;
mod proxy;
mod reserved;

pub use accept::{accept_each, pass_on};
pub use address::{AddressRule, NotToBeOpened, is_private, split_port};
pub use connect::{ConnectError, STEP, connect};
pub use inside::{ByteStream, Opening, SandboxPorts, is_loopback_name};
pub use live::{Connection, ConnectionLog, LiveNetwork, LiveStream, RefusalSink, Verdict};
pub use mark::is_guest;
pub use proxy::converse;
pub use reserved::{Reserved, reserve_listed};
