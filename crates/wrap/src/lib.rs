//! Other MCP servers as typed functions for code.
//!
//! [`Servers`] reads the file in which clients name their servers, [`Wrap`] connects to all of them, and gives a session of
//! code its functions ([`Wrap::tools`]) and their names ([`Wrap::prelude`]): every server is a namespace, every tool an
//! async function. A model sees a catalogue within a budget, searches it, and reads types made from the schemas.
//!
//! This crate runs no code and knows no sandbox: whoever has a session gives it the tools. It sends every call at most
//! once. What a server says (names, schemas, answers) is a stranger's text: bounded, and never run.

mod answer;
mod arguments;
mod calls;
mod catalog;
mod connection;
mod learn;
mod program;
mod rules;
mod search;
mod servers;
mod types;
mod wrap;

pub use answer::Blob;
pub use calls::{CallEnd, CallRecord, RunCalls};
pub use servers::{LeftOut, Reach, ServerSpec, Servers, ServersError};
pub use wrap::{AskFn, CodeRun, CodeSession, Question, Wrap};
