//! What an engine is made with. Every number has a default with a reason; nothing here weakens the walls.

use std::path::PathBuf;
use std::time::Duration;

/// How the browser is found, launched and kept.
///
/// There is no switch for `--no-sandbox`: whoever needs a browser without walls does not need this crate.
#[derive(Debug, Clone)]
pub struct ChromeOptions {
    /// The browser's own binary; `None`: `COVE_BROWSER`, then the usual places.
    pub browser: Option<PathBuf>,
    /// Tabs kept ready. Four cover a short burst; each costs about 10 MB.
    pub pool_size: usize,
    /// An unused tab older than this is thrown away; a later request makes new ones.
    pub pool_age: Duration,
    /// Sessions at the same time; further ones wait. Each has a process of its own.
    pub max_sessions: usize,
    /// How long `open` waits for its turn and its tab.
    pub open_timeout: Duration,
    /// How long a launch may take. Generous: a cold disk on a loaded machine reads 220 MB first.
    pub launch_timeout: Duration,
    /// Memory that any one process of the browser may hold beyond what it starts with. The kernel enforces it, so a
    /// bomb of array buffers ends in an error of the guest's instead of the host's swap; a session's own limit, which is
    /// usually lower, is watched from outside.
    pub process_memory_bytes: u64,
    /// Where the temporary profile folder is made.
    pub temp_dir: PathBuf,
    /// Started as root, the browser runs as this user and group instead.
    pub unprivileged_id: u32,
}

impl Default for ChromeOptions {
    fn default() -> Self {
        Self {
            browser: None,
            pool_size: 4,
            pool_age: Duration::from_secs(300),
            max_sessions: 64,
            open_timeout: Duration::from_secs(20),
            launch_timeout: Duration::from_secs(20),
            process_memory_bytes: 1 << 30,
            temp_dir: std::env::temp_dir(),
            unprivileged_id: 65_534,
        }
    }
}

impl ChromeOptions {
    /// The user that the browser runs as: never root.
    pub(crate) fn user(&self) -> u32 {
        let own = rustix::process::geteuid();
        if own.is_root() { self.unprivileged_id } else { own.as_raw() }
    }
}
