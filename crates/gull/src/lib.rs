//! Gull, the browser runtime: the real agent-browser in front of a sandboxed Chrome that Cove starts.
//!
//! A command is a line of text (`open https://example.com`, `snapshot -i`, `click @e3`). It is split into words, checked
//! against a table of permitted commands, and passed to agent-browser, which reaches the browser over a bridge with a secret
//! address. Files are read and written through the workspace's opened folder, and the network is reached through a filtering
//! proxy. A command that does not end is ended, together with a page that does not answer.
//!
//! Gull uses no shell. It refuses a session, profile or browser of the client's own, files outside the workspace, and
//! addresses other than web addresses.
//!
//! ```no_run
//! use cove_gull::{Gull, GullOptions};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), cove_gull::GullError> {
//! let mut options = GullOptions::new("/srv/cargo/ws-1", "sandbox-0123456789ab");
//! options.network.allow_hosts.push("example.com".to_owned());
//! let gull = Gull::start(options).await?;
//! let answer = gull.exec("open https://example.com", Duration::from_secs(30)).await;
//! assert_eq!(answer.exit_code, 0, "{}", answer.stderr);
//! gull.close().await;
//! # Ok(())
//! # }
//! ```

mod address;
mod agent;
mod answer;
mod bridge;
mod browser;
mod browser_state;
mod cargo;
mod control;
mod cookies;
mod disk;
mod find;
mod governor;
mod guard;
mod gull;
mod hints;
mod lease;
mod link;
mod live;
mod options;
mod output;
mod plan;
mod private_folder;
mod refusal;
mod run;
mod secret;
mod server;
mod skill;
mod spec;
mod stage;
mod trace;
mod verbs;
mod view;
mod view_input;
mod view_page;
mod walls;
mod watch;
mod words;

pub use address::named_hosts;
pub use find::{
    AGENT_BROWSER_VERSION, AgentBrowserNotFound, agent_browser_prefix, find_agent_browser, find_agent_browser_with,
    native_name,
};
pub use governor::BrowserLimits;
pub use gull::{Gull, GullError};
pub use options::{GullOptions, Listen};
pub use server::{Server, serve};
pub use skill::{SKILL_PATH, SKILL_TEXT};
pub use spec::{GullSpec, SPEC_ARGUMENT, serve_ordered};
