//! `cove ship` and `cove gull`: the two servers that a sandbox is made of; and `cove line`, which joins them with Bay in a Pod.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use cove_gull::{GullOptions, Listen, serve, serve_ordered};
use cove_runtime_api::OwnerLease;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;
use crate::terminal::{self, note};

#[derive(Debug, ClapArgs)]
pub(crate) struct Ship {
    /// `--listen`, `--workspace`, `--env`, `--python`, `--ipython`, `--preload`, `--contained`, `--egress`, `--lease`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Line {
    /// As the Kubernetes driver writes them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Gull {
    /// Workspace of the sandbox
    #[arg(long, value_name = "DIR", required_unless_present = "spec")]
    workspace: Option<PathBuf>,
    /// Folder for cookies and the browser's profile [default: .browser in the workspace]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Bytes that the profile, unfinished downloads and temporary files may take together
    #[arg(long, value_name = "BYTES")]
    disk: Option<u64>,
    /// Name of the session: the id of the sandbox
    #[arg(long, value_name = "NAME", required_unless_present = "spec")]
    session: Option<String>,
    /// `ADDRESS:PORT`, or the path of a Unix socket
    #[arg(long, value_name = "WHERE", default_value = "127.0.0.1:8115")]
    listen: String,
    /// Allow pages from this host; may be repeated [default: no host]
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Allow pages from this loopback or private address, as ADDRESS or ADDRESS:PORT; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    allow_private: Vec<String>,
    /// Path of the browser [default: COVE_BROWSER, then the usual places]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    /// Bytes of memory that any one process of the browser may use in addition to what it starts with
    #[arg(long, value_name = "BYTES")]
    process_memory: Option<u64>,
    /// Bytes of memory for all processes of the browser together
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    /// Processors for all processes of the browser together, such as 0.5 or 2
    #[arg(long, value_name = "COUNT")]
    cpus: Option<f64>,
    /// File with addresses that pages never reach, one per line
    #[arg(long, value_name = "FILE")]
    reserved: Option<PathBuf>,
    /// Reach the network through the proxy that listens on this socket
    #[arg(long, value_name = "SOCKET")]
    egress: Option<PathBuf>,
    /// Reach the programs of the same sandbox, as `localhost`, through the proxy that listens on this socket
    #[arg(long, value_name = "SOCKET")]
    inside: Option<PathBuf>,
    /// End when this file has not changed for so many seconds: its owner is gone
    #[arg(long, value_name = "SECONDS:FILE")]
    lease: Option<OwnerLease>,
    /// Use control groups where available
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    control_groups: bool,
    /// Have no network but a loopback of its own, and what `--egress` leads to
    #[arg(long, hide = true)]
    own_network: bool,
    /// Everything comes on standard input, from Bay
    #[arg(long, hide = true, exclusive = true)]
    spec: bool,
}

/// Before there are threads: a namespace is one thread's.
pub(crate) fn leave_network_if_asked(args: &Gull) -> anyhow::Result<()> {
    if args.own_network {
        cove_cell::leave_network()?;
    }
    Ok(())
}

pub(crate) async fn line(args: Line) -> anyhow::Result<Exit> {
    match cove_runtime::line::command(&args.args).await {
        (0, _) => Ok(Exit::Ok),
        (2, problem) => {
            note!("{}", problem.unwrap_or_default());
            Ok(Exit::Usage)
        }
        (_, problem) => Err(anyhow::anyhow!(problem.unwrap_or_default())),
    }
}

pub(crate) async fn gull(args: Gull) -> anyhow::Result<Exit> {
    if args.spec {
        serve_ordered(|endpoint| listening(&endpoint.to_string())).await?;
        return Ok(Exit::Ok);
    }
    let mut options = GullOptions::new(args.workspace.unwrap_or_default(), args.session.unwrap_or_default());
    options.listen = match args.listen.parse() {
        Ok(address) => Listen::Tcp(address),
        Err(_) => Listen::Unix(args.listen.into()),
    };
    options.token = std::env::var("COVE_GULL_TOKEN").ok();
    options.network.allow_hosts = args.allow_host;
    options.network.allow_private = args.allow_private;
    options.browser = args.browser;
    options.process_memory_bytes = args.process_memory.unwrap_or(options.process_memory_bytes);
    options.memory_bytes = args.memory;
    options.state_dir = args.state;
    options.disk_bytes = args.disk.unwrap_or(options.disk_bytes);
    options.cpus = args.cpus;
    options.reserved_list = args.reserved;
    options.egress = args.egress;
    options.inside = args.inside;
    options.control_groups = args.control_groups;
    let silence = async {
        match args.lease {
            Some(lease) => lease.over().await,
            None => std::future::pending().await,
        }
    };
    let mut ended = signal(SignalKind::terminate())?;
    let mut server = serve(options).await?;
    listening(&server.endpoint().to_string())?;
    tokio::select! {
        _ = ended.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
        () = server.ended() => {}
        () = silence => {}
    }
    server.close().await;
    Ok(Exit::Ok)
}

/// The one line that says that it can be reached.
fn listening(endpoint: &str) -> std::io::Result<()> {
    terminal::json_line(&serde_json::json!({ "listening": endpoint }))
}

/// Never reached: `main` has entered Ship before it reads the arguments.
pub(crate) fn ship(_: Ship) -> Exit {
    Exit::Host
}
