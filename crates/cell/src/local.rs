//! The owner's side of a cell.

use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Once;
use std::time::Duration;

use cove_cgroup::Processors;
use cove_network::LiveNetwork;
use cove_walls::identity::is_full_root;
use rustix::thread::CpuSet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::blocked::WallFailure;
use super::egress::Egress;
use super::enter::ASKED;
use super::report::EffectiveWalls;
use super::spec::{Report, Spec};
use super::{CellLimits, CellNetwork, CellOptions};

/// Usually ten milliseconds; a machine that needs this long has other troubles.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long the supervisor may take to end everything before it is ended itself.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Owners of cargo have ids from here on when we are root: far from the ids of people and of other containers.
const FIRST_OUTSIDE_ID: u32 = 1_500_000_000;
const OUTSIDE_IDS: u64 = 100_000_000;

/// Why there is no cell.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// The options cannot be met.
    #[error("{0}")]
    Options(String),
    /// The supervisor could not be started.
    #[error("the sandbox could not be started: {0}")]
    Start(#[from] std::io::Error),
    /// The walls could not be put up.
    #[error("the sandbox's walls could not be put up: {0}")]
    Walls(WallFailure),
    /// It took too long.
    #[error("the sandbox did not start within {0:?}")]
    Timeout(Duration),
}

/// A sandbox on this machine. Dropping it ends everything in it.
#[derive(Debug)]
pub struct LocalCell {
    supervisor: Child,
    /// The line to the supervisor; when it is cut, everything ends.
    control: Option<UnixStream>,
    socket: SocketFile,
    walls: EffectiveWalls,
    _egress: Option<Egress>,
    /// Its guests' own processors, where no control group deals out their time.
    _processors: Option<Processors>,
}

/// A socket's file, gone with its owner.
#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl LocalCell {
    /// Starts the program behind walls; returns when they stand. Its socket takes connections from then on.
    #[expect(clippy::disallowed_methods, reason = "this is the module that owns cells' supervisors")]
    pub async fn start(options: CellOptions) -> Result<Self, CellError> {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(cove_cgroup::sweep);
        let mut spec = check(&options)?;
        let processors = choose_processors(options.limits.cpus);
        spec.processors = processors.numbers().to_vec();
        let (listener, socket) = listen(&options.socket_dir)?;
        let egress = match &options.network {
            CellNetwork::Proxy(policy) if !policy.opens_nothing() => {
                let network = options.live_network.clone().unwrap_or_else(|| LiveNetwork::new(policy));
                Some(Egress::open(network, None, socket.0.with_extension("egress"))?)
            }
            CellNetwork::Proxy(_) | CellNetwork::None => None,
        };
        if let Some(egress) = &egress {
            spec.egress = Some(std::fs::canonicalize(egress.path())?.display().to_string());
        }
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut control = UnixStream::from_std(ours)?;
        let mut command = Command::new(&options.program);
        command.args(&options.args).env_clear().env(ASKED, "1").current_dir("/");
        command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(listener)).stderr(Stdio::inherit());
        let supervisor = command.spawn()?;
        // Our copies of what the supervisor got must go, or its end would not be seen.
        drop(command);
        let body = serde_json::to_vec(&spec).map_err(std::io::Error::other)?;
        let greeting = async {
            control.write_u32(u32::try_from(body.len()).unwrap_or(u32::MAX)).await?;
            control.write_all(&body).await?;
            let mut answer = vec![0; control.read_u32().await?.min(4 << 20) as usize];
            control.read_exact(&mut answer).await?;
            Ok::<_, std::io::Error>(serde_json::from_slice::<Report>(&answer)?)
        };
        let report = tokio::time::timeout(START_LIMIT, greeting).await.map_err(|_| CellError::Timeout(START_LIMIT))?;
        match report {
            Ok(Report::Ready(walls)) => {
                // Who has groups needs no processors of its own.
                let processors = walls.limits.processors_are_chosen().then_some(processors);
                Ok(Self {
                    supervisor,
                    control: Some(control),
                    socket,
                    walls: *walls,
                    _egress: egress,
                    _processors: processors,
                })
            }
            Ok(Report::Failed(failure)) => Err(CellError::Walls(failure)),
            Err(error) => {
                let what = format!("the supervisor has ended: {error}");
                Err(CellError::Walls(WallFailure { what, blocker: None }))
            }
        }
    }

    /// Where Ship is reached.
    pub fn socket(&self) -> &Path {
        &self.socket.0
    }

    /// The walls as they are.
    pub fn walls(&self) -> &EffectiveWalls {
        &self.walls
    }

    /// The supervisor's process id.
    pub fn pid(&self) -> Option<u32> {
        self.supervisor.id()
    }

    /// The sandbox may go on until this moment of the machine's uptime; of use where it was started with a lease.
    pub fn renew(&self, lease_until_ms: u64) {
        if let Some(control) = &self.control {
            // A supervisor that does not read has ended, or is about to, and the sandbox with it.
            let _ = control.try_write(&lease_until_ms.to_be_bytes());
        }
    }

    /// Waits until the sandbox has ended by itself.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.supervisor.wait().await?;
        self.clear();
        Ok(status)
    }

    /// Ends everything in the sandbox; returns when it is gone.
    pub async fn kill(mut self) -> std::io::Result<()> {
        self.control = None;
        if tokio::time::timeout(END_LIMIT, self.supervisor.wait()).await.is_err() {
            self.supervisor.kill().await?;
        }
        self.clear();
        Ok(())
    }

    /// Removes the groups of a supervisor that could not do it itself.
    fn clear(&self) {
        let dirs: Vec<_> = self.walls.cgroups.iter().map(PathBuf::from).collect();
        cove_cgroup::remove(&dirs);
    }
}

