//! What a Gull is made with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use cove_core::NetworkPolicy;

/// The port that Gull listens on when nobody names another.
pub(crate) const DEFAULT_PORT: u16 = 8115;

/// What a browser may take on disk when nobody says otherwise: the largest file that a command may bring into the
/// workspace, and three times as much beside it.
pub(crate) const DEFAULT_DISK_BYTES: u64 = 2 << 30;

/// Where Gull listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A socket file that only its owner can use. The choice of whoever has one.
    Unix(PathBuf),
    /// An address; loopback unless something around the process (a container) is the wall. Port 0: any free one.
    Tcp(SocketAddr),
}

impl Default for Listen {
    fn default() -> Self {
        Self::Tcp(SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)))
    }
}

/// How the browser of a sandbox is found, launched and kept.
#[derive(Debug, Clone)]
pub struct GullOptions {
    /// The sandbox's folder, `/workspace` to its commands. It must be there.
    pub workspace: PathBuf,
    /// Where cookies and the browser's profile are kept between two starts; made if need be, and best where no guest can
    /// write. `None`: `.browser` in the workspace.
    pub state_dir: Option<PathBuf>,
    /// What the profile, downloads on their way and temporary files may take on disk together.
    pub disk_bytes: u64,
    /// The sandbox's id: the name of agent-browser's session. Letters, digits, `-` and `_`.
    pub session: String,
    /// Which hosts the browser may reach. None unless named.
    pub network: NetworkPolicy,
    /// The browser's binary; `None`: `COVE_BROWSER`, then the usual places.
    pub browser: Option<PathBuf>,
    /// agent-browser's native binary; `None`: `COVE_AGENT_BROWSER`, then the usual places.
    pub agent_browser: Option<PathBuf>,
    /// Where the private folder is made.
    pub temp_dir: PathBuf,
    /// Started as root, the browser and agent-browser run as this user; `None`: the workspace's owner, or nobody where
    /// that is root.
    pub unprivileged_id: Option<u32>,
    /// Memory that any one process of the browser may hold beyond what it starts with.
    pub process_memory_bytes: u64,
    /// Memory of the browser's processes together; where no control group counts it, it is watched. `None`: as much as
    /// there is.
    pub memory_bytes: Option<u64>,
    /// Processors of the browser's processes together, 0.01 to 4096; `None`: all of them. Where the kernel does not count
    /// shares, whole processors: the next whole number. What really holds is in `/meta`.
    pub cpus: Option<f64>,
    /// Use control groups where available.
    pub control_groups: bool,
    /// How long a launch may take. Generous: a cold disk on a loaded machine reads 220 MB first.
    pub launch_timeout: Duration,
    /// Without a command for so long, the browser is ended; the next command starts it again, cookies and all.
    pub idle_timeout: Option<Duration>,
    /// A person who has control and does nothing for so long loses it: commands wait for them.
    pub control_timeout: Duration,
    /// A token that every HTTP request must bear (`Authorization: Bearer …`).
    pub token: Option<String>,
    /// Where `serve` listens.
    pub listen: Listen,
    /// The socket of a proxy that leads out, for a Gull without a network of its own; that one decides what is reached.
    pub egress: Option<PathBuf>,
    /// The socket of a proxy that leads to the programs of the same sandbox: `localhost` is theirs then, unless the network
    /// names it.
    pub inside: Option<PathBuf>,
    /// A file of addresses that pages never reach, whatever the network opens: Bay's own. It may change.
    pub reserved_list: Option<PathBuf>,
}

impl GullOptions {
    /// Options for a workspace and a sandbox's id; everything else as usual, the network closed.
    pub fn new(workspace: impl Into<PathBuf>, session: impl Into<String>) -> Self {
        Self {
            workspace: workspace.into(),
            session: session.into(),
            state_dir: None,
            disk_bytes: DEFAULT_DISK_BYTES,
            network: NetworkPolicy::default(),
            browser: None,
            agent_browser: None,
            temp_dir: std::env::temp_dir(),
            unprivileged_id: None,
            process_memory_bytes: 2 << 30,
            memory_bytes: None,
            cpus: None,
            control_groups: true,
            launch_timeout: Duration::from_secs(25),
            idle_timeout: None,
            control_timeout: Duration::from_secs(300),
            token: None,
            listen: Listen::default(),
            egress: None,
            inside: None,
            reserved_list: None,
        }
    }
}
