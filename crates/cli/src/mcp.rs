//! `cove mcp`: a server for agents, over standard streams or HTTP, that needs nothing and leaves nothing.
//!
//! It brings its own Bay in a private folder that goes with it, and its own sandbox, made when a call first needs one.
//! Standard output belongs to the protocol; whatever there is to say to people goes to standard error.

use std::fs::DirBuilder;
use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args as ClapArgs;
use cove_bay::{Bay, Owner};
use cove_config::{Config, check_key};
use cove_core::NetworkPolicy;
use cove_mcp::{Answers, DEFAULT_MAX_TOKENS, McpOptions, ToolSet};
use cove_server::{DEFAULT_OWNER, KeySpec, Server, ServerOptions};
use cove_workspace::HeldFolder;
use cove_wrap::{Servers, Wrap};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;
use crate::local::{self, KEY_FILE};
use crate::terminal::{self, GREEN, PLAIN, YELLOW, note};

/// What a folder of ours is called; the process that uses it is part of the name.
const FOLDER: &str = "cove-mcp-";

/// The data folder in it.
const DATA: &str = "data";

/// The profiles that are there without a configuration.
const USUAL_PROFILES: [&str; 3] = ["python-default", "browser-python", "javascript"];

/// What runs when the client has left may run so long.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, ClapArgs)]
pub(crate) struct Mcp {
    /// Serve over HTTP at this address, path /mcp, instead of over standard streams
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// Tool sets to offer, separated by commas: core, files, browser, history, skills, all
    /// [default: default; with --wrap none]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = tool_set)]
    tools: Option<Vec<ToolSet>>,
    /// Offer the tools of the MCP servers in this file to code (run_code): `mcpServers` of Claude and Cursor, `servers` of VS Code
    #[arg(long, value_name = "FILE")]
    wrap: Option<PathBuf>,
    /// Maximum length of an answer, in tokens
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_TOKENS)]
    max_tokens: usize,
    /// Form of answers: both (content and structured fields, with output schemas), content, or auto (as the client shows them best)
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = answers)]
    answers: Answers,
    /// Profile of the server's own sandbox [default: browser-python if a browser is found, else python-default]
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Allow sandboxes to reach this host: `example.com`, `*.example.com`; may be repeated [default: no network]
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Allow this loopback or private address for an allowed host; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    allow_private: Vec<String>,
    /// Data folder [default: a temporary folder that is deleted when the server ends]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file, YAML or TOML, as for `cove serve`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn tool_set(name: &str) -> Result<ToolSet, String> {
    ToolSet::parse(name).ok_or_else(|| format!("one of {}", ToolSet::NAMES.join(", ")))
}

fn answers(name: &str) -> Result<Answers, String> {
    Answers::parse(name).ok_or_else(|| format!("one of {}", Answers::NAMES.join(", ")))
}

/// Signals are handled here, so this command has a runtime of its own.
pub(crate) fn mcp(args: &Mcp) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(run(args));
    // A read of standard input may still be waiting: nobody needs it any more.
    runtime.shutdown_background();
    exit
}

async fn run(args: &Mcp) -> anyhow::Result<Exit> {
    if std::env::var_os("RUST_LOG").is_some() {
        cove_server::telemetry::begin(false, terminal::aside_is_terminal(), terminal::aside);
    }
    let temporary = match &args.data_dir {
        Some(_) => None,
        None => Some(folder()?),
    };
    let config = configured(args, temporary.as_ref().map(|folder| folder.path().join(DATA)).as_deref())?;
    let no_browser = no_browser(&config);
    // A sandbox with a browser cannot start where there is none.
    let usual = if no_browser.is_some() { "python-default" } else { "browser-python" };
    let mut options = McpOptions {
        tools: match (&args.tools, &args.wrap) {
            (Some(tools), _) => tools.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![ToolSet::Default],
        },
        max_tokens: args.max_tokens,
        own_profile: Some(args.profile.clone().unwrap_or_else(|| usual.to_owned())),
        no_browser,
        answers: args.answers,
        wrap: args.wrap.as_deref().map(wrapped).transpose()?,
    };
    let wrap = options.wrap.clone();
    // Before Bay opens, so that a signal during its start is not lost.
    let told = told_to_end()?;
    let data_dir = config.data_dir()?;
    let bay = Bay::open(config).await.map_err(|error| anyhow::anyhow!("Bay cannot start: {error}"))?;
    let served = match args.http {
        None => {
            let served = cove_mcp::serve_stdio(bay.clone(), Owner::new(DEFAULT_OWNER), options, told).await;
            bay.close(GRACE).await;
            served.map_err(anyhow::Error::from)
        }
        Some(listen) => {
            // Several clients share it: each names its sandbox.
            options.own_profile = None;
            serve_http(bay, listen, options, &data_dir, told).await
        }
    };
    if let Some(wrap) = wrap {
        wrap.close().await;
    }
    drop(temporary);
    served.map(|()| Exit::Ok)
}

