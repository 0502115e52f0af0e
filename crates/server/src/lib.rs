//! Bay over HTTP.
//!
//! Every verb of [`cove_bay::Bay`] is one operation; what is added here is what the wire needs: keys and owners, request
//! ids, one shape for every error, limits on sizes and times, an OpenAPI document made from the handlers themselves,
//! server-sent events, figures. Nothing here knows how a sandbox works.

mod app;
mod away;
mod bare;
mod bounds;
mod caller;
mod crowd;
mod document;
mod envelope;
mod extract;
mod failure;
mod figures;
mod keys;
pub mod limits;
mod listen;
mod options;
mod pace;
mod phase;
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
