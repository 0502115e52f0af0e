//! The way out of a sandbox: which hosts and addresses a policy opens, and the one road to them.
//!
//! Every door of Cove's that leads to the network (the browser's proxy, a sandbox's proxy, the embedded engine's `fetch`)
//! goes through [`connect`]: it resolves a name itself, looks at the addresses, and connects to exactly what it looked
//! at. A name that points at the host's own network, now or a moment later, leads nowhere. Nobody else resolves names.

mod address;
mod proxy;
mod way;

pub use address::{AddressRule, is_private, split_port};
pub use proxy::converse;
pub use way::{NoWay, STEP, connect};
