//! The browser engine: finds, launches, watches and ends Chrome, and gives every run a fresh world in it.
//!
//! There is one dedicated headless browser, controlled over a pipe by our own small client. Every session has its own
//! browser context and tab, taken from a warm pool. The source is prepared as for the embedded engine and run by a small
//! script (the *kernel*) that is in the page before guest code. Limits that a page could evade (the deadline, memory, the
//! network, the end of the process) are enforced outside it.
//!
//! Chrome never runs as root and never without its own sandbox: a renderer's seccomp filter is checked before the
//! first run, and without it nothing is served.
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
mod processes;
mod profile;
mod renderer;
mod run;
mod session;
mod standalone;
mod tab;
mod tab_events;
mod watch;

pub use cdp::{Frame, FrameReader, MAX_FRAME_BYTES};
pub use cove_network::{AddressRule, SandboxPorts, is_loopback_name, is_private, reserve_listed};
pub use engine::ChromeEngine;
pub use find::{BrowserNotFound, IN_DATA_DIR, find_browser, find_browser_with, libraries_of};
pub use options::ChromeOptions;
pub use owner_thread::OwnerThread;
pub use processes::BrowserProcesses;
pub use standalone::{
    BrowserFolder, BrowserPipe, Ender, NetworkProxy, StandaloneBrowser, StandaloneOptions, is_sandboxed,
};
