//! `cove serve`: Bay over HTTP, with no configuration needed.
//!
//! Standard error is for people: the address, where the key is, a line to try. Standard output says the address to a
//! program that asked for it. With `--ephemeral` a server belongs to the program that started it, and ends with it.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args as ClapArgs;
use cove_bay::Bay;
use cove_config::{Config, ProfileConfig, Secret};
use cove_core::NetworkPolicy;
use cove_server::{DEFAULT_OWNER, KeySpec, Server, ServerOptions};
use tokio::io::AsyncReadExt as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;
use crate::local::{self, KEY_FILE, Note};
use crate::terminal::{self, DIM, GREEN, PLAIN, RED, YELLOW, note};

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Address to listen on [default: the configuration's, then 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Port; 0 picks a free one [default: the configuration's, then 8114]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Data folder [default: COVE_DATA_DIR, then ~/.local/share/cove]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file, YAML or TOML [default: BAY_CONFIG_FILE, then ./config.yaml if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Database URL, `sqlite:FILE` or `postgresql://…` [default: a file in the data folder]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Start with an empty database when the old one is lost; existing workspaces are moved aside, not deleted
    #[arg(long)]
    start_empty: bool,
    /// Let sandboxes reach this host, unless their profile sets its own network: `example.com`, `*.example.com`; may be
    /// repeated [default: no network]
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Allow this loopback or private address for an allowed host; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    allow_private: Vec<String>,
    /// Print one line of JSON with the address and the key file to standard output
    #[arg(long)]
    json: bool,
    /// Run as a child of another program: a free port, a temporary folder unless --data-dir names one, only the address on
    /// standard output, and exit when standard input closes
    #[arg(long, conflicts_with_all = ["json", "port"])]
    ephemeral: bool,
}

/// What a data folder must have room for when it is new. One that is in use may be full: what expires makes room.
const NEW_BYTES: usize = 1 << 20;

/// Signals are handled here, so this command has a runtime of its own.
pub(crate) fn serve(args: &Serve) -> anyhow::Result<Exit> {
    more_descriptors();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(run(args));
    cove_server::telemetry::end();
    runtime.shutdown_timeout(Duration::from_secs(1));
    exit
}

/// As many descriptors as a server with its full number of connections needs, if the system lets us: the usual 1024 are
/// for programs that have one user.
fn more_descriptors() {
    use cove_walls::limits::{Resource, raise};
    const WANTED: u64 = 2 * cove_server::limits::MAX_CONNECTIONS as u64 + 4_096;
    // Left as it is, fewer connections are taken at once.
    raise(Resource::Nofile, WANTED);
}

async fn run(args: &Serve) -> anyhow::Result<Exit> {
    cove_server::telemetry::begin(terminal::aside_is_terminal(), terminal::aside_is_terminal(), terminal::aside);
    if let Some(variable) = cove_server::telemetry::collector().filter(|_| !cove_server::telemetry::SENDS_SPANS) {
        // The environment of a server that belongs to a program is that program's, and speaks of the program's own spans.
        if !args.ephemeral {
            note!("{RED}error:{PLAIN} {variable} names a collector for spans, and this build of cove cannot send any");
            note!("  unset {variable}, or install a package of Cove or a build with `--features otlp`: they can");
            return Ok(Exit::Usage);
        }
    }
    let temporary = (args.ephemeral && args.data_dir.is_none()).then(tempfile::tempdir).transpose()?;
    let config = match configured(args, temporary.as_ref().map(tempfile::TempDir::path)) {
        Ok(config) => config,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let data_dir = config.data_dir()?;
    let listen = address(&config)?;
    // Before Bay opens: a busy port must not disturb who listens there.
    let listener = match cove_server::bind(listen).await {
        Ok(listener) => listener,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error}");
            return Ok(Exit::Host);
        }
    };
    let (keys, key) = keys(&config, &data_dir)?;
    let mut config = config;
    let bound = listener.local_addr()?;
    config.server.port = bound.port();
    if config.server.advertise_url.is_none() && !bound.ip().is_unspecified() {
        // Who listens at one address can be reached there; who listens everywhere must say where.
        config.server.advertise_url = Some(format!("http://{bound}"));
    }
    let mut ended = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let options = ServerOptions {
        listen,
        allow_anonymous: config.security.allow_anonymous,
        cors_origins: config.server.cors_origins.clone(),
        grace: Duration::from_secs(config.server.shutdown_grace_seconds),
        max_connections_per_address: config.server.max_connections_per_address,
        max_requests_per_owner: config.limits.max_requests_per_owner,
        max_streams_per_owner: config.limits.max_streams_per_owner,
        max_upload_bytes: u64::from(config.limits.max_upload_mb) << 20,
        ..ServerOptions::new(keys)
    };
    let bay = Bay::open(config).await.map_err(|error| anyhow::anyhow!("Bay cannot start: {error}"))?;
    let server = Server::on(listener, bay, options)?;
    let url = format!("http://{}", reachable(server.address()));
    let note = Note::write(&data_dir, &url);
    announce(args, &url, &key)?;
    tokio::select! {
        _ = ended.recv() => {}
        _ = interrupted.recv() => {}
        () = input_closed(), if args.ephemeral => {}
    }
    if terminal::aside_is_terminal() {
        note!("{DIM}ending what runs …{PLAIN}");
    }
    drop(note);
    tokio::select! {
        () = server.close() => {}
        // Told twice: at once. What a sandbox runs ends with this process.
        _ = ended.recv() => return Ok(Exit::Interrupted),
        _ = interrupted.recv() => return Ok(Exit::Interrupted),
    }
    Ok(Exit::Ok)
}

