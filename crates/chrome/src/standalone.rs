//! A browser without the engine: launched, checked and ended here, and controlled over its pipe by another program.
//!
//! The engine's browser is fresh each time and shows guests blank pages; this one keeps its own folder between two
//! launches and opens whatever its network policy allows. Everything that makes a browser safe (user, group, limits,
//! pipe instead of port, end with its parent) is the same code.

use std::io;
use std::path::{Path, PathBuf};

use cove_core::NetworkPolicy;
use cove_network::{LiveNetwork, SandboxPorts, pass_on};
use cove_walls::Ruleset;
use cove_walls::process::kill_group;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::browser::{END, clear_away, last_words};
use crate::launch::{COMMON_FLAGS, Launched, OWN_DATA_BYTES, ProcessSetup, become_id, shared_memory_flag, spawn};
use crate::network::{MAX_CONNECTIONS, serve};
use crate::profile::Profile;
use crate::renderer::Renderer;

/// The name under which the browser knows its proxy; its resolver rules know no other name.
const PROXY_NAME: &str = "door.cove-proxy.invalid";

/// A cache that speeds up a session and does not fill a workspace: it lies in the temporary folder.
const CACHE_BYTES: u64 = 64 << 20;

/// The way to the network: a filtering proxy on loopback. Dropping it closes every connection through it.
#[derive(Debug)]
pub struct NetworkProxy {
    port: u16,
    serving: AbortHandle,
}

impl NetworkProxy {
    /// Starts a proxy for a policy, on the current runtime; `inside` is the sandbox that `localhost` is. `None` where there
    /// is nothing to reach.
    pub fn open(policy: &NetworkPolicy, inside: Option<SandboxPorts>) -> io::Result<Option<Self>> {
        if policy.opens_nothing() && inside.is_none() {
            return Ok(None);
        }
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let serving = tokio::spawn(serve(listener, LiveNetwork::new(policy), inside, None, None));
        Ok(Some(Self { port, serving: serving.abort_handle() }))
    }

    /// Passes everything on to another proxy's socket, which decides: where this process has no network of its own.
    pub fn through(socket: PathBuf) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let serving = tokio::spawn(pass_on(tokio::net::TcpListener::from_std(listener)?, MAX_CONNECTIONS, socket));
        Ok(Self { port, serving: serving.abort_handle() })
    }

    /// Its port on 127.0.0.1: all that the browser ever has to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for NetworkProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What such a browser is launched with.
#[derive(Debug, Clone)]
pub struct StandaloneOptions {
    /// Its `--user-data-dir`; kept. Whoever the browser runs as must be able to write there.
    pub data_dir: PathBuf,
    /// Whether the browser's user cannot get there by its path (it lies below root's own home, say): this browser alone sees
    /// it in its temporary folder then. Only root can do that, and only with `CAP_SYS_ADMIN`.
    pub is_mounted: bool,
    /// The largest file that it may write.
    pub file_bytes: u64,
    /// Where its temporary folder is made; removed with it.
    pub temp_dir: PathBuf,
    /// Started as root, the user and group that it becomes. Never 0.
    pub unprivileged_id: u32,
    /// Memory that any one of its processes may hold beyond what it starts with.
    pub process_memory_bytes: u64,
    /// Width and height of its window.
    pub window: (u32, u32),
    /// The port of its [`NetworkProxy`]; `None`: it reaches nothing.
    pub proxy_port: Option<u16>,
}

/// A temporary folder that a browser will be launched in: known before, so that a ruleset can name it.
#[derive(Debug)]
pub struct BrowserFolder {
    profile: Profile,
    become_id: Option<u32>,
}

impl BrowserFolder {
    /// Makes the folder.
    pub fn create(options: &StandaloneOptions) -> io::Result<Self> {
        let become_id = become_id(options.unprivileged_id)?;
        Ok(Self { profile: Profile::create_as(&options.temp_dir, "c-", become_id)?, become_id })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.profile.path()
    }
}

/// A running browser that belongs to whoever holds its two pipe ends.
#[derive(Debug)]
pub struct StandaloneBrowser {
    pid: u32,
    complaints: PathBuf,
    ended: watch::Receiver<bool>,
}

/// The two ends of a browser's pipe: frames are JSON texts, each ended by a zero byte.
#[derive(Debug)]
pub struct BrowserPipe {
    /// What the browser reads.
    pub commands: pipe::Sender,
    /// What the browser writes.
    pub answers: pipe::Receiver,
}

