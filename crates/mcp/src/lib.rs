//! Bay for agents: its operations as tools of the Model Context Protocol.
//!
//! [`CoveMcp`] answers for one [`Bay`](cove_bay::Bay), over standard streams ([`serve_stdio`]) or as a service at `/mcp`
//! of an HTTP server ([`service`]). A tool's answer is written for a model: bounded in length, with the rest in a file
//! that the model can read; pictures as pictures; a failure with its code, its position and the next step; and text of a web
//! page is marked as untrusted.
//!
//! This crate runs nothing itself. Every tool is an operation of Bay, which knows owners, limits and sandboxes.

mod advice;
mod approvals;
mod args;
mod audience;
mod catalog;
mod failure;
mod files;
mod http;
mod options;
mod progress;
mod reply;
mod resources;
mod server;
mod stdio;
mod time;
mod tools;
mod traceback;
mod uri;

pub use audience::Answers;
pub use catalog::{ToolSet, tools};
pub use http::{McpService, OwnerOf, Passing, service};
pub use options::{DEFAULT_MAX_TOKENS, McpOptions};
pub use server::CoveMcp;
pub use stdio::{StdioError, serve_stdio};
pub use time::timeout_of;
