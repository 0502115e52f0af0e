//! agent-browser's two kinds of process: its daemon, which we start ourselves, and the short-lived commands.
//!
//! Left alone, a command starts the daemon as an orphan that outlives everybody, and the daemon starts a browser of its
//! own, without a sandbox where it believes to be in a container. Here the daemon is our child and dies with us, a
//! command may not start any process at all, the
//! environment is the same for every process of a session (a difference would make agent-browser restart its daemon and
//! forget the page), and the only browser it can find is ours: the path of the other one does not exist.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cove_runtime_api::until_it_listens;
use cove_walls::limits::Resource;
use cove_walls::process::kill_group;
use cove_walls::{ChildSetup, Ruleset};
use cove_workspace::is_passable;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::output::Capture;
use crate::private_folder::PrivateFolder;
use crate::walls::{Reach, ruleset};

/// What 0.41.0 writes beside its socket when no launch flag is set; a daemon without it is taken for a stale one.
const CONFIG: &str = "8ac7231d51426f23";

/// For a daemon to answer on its socket.
const READY: Duration = Duration::from_secs(10);

/// What a child's pipes may hold after its end: its daemon could have inherited them and never closes them.
const DRAIN: Duration = Duration::from_millis(150);

/// What such a small program never needs more of: open files, and bytes in one file (a long recording).
const OPEN_FILES: u64 = 256;
const FILE_BYTES: u64 = 1 << 30;

/// How agent-browser is started in one session.
pub(crate) struct Agent {
    binary: PathBuf,
    /// The same, opened, where the user that it runs as cannot get to it by its path.
    opened: Option<File>,
    session: String,
    sockets: PathBuf,
    home: PathBuf,
    tmp: PathBuf,
    url: String,
    become_id: Option<u32>,
    walls: Option<Ruleset>,
    /// The content of the daemon's `.config`, corrected should another version have its own.
    config: Mutex<String>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// At the deadline.
    Deadline,
    /// Because what it worked on is gone.
    Lost,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) ended: Ended,
}

impl Agent {
    pub(crate) fn new(
        binary: PathBuf,
        session: &str,
        private_folder: &PrivateFolder,
        bridge: (String, u16),
        become_id: Option<u32>,
    ) -> io::Result<Self> {
        let is_shut = become_id.is_some_and(|id| !is_passable(&binary, id));
        let opened = is_shut.then(|| File::open(&binary)).transpose()?;
        let walls = ruleset(&Reach {
            read: vec![package(&binary)],
            write: vec![private_folder.path()],
            write_opened: None,
            port: Some(bridge.1),
        });
        Ok(Self {
            binary,
            opened,
            session: session.to_owned(),
            sockets: private_folder.sockets(),
            home: private_folder.home(),
            tmp: private_folder.tmp(),
            url: bridge.0,
            become_id,
            walls,
            config: Mutex::new(CONFIG.to_owned()),
        })
    }

    /// Whether its processes live under Landlock.
    pub(crate) fn is_walled(&self) -> bool {
        self.walls.is_some()
    }

