//! Every verb, by what it is about.

mod approvals;
mod cargos;
mod execution;
pub(crate) mod files;
mod history;
mod network;
pub(crate) mod page;
mod ports;
mod processes;
mod sandboxes;
mod skills;

/// No query.
pub(crate) const NOTHING: [(&str, &str); 0] = [];
