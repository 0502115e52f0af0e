//! Bay, the control plane: sandboxes and everything that is done in them. [`Bay`] is its interface.
//!
//! A **sandbox** is a **cargo** (what is in `/workspace`), a **profile** (what it is made of) and at most one **session**
//! (a group of containers, started on first use and started again when dead). Every operation of the HTTP interface is one
//! method of [`Bay`]. The caller is an [`Owner`], and owners cannot see each other's resources.

mod artifacts;
mod barrier;
mod bay;
mod browser;
mod cargos;
mod collector;
mod data_lock;
mod disk;
mod events;
mod exec;
mod files;
mod history;
mod host;
mod id;
mod javascript;
mod live;
mod missing_database;
mod network;
mod peers;
mod pending_history;
mod ports;
mod processes;
mod router;
mod sandboxes;
mod session;
mod skills;
mod terminal;
#[cfg(test)]
mod tests;
mod timed;
mod usage;
mod view;
mod warm;
mod watch;
mod websocket;

pub use bay::{Bay, StartError};
pub use cove_api::{IdempotencyKey, Owner};
pub use events::EventStream;
pub use files::{ByteStream, Download, LatePath};
pub use host::{BrowserReport, EmbeddedReport, HostReport, MemoryReport, ProfileReport};
pub use javascript::{ApprovalSink, JavaScriptCall};
pub use peers::SessionHome;
pub use ports::{OPEN_PATH, PortConnection, PortVisit};
pub use processes::{ProcessRecord, RunningProcess};
pub use timed::{OutputSink, Timed};
pub use watch::FolderWatch;
pub use websocket::RuntimeSocket;

/// What every verb answers.
pub type BayResult<T> = Result<T, cove_api::BayError>;
