//! The way out of a sandbox: which hosts and addresses a policy opens, and the one road to them.
//!
//! Every door of Cove's that leads to the network (the browser's proxy, a sandbox's proxy, the embedded engine's `fetch`)
//! goes through [`connect`]: it resolves a name itself, looks at the addresses, and connects to exactly what it looked
//! at. A name that points at the host's own network, now or a moment later, leads nowhere. Nobody else resolves names.
//! Bay's own address is closed to all of them, whatever a policy says, and where one of them leads to this machine's
//! loopback, whoever listens there can see that it is a guest's.

mod address;
mod connect;
mod mark;
mod proxy;
mod reserved;

pub use address::{AddressRule, is_private, split_port};
pub use connect::{ConnectError, STEP, connect};
pub use mark::is_guest;
pub use proxy::converse;
pub use reserved::{Reserved, reserve_listed};