impl StandaloneBrowser {
    /// Launches it. Must be called on the thread that lives as long as the browser may (a [`crate::OwnerThread`]'s).
    ///
    /// `ruleset` is a Landlock ruleset that the whole browser lives under.
    pub fn launch(
        binary: &Path,
        folder: BrowserFolder,
        options: &StandaloneOptions,
        ruleset: Option<Ruleset>,
    ) -> io::Result<(Self, BrowserPipe)> {
        let mounted: Vec<_> =
            options.is_mounted.then(|| (options.data_dir.clone(), folder.profile.data())).into_iter().collect();
        let data_dir = mounted.first().map_or(&options.data_dir, |(_, place)| place);
        let flags = flags(folder.path(), data_dir, options);
        let being = ProcessSetup {
            become_id: folder.become_id,
            data_limit_bytes: OWN_DATA_BYTES.saturating_add(options.process_memory_bytes),
            file_limit_bytes: Some(options.file_bytes),
            mounted,
            ruleset,
        };
        let Launched { mut child, pid, commands, answers, profile, complaints } =
            spawn(binary, folder.profile, flags, being)?;
        let (ending, ended) = watch::channel(false);
        tokio::spawn(async move {
            let _ = child.wait().await;
            clear_away(pid, profile, &ending).await;
        });
        Ok((Self { pid, complaints, ended }, BrowserPipe { commands, answers }))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether anything of it is left.
    pub fn is_gone(&self) -> bool {
        self.ender().is_gone()
    }

    /// The end of what it complained about, for a message.
    pub fn last_words(&self) -> String {
        last_words(&self.complaints)
    }

    /// Whether it complained that its own sandbox cannot be set up. It has no exit code for that, only words; this is the
    /// one place that knows them.
    pub fn lacks_sandbox(&self) -> bool {
        std::fs::read_to_string(&self.complaints).is_ok_and(|said| said.contains("sandbox"))
    }

    /// Ends every process of it at once.
    pub fn kill(&self) {
        self.ender().kill();
    }

    /// Waits until nothing of it is left, neither process nor temporary folder.
    pub async fn gone(&self) {
        self.ender().gone().await;
    }

    /// For somebody who must be able to end it without owning it.
    pub fn ender(&self) -> Ender {
        Ender { pid: self.pid, ended: self.ended.clone() }
    }
}

/// Ends a browser.
#[derive(Debug, Clone)]
pub struct Ender {
    pid: u32,
    ended: watch::Receiver<bool>,
}

impl Ender {
    /// Ends every process of it at once.
    pub fn kill(&self) {
        // Its number is its own until nothing of it is left.
        if !self.is_gone() {
            kill_group(self.pid);
        }
    }

    /// Whether anything of it is left.
    pub fn is_gone(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until nothing of it is left, neither process nor temporary folder.
    pub async fn gone(&self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(END * 2, ended.wait_for(|ended| *ended)).await;
    }
}

impl Drop for StandaloneBrowser {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether a renderer lives behind the browser's own sandbox: a seccomp filter, and no way to new privileges.
pub fn is_sandboxed(renderer_pid: u32) -> bool {
    let walls = Renderer::open(renderer_pid).and_then(|renderer| renderer.walls());
    walls.is_some_and(|walls| walls.seccomp == 2 && walls.no_new_privileges)
}

fn flags(folder: &Path, data_dir: &Path, options: &StandaloneOptions) -> Vec<String> {
    // Its pages go on working while agent-browser looks at another tab.
    let own = ["--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"];
    let mut flags: Vec<String> = COMMON_FLAGS.iter().chain(&own).map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--user-data-dir={}", data_dir.display()));
    flags.push(format!("--disk-cache-dir={}", folder.join("t/cache").display()));
    flags.push(format!("--disk-cache-size={CACHE_BYTES}"));
    flags.push(format!("--window-size={},{}", options.window.0, options.window.1));
    match options.proxy_port {
        Some(port) => {
            flags.push(format!("--host-resolver-rules=MAP {PROXY_NAME} 127.0.0.1:{port},MAP * ~NOTFOUND"));
            flags.push(format!("--proxy-server=http://{PROXY_NAME}:1080"));
            flags.push("--proxy-bypass-list=<-loopback>".to_owned());
        }
        None => flags.push("--host-resolver-rules=MAP * ~NOTFOUND".to_owned()),
    }
    flags.extend(shared_memory_flag());
    // The full browser would begin with a page of its own, which has bars that others have not.
    flags.push("about:blank".to_owned());
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walls that hang on a flag, with and without a network.
    #[test]
    fn the_flags_hold_the_walls() {
        let mut options = StandaloneOptions {
            data_dir: "/data".into(),
            is_mounted: false,
            file_bytes: 1 << 30,
            temp_dir: "/tmp".into(),
            unprivileged_id: 1,
            process_memory_bytes: 1 << 30,
            window: (1280, 720),
            proxy_port: None,
        };
        let check = |options: &StandaloneOptions, walls: &[&str]| {
            let flags = flags(Path::new("/folder"), &options.data_dir, options);
            for wall in walls {
                assert!(flags.iter().any(|flag| flag == wall), "{wall} is missing");
            }
            assert!(!flags.iter().any(|flag| flag.contains("no-sandbox") || flag.contains("debugging-port")));
        };
        check(&options, &["--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND"]);
        options.proxy_port = Some(7);
        check(
            &options,
            &[
                "--remote-debugging-pipe",
                "--host-resolver-rules=MAP door.cove-proxy.invalid 127.0.0.1:7,MAP * ~NOTFOUND",
                "--proxy-server=http://door.cove-proxy.invalid:1080",
                "--proxy-bypass-list=<-loopback>",
                "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
                "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            ],
        );
    }
}