async fn serve_http(
    bay: Bay,
    listen: SocketAddr,
    mcp: McpOptions,
    data_dir: &Path,
    told: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let (key, place) = match std::env::var("BAY_API_KEY").ok().filter(|key| !key.is_empty()) {
        Some(key) => {
            check_key(&key).map_err(|why| anyhow::anyhow!("BAY_API_KEY: {why}"))?;
            (key, "$BAY_API_KEY".to_owned())
        }
        None => {
            let path = data_dir.join(KEY_FILE);
            (cove_server::read_or_make(&path)?.0, format!("$(cat '{}')", path.display()))
        }
    };
    let options = ServerOptions { listen, mcp, grace: GRACE, ..ServerOptions::new(vec![KeySpec::only(&key)]) };
    let server = match Server::start(bay.clone(), options).await {
        Ok(server) => server,
        Err(error) => {
            bay.close(GRACE).await;
            return Err(error.into());
        }
    };
    let url = format!("http://{}/mcp", server.address());
    note!("{GREEN}Cove {} serves MCP at {url}{PLAIN}", env!("CARGO_PKG_VERSION"));
    note!("  header  Authorization: Bearer {place}");
    told.await;
    server.close().await;
    Ok(())
}

/// The servers of a file; those that are left out are said.
fn wrapped(file: &Path) -> anyhow::Result<Arc<Wrap>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let servers = Servers::parse(&text, |name| std::env::var(name).ok())
        .with_context(|| format!("cannot use {}", file.display()))?;
    for left in &servers.left_out {
        note!("{YELLOW}warning:{PLAIN} the server {:?} is not used: {}", left.name, left.why);
    }
    Ok(Wrap::start(servers)?)
}

fn told_to_end() -> anyhow::Result<impl Future<Output = ()>> {
    let mut ended = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = ended.recv() => {}
            _ = interrupted.recv() => {}
            _ = hung_up.recv() => {}
        }
    })
}

fn configured(args: &Mcp, temporary: Option<&Path>) -> anyhow::Result<Config> {
    // Without a name no file is read: the folder that a client starts this in belongs to somebody else's project.
    let mut config = match &args.config {
        Some(file) => {
            let loaded = Config::load(Some(file), std::env::vars())?;
            for warning in &loaded.warnings {
                note!("{YELLOW}warning:{PLAIN} {warning}");
            }
            loaded.config
        }
        None => Config::default(),
    };
    if let Some(dir) = args.data_dir.as_deref().or(temporary) {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot use {} as the data folder", dir.display()))?;
        config.data_dir = Some(dir.canonicalize()?);
    }
    if temporary.is_some() {
        local::use_installed(&mut config.driver.local);
    }
    if !args.allow_host.is_empty() {
        open_network(&mut config, args);
    }
    Ok(config)
}

/// Opens the network of the usual profiles, and of the one that was asked for.
fn open_network(config: &mut Config, args: &Mcp) {
    let network = NetworkPolicy {
        allow_hosts: args.allow_host.clone(),
        allow_private: args.allow_private.clone(),
        ..NetworkPolicy::default()
    };
    let named = |id: &str| USUAL_PROFILES.contains(&id) || args.profile.as_deref() == Some(id);
    config.open_network(&network, |profile| named(&profile.id));
}

/// Why no sandbox here can have a browser, if that is so.
fn no_browser(config: &Config) -> Option<String> {
    let local = &config.driver.local;
    let commands = cove_gull::find_agent_browser(local.agent_browser.as_deref()).err().map(|error| error.to_string());
    commands.or_else(|| cove_chrome::find_browser(local.browser.as_deref()).err().map(|error| error.to_string()))
}

/// A folder for this process, after clearing away those of processes that were killed. The browser runs as another user where
/// this one is root, and must be able to pass.
fn folder() -> std::io::Result<HeldFolder> {
    let parent = std::env::temp_dir();
    HeldFolder::left(&parent, FOLDER).for_each(drop);
    let prefix = format!("{FOLDER}{}-", std::process::id());
    HeldFolder::make(&parent, &prefix, 0o711, |path| DirBuilder::new().mode(0o711).create(path.join(DATA)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        mcp: Mcp,
    }

    /// `--allow-host` opens a network and leaves everything else of a profile as it is.
    #[test]
    fn an_allowed_host_changes_nothing_else_of_a_profile() {
        let line = Line::parse_from(["mcp", "--allow-host", "example.com"]);
        let config = configured(&line.mcp, None).unwrap();
        let open = NetworkPolicy {
            allow_hosts: vec!["example.com".to_owned()],
            allow_private: Vec::new(),
            ..NetworkPolicy::default()
        };
        let usual = Config::default().resolved_profiles().unwrap();
        let opened = config.resolved_profiles().unwrap();
        assert_eq!(opened.len(), 3);
        for mut profile in opened {
            for container in &mut profile.containers {
                assert_eq!(container.network, open, "{}", profile.id);
                container.network = NetworkPolicy::default();
            }
            assert_eq!(Some(&profile), usual.iter().find(|other| other.id == profile.id));
        }
    }
}
