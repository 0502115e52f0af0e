//! The server: state, routes, listeners.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::routing::get;
use axum::{Json, Router};
use cove_runtime_api::{
    BuildInfo, Call, HealthRequest, MAX_BODY_BYTES, MetaRequest, MountInfo, RefusalCode, RuntimeInfo, ShipMeta,
    TERMINAL_PATH,
};
use cove_workspace::WORKSPACE_MOUNT;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinSet;

use super::causes::Causes;
use super::disk::Disk;
use super::error::ApiError;
use super::fs::workspace::GuestFiles;
use super::health::{WorkCheck, health};
use super::javascript::{self, Javascript};
use super::ports::Ports;
use super::processes::Jobs;
use super::python::Kernels;
use super::uptime::Uptime;
use super::{Listen, ShipOptions, fs, guest_port, processes, python, shell, skill, term, way_out};
use crate::process::Family;
use cove_cell::{EffectiveLimits, GuestWalls, OomScore};

/// What every request can reach.
#[derive(Clone)]
pub(crate) struct ShipState {
    pub(crate) workspace: Arc<GuestFiles>,
    pub(crate) files: Arc<cove_files::Workspace>,
    pub(crate) family: Arc<Family>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) kernels: Kernels,
    pub(crate) javascript: Javascript,
    pub(crate) env: Arc<[(String, String)]>,
    pub(crate) output_limit_bytes: usize,
    pub(crate) process_limit: Option<u64>,
    pub(super) pulse: WorkCheck,
    pub(crate) disk: Arc<Disk>,
    pub(crate) causes: Causes,
    pub(super) ports: Ports,
    limits: Arc<Option<EffectiveLimits>>,
    /// What did not go well at the start, and did not keep Ship from it.
    warnings: Arc<[String]>,
}

