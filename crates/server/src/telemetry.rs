//! Logs: for people on a terminal, as JSON elsewhere. Never a key, never code, never a file's content.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What is said unless `COVE_LOG` or `RUST_LOG` asks for more or less.
const USUAL: &str = "warn,cove_bay=info,cove_server=info";

/// Begins to log to standard error. Does nothing where a log was set up before.
pub fn begin(quiet: bool) {
    let wanted = ["COVE_LOG", "RUST_LOG"].iter().find_map(|name| std::env::var(name).ok());
    let usual = if quiet { "warn" } else { USUAL };
    let filter = wanted.and_then(|text| EnvFilter::try_new(text).ok()).unwrap_or_else(|| EnvFilter::new(usual));
    let registry = tracing_subscriber::registry().with(filter);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let _ = if std::io::stderr().is_terminal() {
        registry.with(layer.with_target(false)).try_init()
    } else {
        registry.with(layer.json().flatten_event(true).with_current_span(true).with_span_list(false)).try_init()
    };
}
