//! What a cell is to be.

use std::path::PathBuf;

use cove_core::NetworkPolicy;
use cove_network::LiveNetwork;
use serde::{Deserialize, Serialize};

/// What guests may use at most. What of it is really enforced, and by what, is in
/// [`EffectiveWalls`](super::EffectiveWalls).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLimits {
    /// Memory of all processes together, files in `/tmp` and page cache included.
    pub memory_bytes: u64,
    /// Processors; 0.5 is half of one.
    pub cpus: f64,
    /// Processes and threads of guests.
    pub processes: u64,
    /// Size of `/tmp`; it counts as memory, too.
    pub tmp_bytes: u64,
    /// What may be in the workspace; `None`: as much as the disk holds. No single file can be larger.
    pub workspace_bytes: Option<u64>,
    /// Open files per process.
    pub open_files: u64,
}

impl Default for CellLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            cpus: 1.0,
            processes: 256,
            tmp_bytes: 256 << 20,
            workspace_bytes: None,
            open_files: 4096,
        }
    }
}

/// What can be reached from inside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellNetwork {
    /// The sandbox's own loopback and nothing else.
    #[default]
    None,
    /// These hosts, by HTTP and HTTPS through a proxy that looks at every name and address. A policy that names
    /// nothing is the same as `None`.
    Proxy(NetworkPolicy),
}

/// A folder of the host that can be read inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellMount {
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where it appears inside; absolute, and not in `/workspace`, `/proc`, `/dev` or `/tmp`.
    pub inside: PathBuf,
}

/// What a cell is to be.
#[derive(Debug, Clone)]
pub struct CellOptions {
    /// A program that calls [`enter`](super::enter) first thing, such as `cove` or `cove-ship`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The cargo's folder; it becomes `/workspace`.
    pub workspace: PathBuf,
    /// What guests may use.
    pub limits: CellLimits,
    /// The profile's environment.
    pub env: Vec<(String, String)>,
    /// What can be reached.
    pub network: CellNetwork,
    /// Where that policy may change while the cell runs.
    pub live_network: Option<LiveNetwork>,
    /// An existing folder, closed to others, for the socket by which Ship is reached.
    pub socket_dir: PathBuf,
    /// Further folders to read, such as a Python environment.
    pub mounts: Vec<CellMount>,
    /// The machine's name inside.
    pub hostname: String,
    /// Use control groups where available. Without them resource limits and a watch remain.
    pub control_groups: bool,
    /// Whether guests read the machine's programs through layers of their own. Without them, or where the kernel refuses
    /// them, `inotify` and `flock` are refused instead.
    pub own_layers: bool,
    /// The sandbox ends by itself at this moment of the machine's uptime, in milliseconds, unless its owner renews the
    /// lease ([`renew`](super::LocalCell::renew)): also while the owner is frozen. `None`: with its owner only.
    pub lease_until_ms: Option<u64>,
}

impl CellOptions {
    /// A cell with every default.
    pub fn new(program: impl Into<PathBuf>, workspace: impl Into<PathBuf>, socket_dir: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            workspace: workspace.into(),
            limits: CellLimits::default(),
            env: Vec::new(),
            network: CellNetwork::None,
            live_network: None,
            socket_dir: socket_dir.into(),
            mounts: Vec::new(),
            hostname: "cove".to_owned(),
            control_groups: true,
            own_layers: true,
            lease_until_ms: None,
        }
    }
}
