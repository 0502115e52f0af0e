//! A browser that stays between calls: its server, where it is found, and how it ends.
//!
//! The server is this very program in a process group of its own. It ends with `close`, when nobody has used it for a
//! while, and with the session of the terminal that it was started from; so a forgotten one never stays for long.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use cove_core::{Deadline, NetworkPolicy};
use cove_gull::find_agent_browser;
use cove_runtime_api::{BrowserAnswer, BrowserRequest, CallError, RuntimeClient, until_it_listens};
use cove_workspace::lock_within;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use super::{Browse, hosts};
use crate::terminal::{DIM, PLAIN, note};

pub(super) const SOCKET: &str = "socket";
pub(super) const RECORD: &str = "session.json";
const LOCK: &str = "lock";
const LOG: &str = "log";

/// For a server to answer; and for another call that is just starting one.
const START: Duration = Duration::from_secs(40);

/// For a server to end its browser; then it is killed.
const END: Duration = Duration::from_secs(10);

/// For the answer to a command whose time is over.
const ANSWER: Duration = Duration::from_secs(10);

/// Between two looks at what says nothing when it is ready.
const LOOK: Duration = Duration::from_millis(10);

/// What a session was started with.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    workspace: PathBuf,
    network: NetworkPolicy,
}

/// A session that answers.
pub(super) struct Session {
    folder: PathBuf,
    record: Record,
    client: RuntimeClient,
}

impl Session {
    /// Finds the session, or starts it; starts it again when hosts are wished that it does not open.
    pub(super) async fn join(name: &str, args: &Browse, wished: NetworkPolicy) -> anyhow::Result<Self> {
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > 48 || !name.chars().all(named) {
            bail!("a session's name has 1 to 48 letters, digits, `-` and `_`");
        }
        let folder = own_folder(&base())?.join(name);
        let folder = own_folder(&folder)?;
        // One call at a time starts or ends it.
        let _lock = lock(&folder.join(LOCK)).await?;
        let socket = folder.join(SOCKET);
        let client = RuntimeClient::new(&socket);
        let known = std::fs::read(folder.join(RECORD)).ok();
        let known = known.and_then(|text| serde_json::from_slice::<Record>(&text).ok());
        if let (Some(mut record), Ok(_)) = (known, UnixStream::connect(&socket).await) {
            if !hosts::widen(&mut record.network, &wished) {
                return Ok(Self { folder, record, client });
            }
            end(&folder).await?;
            note!(
                "{DIM}note:{PLAIN} the session was started again to reach another host; cookies are kept, pages are not"
            );
            let args = Browse { workspace: record.workspace.clone(), ..args.clone() };
            return Self::start(folder, &args, record, client).await;
        }
        let record = Record { workspace: args.workspace.clone(), network: wished };
        Self::start(folder, args, record, client).await
    }

    async fn start(folder: PathBuf, args: &Browse, record: Record, client: RuntimeClient) -> anyhow::Result<Self> {
        let _ = std::fs::remove_file(folder.join(SOCKET));
        let mut child = spawn(&folder, args, &record.network).context("the session's server could not be started")?;
        let socket = folder.join(SOCKET);
        let listens = tokio::select! {
            listens = tokio::time::timeout(START, until_it_listens(&socket)) => listens.is_ok(),
            _ = child.wait() => false,
        };
        if !listens {
            let _ = child.start_kill();
            let said = std::fs::read_to_string(folder.join(LOG)).unwrap_or_default();
            bail!("the session could not be started: {}", said.trim());
        }
        std::fs::write(folder.join(RECORD), serde_json::to_vec(&record)?)?;
        Ok(Self { folder, record, client })
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.record.workspace
    }

    pub(super) async fn exec(&self, cmd: &str, deadline: Deadline) -> anyhow::Result<BrowserAnswer> {
        let timeout = deadline.budget().as_secs_f64();
        let request = BrowserRequest { cmd: cmd.to_owned(), timeout, include_trace: false };
        match self.client.call(&request, deadline.backstop(ANSWER)).await {
            Err(CallError::Refused(refused)) => bail!("the session answered {}: {refused}", refused.status),
            answered => Ok(answered?),
        }
    }

    /// Ends it; nothing is left but its workspace.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let _lock = lock(&self.folder.join(LOCK)).await?;
        end(&self.folder).await
    }
}

/// Where sessions are found: the user's own folder for such things, else one in the temporary folder.
fn base() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir()) {
        Some(folder) => folder.join("cove-browse"),
        None => std::env::temp_dir().join(format!("cove-browse-{}", geteuid().as_raw())),
    }
}

/// Makes a folder that is ours alone, or makes sure that it is.
fn own_folder(path: &Path) -> anyhow::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        bail!(
            "{} must be a folder of the current user that nobody else can open (mode 700); remove it and try again",
            path.display()
        );
    }
    Ok(path.to_owned())
}

async fn lock(path: &Path) -> anyhow::Result<File> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    let waiting = tokio::task::spawn_blocking(move || lock_within(&file, START).map(|locked| locked.then_some(file)));
    match waiting.await?.with_context(|| path.display().to_string())? {
        Some(file) => Ok(file),
        None => bail!("another call is still starting or ending this session"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the server ends itself: by close, idle time-out or with the terminal")]
fn spawn(folder: &Path, args: &Browse, network: &NetworkPolicy) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("cove").arg("browse").arg("--serve").arg(folder).arg("--workspace").arg(&args.workspace);
    command.args(["--session", args.session.as_deref().unwrap_or_default(), "--idle-s", &args.idle_s.to_string()]);
    for host in &network.allow_hosts {
        command.args(["--allow-host", host]);
    }
    for address in &network.allow_private {
        command.args(["--allow-private", address]);
    }
    if let Some(browser) = &args.browser {
        command.arg("--browser").arg(std::path::absolute(browser)?);
    }
    // Found from here: the server stands in another folder.
    let agent = find_agent_browser(None).map_err(io::Error::other)?;
    command.env("COVE_AGENT_BROWSER", std::path::absolute(agent)?);
    // The leader of the terminal's session; a call that leads its own would end its server with itself.
    let leader = crate::process::session().filter(|leader| *leader != rustix::process::getpid());
    if let Some(leader) = leader {
        command.args(["--leader", &leader.as_raw_nonzero().to_string()]);
    }
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(folder.join(LOG))?);
    command.process_group(0).current_dir("/").spawn()
}

/// Asks the server behind the socket to end, and sees to it.
async fn end(folder: &Path) -> anyhow::Result<()> {
    let socket = folder.join(SOCKET);
    let Ok(stream) = UnixStream::connect(&socket).await else { return Ok(()) };
    let pid = stream.peer_cred()?.pid().and_then(Pid::from_raw).context("the server cannot be found")?;
    drop(stream);
    let _ = kill_process(pid, Signal::TERM);
    let until = Instant::now() + END;
    // It takes its socket away when everything else is gone.
    while socket.exists() {
        if Instant::now() > until {
            let _ = kill_process(pid, Signal::KILL);
            let _ = std::fs::remove_file(&socket);
        }
        tokio::time::sleep(LOOK).await;
    }
    let _ = std::fs::remove_file(folder.join(RECORD));
    Ok(())
}