/// Processors for guests, out of those that this process may use.
fn choose_processors(cpus: f64) -> Processors {
    let all = rustix::thread::sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
    Processors::take(&allowed, cpus, 0)
}

fn check(options: &CellOptions) -> Result<Spec, CellError> {
    let refuse = |message: String| Err(CellError::Options(message));
    let limits = &options.limits;
    if !(limits.cpus >= 0.01 && limits.cpus <= 4096.0) {
        return refuse(format!("cpus must be between 0.01 and 4096, not {}", limits.cpus));
    }
    if limits.memory_bytes < 32 << 20 || limits.processes < 8 || limits.tmp_bytes < 4096 || limits.open_files < 64 {
        return refuse("at least 32 MiB of memory, 8 processes, 64 open files and 4 KiB of /tmp are needed".to_owned());
    }
    let simple = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    if options.hostname.is_empty() || options.hostname.len() > 63 || !options.hostname.chars().all(simple) {
        return refuse(format!("{:?} is not a host name", options.hostname));
    }
    for (name, value) in &options.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return refuse(format!("invalid environment variable: {name:?}"));
        }
    }
    // Not by its path: whoever hears of it need not know where things are on the host.
    let real = |path: &Path, what: &str| -> Result<PathBuf, CellError> {
        let real = std::fs::canonicalize(path);
        real.map_err(|error| CellError::Options(format!("{what} cannot be used: {error}")))
    };
    let workspace = real(&options.workspace, "the workspace's folder")?;
    let mut mounts = options.mounts.clone();
    for mount in &mut mounts {
        let plain = mount.inside.components().skip(1).all(|part| matches!(part, std::path::Component::Normal(_)));
        let taken = ["/workspace", "/proc", "/dev", "/tmp"].iter().any(|taken| mount.inside.starts_with(taken));
        if !mount.inside.is_absolute() || !plain || taken || mount.inside.parent().is_none() {
            return refuse(format!("nothing can be mounted at {}", mount.inside.display()));
        }
        mount.host = real(&mount.host, &format!("the folder for {}", mount.inside.display()))?;
    }
    let (uid, gid) = adopt_cargo(&workspace)?;
    let Some(text) = workspace.to_str() else { return refuse("the workspace's path is not UTF-8".to_owned()) };
    Ok(Spec {
        workspace: text.to_owned(),
        mounts,
        hostname: options.hostname.clone(),
        env: options.env.clone(),
        // Files in /tmp are memory: processes keep at least half of it.
        limits: CellLimits { tmp_bytes: limits.tmp_bytes.min(limits.memory_bytes / 2), ..limits.clone() },
        network: options.network.clone(),
        control_groups: options.control_groups,
        processors: Vec::new(),
        own_layers: options.own_layers,
        egress: None,
        lease_until_ms: options.lease_until_ms,
        uid,
        gid,
    })
}

/// Whom the guest is outside: the cargo's owner. A cargo of root's gets an owner of its own, once.
///
/// An ordinary user can only be himself, and so can a root that lacks the capability to give his place to another.
pub fn adopt_cargo(workspace: &Path) -> Result<(u32, u32), CellError> {
    if !is_full_root() {
        return Ok((rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()));
    }
    let found = std::fs::metadata(workspace)?;
    if !found.is_dir() {
        return Err(CellError::Options("the workspace is not a folder".to_owned()));
    }
    if found.uid() != 0 && found.gid() != 0 {
        return Ok((found.uid(), found.gid()));
    }
    let id = FIRST_OUTSIDE_ID + u32::try_from(found.ino() % OUTSIDE_IDS).unwrap_or(0);
    give_to(workspace, id)?;
    Ok((id, id))
}

/// Gives a folder and all that is in it to this user: links themselves and never what they point to, so that nothing outside
/// changes hands.
pub fn give_to(path: &Path, id: u32) -> std::io::Result<()> {
    give_deep(path, id, 0)
}

/// Depth first.
fn give_deep(path: &Path, id: u32, depth: usize) -> std::io::Result<()> {
    let found = std::fs::symlink_metadata(path)?;
    if found.is_dir() && depth < 256 {
        for entry in std::fs::read_dir(path)? {
            give_deep(&entry?.path(), id, depth + 1)?;
        }
    }
    std::os::unix::fs::lchown(path, Some(id), Some(id))
}

/// A socket that nobody else can reach, listening before anybody is there to answer: the first request waits, not fails.
fn listen(dir: &Path) -> Result<(UnixListener, SocketFile), CellError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let path = dir.join(format!("ship-{:016x}.sock", u64::from_ne_bytes(random)));
    let listener = UnixListener::bind(&path)?;
    let socket = SocketFile(path);
    std::fs::set_permissions(&socket.0, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, socket))
}
