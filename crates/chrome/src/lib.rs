//! The browser engine: finds, launches, watches and ends Chrome, and gives every run a fresh world in it.
//!
//! One dedicated headless browser, spoken to over a pipe by a thin client of our own; a browser context and a tab of
//! its own for every session, taken from a warm pool; the same prepared source as the embedded engine, run by a small
//! kernel that was in the page before the guest. What cannot be trusted to the page (the deadline, memory, the
//! network, the end of the process) is held outside it.
//!
//! Chrome never runs as root and never without its own sandbox: a renderer's seccomp filter is looked at before the
//! first run, and where it is missing nothing is served.
//!
//! ```no_run
//! use cove_chrome::{ChromeEngine, ChromeOptions};
//! use cove_core::{Engine, RunRequest, SessionOptions};
//!
//! # async fn example() -> Result<(), cove_core::EngineError> {
//! let engine = ChromeEngine::new(ChromeOptions::default());
//! let mut session = engine.open(SessionOptions::one_shot()).await?;
//! let report = session.run(&RunRequest::new("return document.title")).await;
//! assert!(report.result.is_ok());
//! session.close().await?;
//! engine.close().await;
//! # Ok(())
//! # }
//! ```

mod browser;
mod cdp;
mod engine;
mod fault;
mod find;
mod group;
mod launch;
mod message;
mod network;
mod options;
mod owner_thread;
mod page;
mod page_reply;
mod pool;
mod profile;
mod renderer;
mod run;
mod session;
mod standalone;
mod tab;
mod tab_events;
mod watch;

pub use cdp::{Frame, FrameReader, MAX_FRAME_BYTES};
pub use cove_network::{AddressRule, is_private, reserve_listed};
pub use engine::ChromeEngine;
pub use find::{BrowserNotFound, find_browser};
pub use options::ChromeOptions;
pub use owner_thread::OwnerThread;
pub use standalone::{
    BrowserFolder, BrowserPipe, Ender, NetworkProxy, StandaloneBrowser, StandaloneOptions, is_sandboxed,
};
