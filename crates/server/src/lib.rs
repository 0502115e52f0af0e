//! Bay over HTTP.
//!
//! Every method of [`cove_bay::Bay`] is one operation. This crate adds what HTTP needs: keys and owners, request ids, one
//! shape for every error, limits on sizes and times, an OpenAPI document made from the handlers themselves, server-sent
//! events, metrics. It does not know how a sandbox works.

mod app;
mod body_rate;
mod bounds;
mod caller;
mod connections;
mod document;
mod early_refusal;
mod envelope;
mod extract;
mod failure;
mod forward;
mod keys;
pub mod limits;
mod listen;
mod metrics;
mod options;
mod page;
mod phase;
mod ports;
mod routes;
mod schema;
mod shares;
mod stream;
mod sys;
pub mod telemetry;

pub use document::{openapi, openapi_text};
pub use keys::{DEFAULT_OWNER, KeyFileError, KeySpec, hash, read_or_make};
pub use listen::{ListenError, Server, bind};
pub use options::ServerOptions;
