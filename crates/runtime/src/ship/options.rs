//! What Ship is told at its start.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{IPythonUse, OomScore, Rank};

/// Where Ship listens.
#[derive(Debug)]
pub(crate) enum Listen {
    /// A TCP address; port 8123 is the custom.
    Tcp(SocketAddr),
    /// A TCP address that guests reach: `/health` and `/meta`, and nothing else.
    GuestPort(SocketAddr),
    /// A socket file, made by Ship.
    Unix(PathBuf),
    /// A socket that somebody else has opened: the walls pass theirs in, so that no file of it is inside them.
    Opened(std::os::unix::net::UnixListener),
}

/// What Ship is told at its start.
#[derive(Debug)]
pub struct ShipOptions {
    /// All of these are served alike, but for [`Listen::GuestPort`].
    pub(crate) listen: Vec<Listen>,
    /// The workspace's folder; guests know it as `/workspace`.
    pub workspace: PathBuf,
    /// The profile's environment; it reaches shell, Python and terminals. What is needed and missing here is added.
    pub(crate) env: Vec<(String, String)>,
    /// The Python to use; looked for in the environment's `PATH` when it has no slash.
    pub(crate) python: String,
    /// When IPython's shell runs the cells.
    pub(crate) ipython: IPythonUse,
    /// Modules that Python imports ahead: it then starts with Ship and not with its first cell. `None`: with its first
    /// cell. Importing numpy and matplotlib takes most of a second, which a warm sandbox has and a caller has not.
    /// Cells run in copies of that interpreter, which share its memory: a restart imports nothing again.
    pub(crate) preload: Option<Vec<String>>,
    /// Kept of each output stream, half of it from the start and half from the end.
    pub(crate) output_limit_bytes: usize,
    /// How many processes guests may have; Ship itself may have more, so that it can still act when they are used up.
    pub(crate) process_limit: Option<u64>,
    /// Who knows when memory ran out; `None` where whoever made the sandbox has not said.
    pub(crate) memory: Option<cove_cell::MemoryLedger>,
    /// Makes guests the first to be killed when memory runs out; `None`: Ship tries by itself.
    pub(crate) score: Option<OomScore>,
    /// The line of whoever counts the workspace from outside.
    pub(crate) disk_news: Option<std::os::unix::net::UnixStream>,
    /// What guests are held to, and by what, for `/meta`; `None` where whoever made the sandbox has not said.
    pub(crate) limits: Option<cove_cell::EffectiveLimits>,
    /// The processors that guests have; empty: all.
    pub(crate) processors: Vec<usize>,
    /// A file that guests read as `/proc/uptime`, to be kept up to date.
    pub(crate) uptime: Option<std::fs::File>,
    /// The socket of a proxy that leads out; without one there is no way out.
    pub(crate) way_out: Option<PathBuf>,
    /// This very program, to be started again as the process that runs JavaScript; its `main` must call
    /// [`cove_embedded::worker::enter_if_asked`] and [`command`](super::command).
    pub(crate) program: PathBuf,
    /// The words on its command line before Ship's own, such as `ship`.
    pub(crate) program_args: Vec<String>,
    /// How far this process is responsible for others.
    pub(crate) rank: Rank,
}

/// The custom port.
pub(super) const DEFAULT_PORT: u16 = 8123;

impl Default for ShipOptions {
    fn default() -> Self {
        Self {
            listen: vec![Listen::Tcp(SocketAddr::from(([0, 0, 0, 0], DEFAULT_PORT)))],
            workspace: PathBuf::from("/workspace"),
            env: Vec::new(),
            python: "python3".to_owned(),
            ipython: IPythonUse::Auto,
            preload: None,
            output_limit_bytes: 256 << 10,
            process_limit: None,
            memory: None,
            score: None,
            disk_news: None,
            limits: None,
            processors: Vec::new(),
            uptime: None,
            way_out: None,
            program: PathBuf::from("/proc/self/exe"),
            program_args: Vec::new(),
            rank: Rank::Part,
        }
    }
}

impl ShipOptions {
    /// The ports that Ship itself listens on.
    pub(super) fn own_ports(&self) -> Vec<u16> {
        let listened = self.listen.iter().filter_map(|listen| match listen {
            Listen::Tcp(address) | Listen::GuestPort(address) => Some(address.port()),
            Listen::Unix(_) | Listen::Opened(_) => None,
        });
        listened.chain(self.way_out.iter().map(|_| super::way_out::PORT)).collect()
    }

    /// The environment that guests get: the profile's, and what every program expects to find.
    pub(super) fn full_env(&self) -> Vec<(String, String)> {
        let mut env = self.env.clone();
        let proxy = self.way_out.iter().flat_map(|_| super::way_out::environment());
        let usual = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("HOME", "/workspace"),
            ("USER", "shipyard"),
            ("LOGNAME", "shipyard"),
            ("SHELL", "/bin/bash"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("TMPDIR", "/tmp"),
        ];
        for (name, value) in usual.map(|(name, value)| (name, value.to_owned())).into_iter().chain(proxy) {
            if !env.iter().any(|(other, _)| other == name) {
                env.push((name.to_owned(), value));
            }
        }
        env
    }
}
