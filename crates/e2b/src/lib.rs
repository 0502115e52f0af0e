//! The door for E2B's clients: an unmodified SDK, pointed at this server, works.
//!
//! Three interfaces come in at one address. What names no sandbox is **control** (create, list, pause …). What names one by
//! the header `E2b-Sandbox-Id` goes to a port of it: 49983 is **envd** (processes and files), 49999 the **code
//! interpreter**. All of it is done by Bay's own verbs; Bay knows nothing of E2B. What is not there answers with a
//! code and a sentence.

mod code;
mod connect;
mod control;
mod door;
mod envd;
mod paths;
mod record;
mod refusal;
mod scripts;
mod signers;

pub use door::{Admission, E2bDoor, traffic_owner};
pub use refusal::Refused;
