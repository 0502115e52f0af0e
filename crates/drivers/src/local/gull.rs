//! Gull as a separate process.
//!
//! It is separate so that a page that breaks the browser can harm one sandbox's browser and never Bay. The kernel ends
//! it, and its browser, when Bay ends.

use cove_cell::Egress;
use cove_core::CargoId;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cove_gull::{GullSpec, SPEC_ARGUMENT};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Child;
use tokio::sync::watch;

use super::LocalDriver;
use super::child;
use super::ship::renewed;
use crate::cargo::{Cargos, overgrown};
use crate::owned::{Owned, wished};
use crate::{ContainerOrder, DriverError};

/// Usually twenty milliseconds; the browser itself is started by the first command.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long it may take to close its browser before it is ended.
const END_LIMIT: Duration = Duration::from_secs(6);

/// The variables by which programs are found.
const FOUND_BY: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "COVE_BROWSER",
    "COVE_AGENT_BROWSER",
    "CHROME_PATH",
    "XDG_CACHE_HOME",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PUPPETEER_CACHE_DIR",
];

/// What is kept of what it says on standard error.
const MAX_WORDS: u64 = 4096;

impl LocalDriver {
    pub(super) async fn start_gull(&self, order: ContainerOrder) -> Result<Owned, DriverError> {
        let workspace = self.cargos.path(&order.cargo_id);
        let socket = self.runtime_dir.sockets().join(format!("gull-{}.sock", order.container_id));
        let mut lease = self.lease.subscribe();
        let near = self.runtime_dir.sockets().join(format!("near-{}.sock", order.container_id));
        // The way out is Bay's, where the policy may change; the process of the browser opens no connection itself.
        let is_open = !order.spec.network.opens_nothing() || order.inside.is_some();
        let way_out = is_open.then(|| Egress::open(order.network.clone(), order.inside.clone(), near)).transpose()?;
        let way_out_path = || way_out.as_ref().map(|way_out| way_out.path().to_owned());
        let spec = GullSpec {
            workspace,
            state_dir: self.cargos.browser_path(&order.cargo_id),
            disk_bytes: order.cargo_limit_bytes,
            session: order.sandbox_id.to_string(),
            socket: socket.clone(),
            network: order.spec.network.clone(),
            memory_bytes: order.spec.memory.bytes(),
            cpus: order.spec.cpus,
            control_groups: self.options.control_groups,
            egress: way_out_path(),
            inside: order.inside.is_some().then(way_out_path).flatten(),
            reserved_list: self.runtime_dir.reserved(),
            lease_until_ms: *lease.borrow_and_update(),
        };
        let mut env: Vec<(String, std::ffi::OsString)> = Vec::new();
        for name in FOUND_BY {
            env.extend(std::env::var_os(name).map(|value| ((*name).to_owned(), value)));
        }
        for (name, path) in
            [("COVE_BROWSER", &self.options.browser), ("COVE_AGENT_BROWSER", &self.options.agent_browser)]
        {
            env.extend(path.as_ref().map(|path| (name.to_owned(), path.into())));
        }
        env.push(("TMPDIR".to_owned(), self.runtime_dir.browser_folders().into()));
        env.push(("COVE_DATA_DIR".to_owned(), self.data_dir.clone().into()));
        let args = ["gull", SPEC_ARGUMENT].map(str::to_owned).into();
        let mut process = child::start(&self.program, args, env).await?;
        let words = process.stderr.take();
        let said = tokio::time::timeout(START_LIMIT, listening(&mut process, &spec)).await;
        if let Ok(Ok(())) = said {
            let label = self.label(&order, process.id())?;
            let (stop, stopped) = watch::channel(false);
            let (say_ended, ended) = watch::channel(false);
            let pid = process.id();
            let watched = Watched {
                process,
                socket: socket.clone(),
                cargos: self.cargos.clone(),
                cargo_id: order.cargo_id.clone(),
                limit_bytes: order.cargo_limit_bytes,
                lease,
                _way_out: way_out,
            };
            tokio::spawn(async move {
                // Read to its end, so that Gull never waits for somebody to listen.
                let drained = tokio::spawn(async move {
                    if let Some(mut words) = words {
                        let _ = tokio::io::copy(&mut words, &mut tokio::io::sink()).await;
                    }
                });
                watched.keep(stopped).await;
                drained.abort();
                drop(label);
                say_ended.send_replace(true);
            });
            return Ok(Owned { id: order.container_id, endpoint: socket.into(), pid, stop: Arc::new(stop), ended });
        }
        let _ = process.start_kill();
        let mut told = String::new();
        if let Some(words) = words {
            let reading = words.take(MAX_WORDS).read_to_string(&mut told).await;
            let _ = reading;
        }
        let _ = process.wait().await;
        let _ = std::fs::remove_file(&socket);
        let told = told.trim().trim_start_matches("error:").trim();
        Err(DriverError::other(match said {
            _ if !told.is_empty() => format!("the browser runtime could not be started: {told}"),
            Ok(Err(error)) => format!("the browser runtime could not be started: {error}"),
            _ => format!("the browser runtime did not start within {START_LIMIT:?}"),
        }))
    }
}

/// Gives it its order, and waits for its one line.
async fn listening(process: &mut Child, spec: &GullSpec) -> std::io::Result<()> {
    if let Some(input) = &mut process.stdin {
        // One that ends before it has read this says why.
        let _ = input.write_all(&spec.message()?).await;
    }
    let Some(output) = process.stdout.take() else { return Err(std::io::Error::other("it has no output")) };
    let mut line = String::new();
    BufReader::new(output.take(MAX_WORDS)).read_line(&mut line).await?;
    match serde_json::from_str::<serde_json::Value>(&line) {
        Ok(said) if said["listening"].is_string() => Ok(()),
        _ => Err(std::io::Error::other("it exited before it was ready")),
    }
}

/// A Gull with its owner.
struct Watched {
    process: Child,
    socket: PathBuf,
    cargos: Cargos,
    cargo_id: CargoId,
    limit_bytes: u64,
    lease: watch::Receiver<Option<u64>>,
    _way_out: Option<Egress>,
}

impl Watched {
    async fn keep(mut self, mut stopped: watch::Receiver<bool>) {
        // On its own: what waits for the process would close its input.
        let renewals = self.process.stdin.take().map(|input| tokio::spawn(renew(input, self.lease.clone())));
        let by_itself = tokio::select! {
            _ = self.process.wait() => true,
            () = wished(&mut stopped) => false,
            () = overgrown(&self.cargos, &self.cargo_id, self.limit_bytes) => {
                tracing::warn!(cargo = %self.cargo_id, "a browser filled its cargo past the limit and was ended");
                false
            }
        };
        if !by_itself {
            child::ask_to_end(&self.process);
            if tokio::time::timeout(END_LIMIT, self.process.wait()).await.is_err() {
                let _ = self.process.kill().await;
            }
        }
        if let Some(renewals) = renewals {
            renewals.abort();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Passes on each renewal of the lease.
async fn renew(mut input: tokio::process::ChildStdin, mut lease: watch::Receiver<Option<u64>>) {
    loop {
        let line = format!("{}\n", renewed(&mut lease).await);
        if input.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Where a child's streams go.
pub(super) fn streams() -> (Stdio, Stdio, Stdio) {
    (Stdio::piped(), Stdio::piped(), Stdio::piped())
}
