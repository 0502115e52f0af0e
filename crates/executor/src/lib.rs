//! What is between a caller and an engine: a run is accepted once, and run in a fresh or a kept session.
//!
//! - [`Runner`] answers `run_javascript`: it chooses an engine, runs a function body in a fresh session, saves the
//!   pictures, and answers in one of four shapes. It never fails as a Rust call.
//! - [`CodeExecutor`] is the stateful executor: a session with a state machine around it.
//! - [`SessionHost`] runs code for many owners: fresh worlds, sessions by name, tools that the caller answers.
//! - [`choose`] decides from a program's free names which engine it needs.
//!
//! Nothing here knows how an engine works. That is why the suite in `testkit` holds for every engine.

mod auto;
mod choice;
mod code_executor;
mod host;
mod logs;
mod model_text;
mod pictures;
mod runner;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use choice::{BROWSER_ONLY, Choice, EMBEDDED_LANGUAGES, choose};
pub use code_executor::CodeExecutor;
pub use host::{
    Asker, HostError, HostOptions, HostTools, MaxSessions, NoSuchApproval, NoSuchCall, Question, RunContext,
    RunListener, SessionHost, ToolMaker,
};
pub use logs::join_logs;
pub use model_text::{MODEL_TEXT_LIMIT, failure_text, success_text};
pub use pictures::{PictureStore, Pictures};
pub use runner::{Runner, RunnerOptions};

/// The examples of the documentation's page are tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/executor.md")]
pub struct ExecutorPage;