    /// Starts the daemon. Must run on the thread that lives as long as the daemon may.
    pub(crate) async fn start_daemon(&self) -> Result<Daemon, String> {
        let told = |error: io::Error| format!("agent-browser could not be started: {error}");
        for ending in ["sock", "pid", "stream", "version"] {
            let _ = std::fs::remove_file(self.beside_socket(ending));
        }
        std::fs::write(self.beside_socket("config"), self.config().as_bytes()).map_err(told)?;
        if let Some(id) = self.become_id {
            std::os::unix::fs::chown(self.beside_socket("config"), Some(id), Some(id)).map_err(told)?;
        }
        let log = self.tmp.join("daemon.log");
        let stderr = std::fs::File::create(&log).map_err(told)?;
        let mut command = self.command(false).map_err(told)?;
        command.env("AGENT_BROWSER_DAEMON", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let mut child = command.spawn().map_err(told)?;
        let pid = child.id().ok_or_else(|| "agent-browser exited right after it started".to_owned())?;
        let until = Instant::now() + READY;
        let socket = self.beside_socket("sock");
        let listens = tokio::select! {
            listens = tokio::time::timeout_at(until, until_it_listens(&socket)) => listens.is_ok(),
            _ = child.wait() => false,
        };
        if !listens {
            kill_group(pid);
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            return Err(format!("agent-browser's daemon did not start: {}", said.trim()));
        }
        let daemon = Daemon { child, pid };
        // Under our walls it cannot open the port through which it would show the browser to anybody; where the kernel
        // has no such wall, it is told to close it.
        if self.beside_socket("stream").exists() {
            let words = ["stream".to_owned(), "disable".to_owned()];
            let ran = self.run(&words, None, until, std::future::pending()).await.map_err(told)?;
            if !matches!(ran.ended, Ended::Code(0)) {
                return Err(format!("agent-browser would not close its port: {}", ran.stderr.trim()));
            }
        }
        Ok(daemon)
    }

    /// Reads again what commands want to see beside the daemon's socket. One that sees something else takes the daemon
    /// for a stale one and ends it.
    pub(crate) fn learn(&self) {
        if let Ok(config) = std::fs::read_to_string(self.beside_socket("config")) {
            *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
        }
    }

    /// What agent-browser has written down about the active tab; its id is in there.
    pub(crate) fn active_tab(&self) -> Option<String> {
        std::fs::read_to_string(self.beside_socket("target")).ok()
    }

    /// Forgets which tab was the active one.
    pub(crate) fn forget_tab(&self) {
        let _ = std::fs::remove_file(self.beside_socket("target"));
    }

    /// Runs one command. `lost` ends it early, when there is nothing left to work on.
    pub(crate) async fn run(
        &self,
        words: &[String],
        input: Option<Vec<u8>>,
        deadline: Instant,
        lost: impl Future<Output = ()>,
    ) -> io::Result<Ran> {
        let mut command = self.command(true)?;
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn()?;
        let pid = child.id();
        let stdout = Capture::start(child.stdout.take());
        let stderr = Capture::start(child.stderr.take());
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            tokio::spawn(async move {
                let _ = stdin.write_all(&input).await;
            });
        }
        let ended = tokio::select! {
            // The child, not the end of its pipes: a daemon may have inherited those.
            status = child.wait() => Ended::Code(code_of(status?)),
            () = tokio::time::sleep_until(deadline) => Ended::Deadline,
            () = lost => Ended::Lost,
        };
        if let (Some(pid), Ended::Deadline | Ended::Lost) = (pid, &ended) {
            kill_group(pid);
            let _ = child.wait().await;
        }
        let until = Instant::now() + DRAIN;
        Ok(Ran { stdout: stdout.end(until).await, stderr: stderr.end(until).await, ended })
    }

    fn config(&self) -> String {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn beside_socket(&self, ending: &str) -> PathBuf {
        self.sockets.join(format!("{}.{ending}", self.session))
    }

    fn command(&self, alone: bool) -> io::Result<Command> {
        let mut command = match &self.opened {
            // By the descriptor that the child inherits: no folder is in the way of that.
            Some(file) => new_command(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd()))),
            None => new_command(&self.binary),
        };
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("TMPDIR", &self.tmp)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env("AGENT_BROWSER_SOCKET_DIR", &self.sockets)
            .env("AGENT_BROWSER_SESSION", &self.session)
            .env("AGENT_BROWSER_CDP", &self.url)
            .env("AGENT_BROWSER_EXECUTABLE_PATH", "/nonexistent/browser")
            // Not the workspace: agent-browser reads settings from the folder it is started in.
            .current_dir(&self.home)
            .kill_on_drop(true);
        let setup = ChildSetup {
            limits: vec![(Resource::Core, 0), (Resource::Nofile, OPEN_FILES), (Resource::Fsize, FILE_BYTES)],
            // As root the walls go up without this promise, but nothing here has a use for new privileges.
            no_new_privileges: true,
            ruleset: self.walls.clone(),
            become_id: self.become_id,
            alone,
            ..ChildSetup::default()
        };
        setup.apply(command.as_std_mut())?;
        Ok(command)
    }
}

/// What agent-browser reads of itself: npm's package, else the binary alone. Never the folder of something else.
fn package(binary: &Path) -> &Path {
    let package = binary.parent().and_then(Path::parent);
    package.filter(|folder| folder.ends_with("node_modules/agent-browser")).unwrap_or(binary)
}

/// The daemon of a session. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    pid: u32,
}

impl Daemon {
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it and whatever it has started.
    pub(crate) async fn end(mut self) {
        kill_group(self.pid);
        let _ = self.child.wait().await;
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.is_alive() {
            kill_group(self.pid);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this file owns agent-browser's processes: Daemon and run end them")]
fn new_command(binary: &Path) -> Command {
    Command::new(binary)
}

fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