/// Why Ship could not start.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The workspace's folder cannot be opened or written.
    #[error("the workspace {path} cannot be used: {reason}")]
    Workspace {
        /// As it was given.
        path: String,
        /// The system's word.
        reason: String,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// As it was given.
        address: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// The runtime refused.
    #[error("Ship could not start: {0}")]
    Start(#[from] std::io::Error),
}

/// A running Ship. Dropping it ends the server, the interpreter and all processes.
#[derive(Debug)]
pub(crate) struct ShipHandle {
    servers: JoinSet<()>,
    family: Arc<Family>,
}

impl ShipHandle {
    /// Waits until no listener is served any more.
    pub(crate) async fn wait(&mut self) {
        while self.servers.join_next().await.is_some() {}
    }

    /// Takes no more connections and ends every process that was started; returns when they are gone.
    pub(crate) async fn end(mut self) {
        self.servers.shutdown().await;
        self.family.end_all().await;
    }
}

/// All routes of a Ship on this workspace. Needs a Tokio runtime, whose tasks own the interpreter and the processes.
pub fn router(mut options: ShipOptions) -> Result<Router, ShipError> {
    build(&mut options).map(|built| built.all)
}

/// What there is to serve.
struct Built {
    /// Every route.
    all: Router,
    /// What guests may ask.
    for_guests: Router,
    family: Arc<Family>,
}

fn build(options: &mut ShipOptions) -> Result<Built, ShipError> {
    let refuse = |reason: String| ShipError::Workspace { path: options.workspace.display().to_string(), reason };
    let workspace = GuestFiles::open(&options.workspace).map_err(|errno| refuse(errno.to_string()))?;
    let mut warnings = Vec::new();
    if let Err(error) = skill::write(&workspace) {
        warnings.push(format!("the built-in skill could not be written: {error}"));
    }
    let workspace = Arc::new(workspace);
    let files = workspace.tools()?;
    let score = options.score.take().or_else(|| OomScore::open(std::fs::File::open("/proc").ok()?).ok());
    let score = score.map(|score| score.minding(options.memory.clone()));
    let memory_counted = options.limits.as_ref().is_some_and(EffectiveLimits::memory_is_enforced);
    let walls = GuestWalls { memory_counted, processors: std::mem::take(&mut options.processors) };
    let (memory, uptime) = (options.memory.clone(), options.uptime.take().map(Uptime::new));
    let clock = uptime.clone();
    let ports = Ports::new(options.own_ports(), options.memory.clone());
    let waiting = ports.clone();
    let before = Arc::new(move || {
        memory.as_ref().inspect(|memory| memory.wake_watch());
        clock.as_ref().inspect(|clock| clock.go_on());
        waiting.go_on();
    });
    let family = Family::found(options.rank, score, before, walls)?;
    if let Some(uptime) = uptime {
        uptime.keep(options.memory.clone());
    }
    let env = options.full_env();
    let disk = Arc::new(Disk::new(options.disk_news.as_ref().map(UnixStream::try_clone).transpose()?)?);
    let causes = Causes::new(options.memory.clone(), Arc::clone(&disk));
    let kernels = Kernels::new(python::Recipe {
        python: options.python.clone(),
        env: env.clone(),
        ipython: options.ipython,
        preload: options.preload.clone(),
        family: Arc::clone(&family),
        workspace: Arc::clone(&workspace),
        output_limit_bytes: options.output_limit_bytes,
        processes: options.process_limit,
        causes: causes.clone(),
    });
    let javascript = Javascript::new(javascript::Recipe {
        program: options.program.clone(),
        prefix: options.program_args.clone(),
        // Its process stands in the workspace itself.
        folder: std::path::absolute(&options.workspace)?,
        family: Arc::clone(&family),
        workspace: Arc::clone(&workspace),
        processes: options.process_limit,
    });
    let state = ShipState {
        workspace,
        files: Arc::new(files),
        family: Arc::clone(&family),
        jobs: Arc::default(),
        kernels,
        javascript,
        env: env.into(),
        output_limit_bytes: options.output_limit_bytes,
        process_limit: options.process_limit,
        pulse: WorkCheck::default(),
        disk,
        causes,
        ports,
        limits: Arc::new(options.limits.clone()),
        warnings: warnings.into(),
    };
    let for_guests = Router::new().route(HealthRequest::PATH, get(health)).route(MetaRequest::PATH, get(meta));
    let all = for_guests
        .clone()
        .route("/", get(meta))
        .route(TERMINAL_PATH, get(term::open))
        .merge(fs::routes())
        .merge(shell::routes())
        .merge(processes::routes())
        .merge(python::routes())
        .merge(javascript::routes())
        .merge(Ports::routes());
    let for_guests = for_guests.fallback(unknown).with_state(state.clone());
    let all = all.fallback(unknown).layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(state);
    family.get_ready();
    Ok(Built { all, for_guests, family })
}

/// Starts to serve.
pub(crate) async fn serve(mut options: ShipOptions) -> Result<ShipHandle, ShipError> {
    let Built { all, for_guests, family } = build(&mut options)?;
    let listen = std::mem::take(&mut options.listen);
    if let Some(socket) = options.way_out.take() {
        way_out::open(socket).await?;
    }
    let mut servers = JoinSet::new();
    for listen in listen {
        let router = all.clone();
        match listen {
            Listen::Tcp(address) => {
                let failed = |error| ShipError::Listen { address: address.to_string(), error };
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                servers.spawn(async move { drop(axum::serve(listener, router).await) });
            }
            Listen::GuestPort(address) => {
                let failed = |error| ShipError::Listen { address: address.to_string(), error };
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                servers.spawn(guest_port::serve(listener, for_guests.clone()));
            }
            Listen::Unix(path) => {
                let failed = |error| ShipError::Listen { address: path.display().to_string(), error };
                let listener = UnixListener::bind(&path).map_err(failed)?;
                servers.spawn(async move { drop(axum::serve(listener, router).await) });
            }
            Listen::Opened(listener) => {
                listener.set_nonblocking(true)?;
                let listener = UnixListener::from_std(listener)?;
                servers.spawn(async move { drop(axum::serve(listener, router).await) });
            }
        }
    }
    Ok(ShipHandle { servers, family })
}

async fn unknown(uri: axum::http::Uri) -> ApiError {
    ApiError::not_found(RefusalCode::NotFound, format!("There is no endpoint at {}", uri.path()))
}

async fn meta(State(state): State<ShipState>) -> Json<ShipMeta<Option<EffectiveLimits>>> {
    let weak = state.limits.as_ref().as_ref().map(EffectiveLimits::warnings).unwrap_or_default();
    Json(ShipMeta {
        runtime: RuntimeInfo {
            name: "ship".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api_version: "v1".to_owned(),
            build: BuildInfo::default(),
        },
        workspace: MountInfo { mount_path: WORKSPACE_MOUNT.to_owned() },
        limits: state.limits.as_ref().clone(),
        warnings: state.warnings.iter().cloned().chain(weak).collect(),
        capabilities: capabilities(&state),
    })
}

/// What it can do, and where.
fn capabilities(state: &ShipState) -> Map<String, Value> {
    let engine = if state.kernels.usual().status().ipython { "ipython" } else { "python" };
    let listed = json!({
        "filesystem": {
            "operations": ["create", "read", "write", "edit", "delete", "list", "upload", "download"],
            "path_mode": "relative_to_mount",
            "endpoints": {
                "create": "/fs/create_file", "read": "/fs/read_file", "write": "/fs/write_file",
                "edit": "/fs/edit_file", "delete": "/fs/delete_file", "list": "/fs/list_dir",
                "upload": "/fs/upload", "download": "/fs/download",
            },
        },
        "shell": {
            "operations": ["exec", "processes"],
            "endpoints": {
                "exec": "/shell/exec", "processes": "/shell/processes", "start": "/processes/start",
                "follow": "/processes/follow", "write": "/processes/write", "signal": "/processes/signal",
                "resize": "/processes/resize",
            },
        },
        "python": {
            "operations": ["exec", "status", "restart"],
            "engine": engine,
            "endpoints": {
                "exec": "/ipython/exec", "status": "/ipython/kernel/status", "restart": "/ipython/kernel/restart",
            },
        },
        "javascript": {
            "operations": ["exec", "reset"],
            "engines": ["embedded"],
            // Known once the engine was started, by its first run: inside the sandbox's walls not all of its own stand.
            "walls": state.javascript.walls(),
            "endpoints": {"exec": "/javascript/exec", "reset": "/javascript/reset"},
        },
        "terminal": {
            "operations": ["ws"],
            "protocol": "websocket",
            "endpoints": {"ws": "/term/ws"},
        },
        "ports": {
            "operations": ["list", "connect"],
            "endpoints": {"list": "/ports", "connect": "/ports/connect"},
        },
    });
    match listed {
        Value::Object(listed) => listed,
        _ => Map::new(),
    }
}