fn configured(args: &Serve, temporary: Option<&Path>) -> anyhow::Result<Config> {
    let loaded = Config::load(args.config.as_deref(), std::env::vars())?;
    for warning in &loaded.warnings {
        note!("{YELLOW}warning:{PLAIN} {warning}");
    }
    let mut config = loaded.config;
    if let Some(host) = &args.host {
        config.server.host.clone_from(host);
    }
    if let Some(port) = args.port {
        config.server.port = port;
    }
    if let Some(url) = &args.database_url {
        config.database.url = Some(Secret::new(url));
    }
    config.database.start_empty = args.start_empty;
    if let Some(dir) = &args.data_dir {
        config.data_dir = Some(dir.clone());
    }
    if args.ephemeral {
        config.server.port = 0;
    }
    if let Some(dir) = temporary {
        config.data_dir = Some(dir.to_owned());
        local::use_installed(&mut config.driver.local);
    }
    if !args.allow_host.is_empty() {
        let network = NetworkPolicy {
            allow_hosts: args.allow_host.clone(),
            allow_private: args.allow_private.clone(),
            ..NetworkPolicy::default()
        };
        let is_closed = |profile: &ProfileConfig| {
            profile.network.is_none() && profile.containers.iter().all(|container| container.network.is_none())
        };
        config.open_network(&network, is_closed);
    }
    // What the command line says may weaken what the file says.
    config.check()?;
    let data_dir = config.data_dir()?;
    // Tried by writing: a folder may be there and on a disk that is full or can only be read.
    let made = std::fs::create_dir_all(&data_dir).and_then(|()| {
        let is_new = std::fs::read_dir(&data_dir)?.next().is_none();
        let mut file = tempfile::tempfile_in(&data_dir)?;
        file.write_all(&vec![0; if is_new { NEW_BYTES } else { 1 }])?;
        file.sync_all()
    });
    made.with_context(|| {
        format!("cannot write to the data folder {}: name another with --data-dir or COVE_DATA_DIR", data_dir.display())
    })?;
    // Bay works from elsewhere too: children start in other folders.
    config.data_dir = Some(data_dir.canonicalize()?);
    Ok(config)
}

fn address(config: &Config) -> anyhow::Result<SocketAddr> {
    let (host, port) = (config.server.host.as_str(), config.server.port);
    let none = || {
        format!(
            "{host} is not an address (--host 127.0.0.1 is this machine alone, --host 0.0.0.0 all of its addresses)"
        )
    };
    let mut found = (host, port).to_socket_addrs().with_context(none)?;
    found.next().with_context(none)
}

/// Where a client on this machine finds it: who listens everywhere listens on loopback too.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], address.port())),
        _ => address,
    }
}

/// Where a person finds the key.
enum KeyPlace {
    /// In this file; made just now or not.
    File(PathBuf, bool),
    /// Where the one who configured it put it.
    Configured,
}

/// All keys; one is made where none is configured.
fn keys(config: &Config, data_dir: &Path) -> anyhow::Result<(Vec<KeySpec>, KeyPlace)> {
    let security = &config.security;
    let usual = security.rate_per_minute.and_then(NonZeroU32::new);
    let mut all: Vec<KeySpec> = security
        .keys
        .iter()
        .map(|key| KeySpec {
            owner: key.owner.clone(),
            sha256: match (&key.key, &key.key_sha256) {
                (Some(key), _) => cove_server::hash(key.reveal()),
                (None, hash) => from_hex(hash.as_deref().unwrap_or_default()),
            },
            rate_per_minute: key.rate_per_minute.and_then(NonZeroU32::new).or(usual),
            admin: key.owner == DEFAULT_OWNER,
        })
        .collect();
    let (own, place) = match &security.api_key {
        Some(key) => (Some(key.reveal().to_owned()), KeyPlace::Configured),
        None if all.is_empty() => {
            let path = data_dir.join(KEY_FILE);
            let (key, new) = cove_server::read_or_make(&path)?;
            (Some(key), KeyPlace::File(path, new))
        }
        None => (None, KeyPlace::Configured),
    };
    all.extend(own.map(|key| KeySpec { rate_per_minute: usual, ..KeySpec::only(&key) }));
    Ok((all, place))
}

/// 64 hex digits; the configuration's own check has seen to that.
fn from_hex(text: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = text.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()).unwrap_or_default();
    }
    bytes
}

fn announce(args: &Serve, url: &str, key: &KeyPlace) -> std::io::Result<()> {
    if args.ephemeral {
        return writeln!(terminal::out(), "{url}");
    }
    let file = match key {
        KeyPlace::File(path, _) => Some(path.display().to_string()),
        KeyPlace::Configured => None,
    };
    if args.json {
        terminal::json_line(&serde_json::json!({ "listening": url, "key_file": file }))?;
    }
    let (place, made, bearer) = match (key, &file) {
        (KeyPlace::File(_, new), Some(file)) => {
            (file.clone(), if *new { " (made just now)" } else { "" }, format!("$(cat '{file}')"))
        }
        _ => ("as configured".to_owned(), "", "$BAY_API_KEY".to_owned()),
    };
    let mut aside = terminal::aside();
    writeln!(aside, "{GREEN}Cove {} listens on {url}{PLAIN}", env!("CARGO_PKG_VERSION"))?;
    writeln!(aside, "  key   {place}{DIM}{made}{PLAIN}")?;
    writeln!(aside, "  try   curl -X POST -H \"Authorization: Bearer {bearer}\" {url}/v1/sandboxes")?;
    writeln!(aside, "  page  {url}  {DIM}(`cove open` logs in){PLAIN}")?;
    writeln!(aside, "  read  {url}/docs")
}

async fn input_closed() {
    let mut input = tokio::io::stdin();
    let mut buffer = [0; 256];
    while input.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
}
